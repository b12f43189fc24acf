"""The JSON of an inspection: that of a check and its shipments, described by `inspection.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bwlint.binaries.needs import dotted, driver, faults, judged
from bwlint.binaries.shipments import ALL, NONE, PARTIAL, DeviceLibrary, Inspection, LoadUnit, Shipment, Tally
from bwlint.chips import EVERY
from bwlint.model.images import Cubin, Image, Kernel, Version
from bwlint.report import Setting
from bwlint.report.write import document, dumps, in_a_line, picked, plain

# Long lists before they are put in. No text within a JSON string can look like them.
_NO_LIBRARIES, _NO_UNITS = '"libraries": []', '"units": []'
_DEPTH, _DEPTH_OF_UNIT = 8, 12
"""The indentations of a library and of a unit in it."""


def render(inspection: Inspection, setting: Setting, kernels: bool = False) -> str:
    """`inspection` as JSON; the containers of each library with `kernels`."""
    return "".join(pieces(inspection, setting, kernels))


def pieces(inspection: Inspection, setting: Setting, kernels: bool = False) -> Iterator[str]:
    """The same in pieces: thousands of libraries or containers, as values or in one text, fill the memory."""
    shipments = [
        {**_shipment(shipment), "answer": answer, "judged": list(judged(inspection, shipment))}
        for shipment, answer in zip(inspection.shipments, inspection.answers, strict=True)
    ]
    sentences = [verdict.sentence for verdict in inspection.verdicts]
    verdicts = [picked(verdict, "package", "chip", "runs") for verdict in inspection.verdicts]
    told = {"sentences": sentences, "verdicts": verdicts}
    rest = {**told, "targets": list(inspection.asked), "shipments": shipments}
    frame = dumps({**document(inspection.report, setting), **rest}).split(_NO_LIBRARIES)
    yield frame[0]
    for shipment, after in zip(inspection.shipments, frame[1:], strict=True):
        by_path = sorted(shipment.libraries, key=lambda library: library.path)
        libraries = (_in_pieces(library, judged(inspection, shipment), kernels) for library in by_path)
        yield from _listed(_NO_LIBRARIES, libraries, _DEPTH)
        yield after


def _in_pieces(library: DeviceLibrary, asked: tuple[str, ...], kernels: bool) -> Iterator[str]:
    text = dumps(_library(library, asked, kernels)).rstrip().replace("\n", "\n" + " " * _DEPTH)
    before, *after = text.split(_NO_UNITS)
    yield before
    if after:
        yield from _listed(_NO_UNITS, ([in_a_line(_unit(unit))] for unit in library.units), _DEPTH_OF_UNIT)
        yield from after


def _listed(empty: str, values: Iterable[Iterable[str]], depth: int) -> Iterator[str]:
    """A list as it looks where it is `empty`, with values in it that are given in pieces."""
    opening = empty[:-1]
    for value in values:
        yield f"{opening}\n{' ' * depth}"
        yield from value
        opening = ","
    yield f"\n{' ' * (depth - 2)}]" if opening == "," else empty


def _shipment(shipment: Shipment) -> dict[str, Any]:
    """A shipment with no libraries yet."""
    names = ("name", "tag", "machine", "missing", "others", "compiles", "built", "elsewhere", "own")
    return {
        **picked(shipment, *names),
        "compilers": [
            {"path": one.path, "cuda": dotted(one.release), "chips": list(one.knows.names)}
            for one in shipment.assemblers
        ],
        "possible": list(shipment.judged(EVERY).names),
        "chips": _words(shipment.libraries),
        "libraries": [],
        "operations": [
            {**picked(one, "name", "library", "unserved", "reason"), "specific": one.is_specific}
            for one in sorted(shipment.operations, key=lambda operation: operation.name)
        ],
    }


def _words(libraries: Iterable[DeviceLibrary]) -> dict[str, str]:
    """One word a chip for all of the libraries that have containers."""
    words: dict[str, set[str]] = {}
    for library in libraries:
        for chip, tally in library.tallies.items():
            if tally.total:
                words.setdefault(chip, set()).add(tally.word)
    return {chip: found.pop() if found in ({ALL}, {NONE}) else PARTIAL for chip, found in words.items()}


def _library(library: DeviceLibrary, asked: tuple[str, ...], kernels: bool) -> dict[str, Any]:
    """A library with no units yet."""
    binary = library.binary
    found: dict[str, Any] = {
        "path": library.path,
        **picked(binary, "form", "machine", "needed"),
        "toolkit": _version(library.toolkit),
        "driver": driver(library, asked),
        "windows_driver": driver(library, asked, "windows"),
        "faults": list(faults(library)),
        "containers": len(library.units),
        "chips": {chip: _tally(tally) for chip, tally in library.tallies.items()},
    }
    if kernels:
        found["units"] = []
    return found


def _tally(tally: Tally) -> dict[str, Any]:
    counts = picked(tally, "native", "family", "jit", "none", "specialised")
    return {**counts, "jit_link": tally.link, "verdict": tally.word}


def _unit(unit: LoadUnit) -> dict[str, Any]:
    container = unit.container
    images = {chip: unit.image(chip) for chip in unit.verdicts}
    return {
        **picked(unit, "path", "generation", "kernels"),
        **picked(container, "at", "part", "linked_from", "fault"),
        "chips": {
            chip: {**picked(verdict, "way", "reason"), "image": image.at if (image := images[chip]) else None}
            for chip, verdict in unit.verdicts.items()
        },
        "images": [_image(image, unit.cubins.get(place)) for place, image in enumerate(container.images)],
    }


def _image(image: Image, cubin: Cubin | None) -> dict[str, Any]:
    return {
        **picked(image, "kind", "target", "at", "size", "full_size", "packed"),
        "isa": _version(image.isa),
        "cubin": None if cubin is None else _cubin(cubin),
    }


def _cubin(cubin: Cubin) -> dict[str, Any]:
    return {
        "target": f"sm_{cubin.number}{cubin.suffix}",
        "noted": None if cubin.noted is None else f"sm_{cubin.noted}{cubin.noted_suffix}",
        **picked(cubin, "relabelled", "abi", "command", "relocatable"),
        "toolkit": _version(cubin.toolkit),
        "kernels": [_kernel(kernel) for kernel in cubin.kernels],
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    source = {"path": kernel.source[0], "line": kernel.source[1]} if kernel.source else None
    return {**plain(kernel), "source": source}


def _version(version: Version | None) -> str | None:
    return None if version is None else dotted(version)
