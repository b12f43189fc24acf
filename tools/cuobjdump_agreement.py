"""Lists of images, side by side: what cuobjdump prints of files, and what bwlint reads.

    python tools/cuobjdump_agreement.py CUOBJDUMP FILE...

`cuobjdump -all -lelf -lptx` drops the suffix f of cubins; it is dropped here too before the two are compared. Without
these options cuobjdump prints the head of every image, which has the f: these are compared as they are.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bwlint.model.images import CUBIN, LTO, PTX, Image
from bwlint.readers.binary import read
from bwlint.readers.binary.fatbin import PARTS
from bwlint.sources.stretch import ByteSource

_LINE = re.compile(r"(ELF|PTX) file +\d+: .*\.(sm_\d+[af]?)\.(?:cubin|ptx)$")
_HEAD = re.compile(r"Fatbin (\w+) code:\n=+\narch = (\w+)\ncode version = \[(\d+),(\d+)\]\n((?:[^\n]+\n)*)")
_, _RELOCATABLE = PARTS
_KINDS = {CUBIN: "elf", PTX: "ptx", LTO: "nvvm"}

Images = tuple[str, ...]
"""Kinds and targets in the order of the file, cubins before PTX: "ELF sm_90a"."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One file; `failure` is what cuobjdump says where it does not read the file to its end."""

    path: Path
    theirs: Images
    ours: Images
    failure: str
    seconds: tuple[float, float]

    @property
    def agrees(self) -> bool:
        return self.theirs == self.ours and not self.failure


def compare(cuobjdump: Path, path: Path) -> Comparison:
    """Both lists of a file, with the seconds that each took."""
    start = time.perf_counter()
    ran = _run(cuobjdump, "-all", "-lelf", "-lptx", str(path))
    middle = time.perf_counter()
    ours = images(path)
    failure = next((line for line in ran.stderr.splitlines() if "fatal" in line), "")
    return Comparison(path, _listed(ran.stdout), ours, failure, (middle - start, time.perf_counter() - middle))


def images(path: Path) -> Images:
    """What bwlint reads in a file."""
    return _sorted(
        ("ELF" if image.kind == CUBIN else "PTX", image.target) for image in _read(path) if image.kind != LTO
    )


def heads(path: Path) -> Images:
    """What bwlint reads in the head of each image: "ptx sm_120f 9.0 packed"."""
    return tuple(
        _head(_KINDS[image.kind], image.target, image.isa if image.kind == PTX else None, bool(image.packed))
        for image in _read(path)
    )


def their_heads(cuobjdump: Path, path: Path) -> Images:
    """The same of cuobjdump."""
    found = _HEAD.findall(_run(cuobjdump, "-all", str(path)).stdout)
    return tuple(
        _head(kind, target, (int(major), int(minor)) if kind == "ptx" else None, "compressed" in rest.splitlines())
        for kind, target, major, minor, rest in found
    )


def _run(cuobjdump: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(cuobjdump), *arguments], capture_output=True, text=True, check=False)


def _read(path: Path) -> list[Image]:
    handle = os.open(path, os.O_RDONLY)
    try:
        found = read(ByteSource.of_file(handle))
    finally:
        os.close(handle)
    # cuobjdump lists relocatable containers last, wherever their section stands.
    ordered = sorted(found.containers, key=lambda container: container.part == _RELOCATABLE)
    return [image for container in ordered for image in container.images]


def _head(kind: str, target: str, isa: tuple[int, int] | None, is_packed: bool) -> str:
    version = "" if isa is None else f" {isa[0]}.{isa[1]}"
    return f"{kind} {target}{version}{' packed' * is_packed}"


def _listed(output: str) -> Images:
    return _sorted((match[1], match[2]) for match in map(_LINE.match, output.splitlines()) if match)


def _sorted(rows: Iterable[tuple[str, str]]) -> Images:
    """cuobjdump numbers the kinds apart; within a kind the order is that of the file."""
    folded = [(kind, target.removesuffix("f") if kind == "ELF" else target) for kind, target in rows]
    return tuple(f"{kind} {target}" for wanted in ("ELF", "PTX") for kind, target in folded if kind == wanted)


def main(arguments: Sequence[str]) -> int:
    """Print a row a file; 1 where one differs."""
    cuobjdump, *paths = map(Path, arguments)
    differing = 0
    for path in paths:
        found = compare(cuobjdump, path)
        same_heads = found.ours and heads(path) == their_heads(cuobjdump, path)
        differing += not found.agrees or (bool(found.ours) and not same_heads)
        verdict = "agree" if found.agrees else found.failure or "DIFFER"
        exact = "" if not found.ours else "heads agree" if same_heads else "HEADS DIFFER"
        theirs, ours = found.seconds
        megabytes = path.stat().st_size / 1e6
        counts = f"{len(found.theirs)} | {len(found.ours)}"
        print(f"{path} | {megabytes:.1f} MB | {counts} | {verdict} | {exact} | {theirs:.3f} s | {ours * 1000:.1f} ms")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
