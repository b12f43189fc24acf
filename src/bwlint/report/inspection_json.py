"""The JSON of an inspection: that of a check and its shipments, described by `inspection.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bwlint.images import Cubin, Image, Kernel, Version
from bwlint.report import Setting
from bwlint.report.encode import dumps
from bwlint.report.inspection_needs import dotted, driver, faults, judged
from bwlint.report.json_report import document
from bwlint.shipments import ALL, NONE, PARTIAL, Inspection, Library, Operation, Shipment, Tally, Unit, Verdict

# The libraries of a shipment before they are put in. No text within a JSON string can look like it.
_NO_LIBRARIES = '"libraries": []'
_DEPTH = 8
"""The indentation of a library."""


def render(inspection: Inspection, setting: Setting, kernels: bool = False) -> str:
    """`inspection` as JSON; the containers of each library with `kernels`."""
    shipments = [
        {**_shipment(shipment), "answer": answer, "judged": list(judged(inspection, shipment))}
        for shipment, answer in zip(inspection.shipments, inspection.answers, strict=True)
    ]
    rest = {"targets": list(inspection.asked), "shipments": shipments}
    frame = dumps({**document(inspection.report, setting), **rest}).split(_NO_LIBRARIES)
    parts = [frame[0]]
    for shipment, after in zip(inspection.shipments, frame[1:], strict=True):
        parts += [*_libraries(shipment, judged(inspection, shipment), kernels), after]
    return "".join(parts)


def _libraries(shipment: Shipment, asked: tuple[str, ...], kernels: bool) -> Iterator[str]:
    """The list as text, library by library: thousands of them as values would take ten times the memory."""
    if not shipment.libraries:
        yield _NO_LIBRARIES
        return
    opening = _NO_LIBRARIES[:-1]
    for library in _sorted(shipment):
        yield opening
        yield f"\n{dumps(_library(library, asked, kernels)).rstrip()}".replace("\n", "\n" + " " * _DEPTH)
        opening = ","
    yield "\n" + " " * (_DEPTH - 2) + "]"


def _sorted(shipment: Shipment) -> list[Library]:
    return sorted(shipment.libraries, key=lambda library: library.path)


def _shipment(shipment: Shipment) -> dict[str, Any]:
    """A shipment with no libraries yet."""
    operations = sorted(shipment.operations, key=lambda operation: operation.name)
    return {
        "name": shipment.name,
        "tag": shipment.tag,
        "machine": shipment.machine,
        "missing": shipment.missing,
        "others": shipment.others,
        "chips": _words(shipment.libraries),
        "libraries": [],
        "operations": [_operation(operation) for operation in operations],
    }


def _words(libraries: Iterable[Library]) -> dict[str, str]:
    """One word a chip for all of the libraries that have containers."""
    words: dict[str, set[str]] = {}
    for library in libraries:
        for chip, tally in library.tallies.items():
            if tally.total:
                words.setdefault(chip, set()).add(tally.word)
    return {chip: found.pop() if found in ({ALL}, {NONE}) else PARTIAL for chip, found in words.items()}


def _library(library: Library, asked: tuple[str, ...], kernels: bool) -> dict[str, Any]:
    binary = library.binary
    found: dict[str, Any] = {
        "path": library.path,
        "form": binary.form,
        "machine": binary.machine,
        "needed": list(binary.needed),
        "toolkit": _version(library.toolkit),
        "driver": driver(library, asked),
        "faults": list(faults(library)),
        "containers": len(library.units),
        "chips": {chip: _tally(tally) for chip, tally in library.tallies.items()},
    }
    if kernels:
        found["units"] = [_unit(unit) for unit in library.units]
    return found


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "verdict": tally.word,
        "native": tally.native,
        "family": tally.family,
        "jit": tally.jit,
        "jit_link": tally.link,
        "none": tally.none,
        "specialised": tally.specialised,
    }


def _operation(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "library": operation.library,
        "unserved": list(operation.unserved),
        "reason": operation.reason,
        "specific": operation.is_specific,
    }


def _unit(unit: Unit) -> dict[str, Any]:
    container = unit.container
    return {
        "path": unit.path,
        "at": container.at,
        "part": container.part,
        "linked_from": list(container.linked_from),
        "fault": container.fault,
        "generation": unit.generation,
        "chips": {chip: _verdict(verdict, unit.image(chip)) for chip, verdict in unit.verdicts.items()},
        "images": [_image(image, unit.cubins.get(place)) for place, image in enumerate(container.images)],
        "kernels": list(unit.kernels),
    }


def _verdict(verdict: Verdict, image: Image | None) -> dict[str, Any]:
    return {
        "way": verdict.way,
        "image": None if image is None else image.at,
        "reason": verdict.reason,
    }


def _image(image: Image, cubin: Cubin | None) -> dict[str, Any]:
    return {
        "kind": image.kind,
        "target": image.target,
        "at": image.at,
        "size": image.size,
        "full_size": image.full_size,
        "packed": image.packed,
        "isa": _version(image.isa),
        "cubin": None if cubin is None else _cubin(cubin),
    }


def _cubin(cubin: Cubin) -> dict[str, Any]:
    return {
        "target": f"sm_{cubin.number}{cubin.suffix}",
        "noted": None if cubin.noted is None else f"sm_{cubin.noted}{cubin.noted_suffix}",
        "relabelled": cubin.relabelled,
        "abi": cubin.abi,
        "toolkit": _version(cubin.toolkit),
        "command": cubin.command,
        "relocatable": cubin.relocatable,
        "kernels": [_kernel(kernel) for kernel in cubin.kernels],
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "shared": kernel.shared,
        "registers": kernel.registers,
        "cluster": _shape(kernel.cluster),
        "max_cluster": kernel.max_cluster,
        "explicit_cluster": kernel.explicit_cluster,
        "tcgen05": kernel.tcgen05,
        "driver_calls": list(kernel.driver_calls),
        "setmaxnreg": kernel.setmaxnreg,
        "threads": _shape(kernel.threads),
        "required_threads": _shape(kernel.required_threads),
    }


def _shape(shape: tuple[int, int, int] | None) -> list[int] | None:
    return None if shape is None else list(shape)


def _version(version: Version | None) -> str | None:
    return None if version is None else dotted(version)
