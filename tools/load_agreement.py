"""What bwlint says that a GPU loads, and what its driver loads: containers of released libraries.

    python tools/load_agreement.py gather FOLDER FILE...     pick containers of wheels or libraries; needs no GPU
    python tools/load_agreement.py load FOLDER RECEIPT       load each of them, compare, and write what was seen

`gather` takes one container with kernels of each kind (targets of its images) of each file, the smallest. `load` asks
the driver for the whole container, which chooses among its images, and then for each kernel in it. Nothing is launched.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bwlint.binaries.library import read_library
from bwlint.binaries.shipments import NONE
from bwlint.chips import ChipSet
from bwlint.chips.drivers import toolkit_of_isa
from bwlint.chips.toolkits import version
from bwlint.confirm import gpu
from bwlint.confirm.gpu import failure
from bwlint.confirm.machine import described
from bwlint.model.images import CUBIN, PTX, Container, Image
from bwlint.readers.binary import cubin, read
from bwlint.readers.binary.fatbin import content
from bwlint.report.write import dumps, plain
from bwlint.sources.archives import ArchiveEntry, entries
from bwlint.sources.kinds import BINARY, kind_of
from bwlint.sources.stretch import ByteSource

MANIFEST = "manifest.json"
LARGEST = 1 << 20
"""Bytes of a container that is picked: a driver may take minutes to compile a large one."""
_HEADER = 16
_MAGIC = bytes.fromhex("50ed55ba")
_SECONDS = 120.0


def main(arguments: Sequence[str]) -> int:
    if len(arguments) >= 3 and arguments[0] == "gather":
        return gather(Path(arguments[1]), [Path(name) for name in arguments[2:]])
    if len(arguments) == 3 and arguments[0] == "load":
        return load(Path(arguments[1]), Path(arguments[2]))
    print(__doc__)
    return 2


def gather(folder: Path, files: Sequence[Path]) -> int:
    """Write picked containers and where they come from."""
    folder.mkdir(parents=True, exist_ok=True)
    picked: list[dict[str, Any]] = []
    for file in files:
        for name, at, kind, data in _picked(file):
            path = folder / f"{len(picked):03}-{file.name.split('-')[0]}.fatbin"
            path.write_bytes(data)
            picked.append({"file": path.name, "wheel": file.name, "library": name, "offset": at, "images": kind})
    (folder / MANIFEST).write_text(json.dumps(picked, indent=2))
    print(f"{len(picked)} containers of {len(files)} files")
    return 0


def _picked(file: Path) -> Iterator[tuple[str, int, str, bytes]]:
    """The smallest container of each kind: its library, offset, kind and bytes."""
    smallest: dict[str, tuple[str, int, str, bytes]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for entry in entries(file, file.name, Path(scratch), lambda name: kind_of(name) == BINARY):
            if not isinstance(entry, ArchiveEntry):
                continue
            for at, kind, data in _containers(entry.source):
                if kind not in smallest or len(data) < len(smallest[kind][3]):
                    smallest[kind] = (entry.path, at, kind, data)
    yield from smallest.values()


def _containers(source: ByteSource) -> Iterator[tuple[int, str, bytes]]:
    for container in read(source).containers:
        if container.linked_from:
            continue
        kind = ", ".join(sorted({_named(image) for image in container.images}))
        head = source.read(container.at, _HEADER)
        if head[:4] != _MAGIC and container.at:
            continue
        # A bare cubin is the whole file.
        size = _HEADER + int.from_bytes(head[8:], "little") if head[:4] == _MAGIC else source.size
        if size <= LARGEST and _has_kernels(source, container):
            yield container.at, kind, source.read(container.at, size)


def _has_kernels(source: ByteSource, container: Container) -> bool:
    image = next((image for image in container.images if image.kind == CUBIN), None)
    return image is None or bool(cubin.read(content(source, image)).kernels)


def _named(image: Image) -> str:
    return f"{image.kind} {image.target}"


def load(folder: Path, receipt: Path) -> int:
    """Load what was picked on the first GPU; 0 where every container does what was foretold."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        devices, no_device = gpu.devices(folder=scratch)
        if not devices:
            print(f"no GPU: {no_device}")
            return 3
        results = [
            _compared(folder, each, devices[0].capability, devices[0].driver, scratch)
            for each in json.loads((folder / MANIFEST).read_text())
        ]
    machine = described([], devices, no_device, (), gpu.kernel_module())
    agree = sum(result["agree"] for result in results)
    receipt.write_text(
        dumps({"version": 1, "machine": plain(machine), "agree": agree, "of": len(results), "containers": results})
    )
    print(f"{agree} of {len(results)} as foretold")
    return 0 if agree == len(results) else 1


def _compared(folder: Path, picked: Mapping[str, Any], chip: str, driver: str, scratch: Path) -> dict[str, Any]:
    path = (folder / str(picked["file"])).resolve()
    foretold, why = _foretold(path, chip, driver)
    asked = gpu.ask(
        {"do": "image", "device": 0, "image": str(path), "steps": [{"do": "load"}, {"do": "functions"}]},
        folder=scratch,
        limit=_SECONDS,
    )
    seen = asked.trouble or next((text for step in asked.steps if (text := failure(step))), "")
    refused = next((step["error"] for step in asked.steps if step.get("error")), 0)
    kernels = next((step["count"] for step in asked.steps if "count" in step), 0)
    result = {"foretold": foretold, "because": why, "error": refused, "seen": seen or "it loads", "kernels": kernels}
    # What did not come to an answer of the driver agrees with nothing.
    agree = foretold == NONE and bool(refused) if seen else foretold != NONE
    print(f"{picked['images']:60} {foretold:7} {seen or f'loads, {kernels} kernels'}")
    return {**picked, **result, "agree": agree}


def _foretold(path: Path, chip: str, driver: str) -> tuple[str, str]:
    """How bwlint says that a chip runs a container, and why."""
    (unit,) = read_library(path.name, ByteSource.of_bytes(path.read_bytes()), ChipSet.of(chip), deep=False).units
    found = unit.verdicts[chip]
    image = unit.image(chip)
    newest = toolkit_of_isa(image.isa) if image is not None and image.kind == PTX and image.isa else None
    if newest is not None and version(newest) > version(driver):
        return NONE, f"its PTX takes a driver for CUDA {newest}"
    return found.way, found.reason


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
