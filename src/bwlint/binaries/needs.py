"""What an inspected library asks of the machine: CUDA libraries, and a Linux driver."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bwlint.binaries.shipments import (
    FAMILY,
    JIT,
    LINK,
    NATIVE,
    NONE,
    DeviceLibrary,
    Inspection,
    LoadUnit,
    LoadVerdict,
    Shipment,
)
from bwlint.chips import ChipSet, chip
from bwlint.chips.drivers import driver_for_chip, driver_for_cubin, driver_for_jit, minimum
from bwlint.model.images import PTX, Version

_CUDA = re.compile(
    r"(?:lib)?(?:cudart|cublas(?:Lt)?|cudnn(?:_\w+)?|nvrtc(?:-builtins)?|cufftw?|curand|cusparse(?:Lt)?|cusolver(?:Mg)?"
    r"|nccl|nvJitLink|cupti)(?:64_[\d_]+)?\.(?:so(?:\.\d+)*|dll)"
)


def judged(inspection: Inspection, shipment: Shipment) -> tuple[str, ...]:
    """Those of the asked chips that can be in a machine that the shipment is for."""
    return shipment.judged(ChipSet.of(*inspection.asked)).names


def dotted(version: Version) -> str:
    """ "13.0"."""
    return ".".join(map(str, version))


def cuda_libraries(needed: Iterable[str]) -> list[str]:
    """The CUDA libraries among the names that a file asks the loader for, sorted."""
    return sorted({name for name in needed if _CUDA.fullmatch(name)})


def driver(library: DeviceLibrary, asked: Iterable[str]) -> str | None:
    """The first Linux driver that is enough for the library on those of the chips that run it, or None: not known."""
    if library.binary.form == "pe":
        return None
    wanted = set[str | None]()
    own = _for_toolkit(library)
    for name in asked:
        if own and any(verdict.way in (NATIVE, FAMILY) for verdict in verdicts(library, name)):
            wanted |= {own, driver_for_chip(chip(name))}
        wanted.update(map(driver_for_jit, jit_isas(library, name)))
    return minimum(*wanted) or own


def verdicts(library: DeviceLibrary, chip: str) -> Iterator[LoadVerdict]:
    """How the chip runs each container of the library, as far as that was judged."""
    return (unit.verdicts[chip] for unit in library.units if chip in unit.verdicts)


def faults(library: DeviceLibrary) -> tuple[str, ...]:
    """What of the file and of its containers could not be read."""
    # A folder of files has its containers in its units alone.
    containers = library.binary.containers or tuple(unit.container for unit in library.units)
    return (*library.binary.faults, *(container.fault for container in containers if container.fault))


def jit_isas(library: DeviceLibrary, chip: str) -> set[Version]:
    """The versions of the PTX that a driver compiles to run the library on the chip."""
    found = set[Version | None]()
    for unit in library.units:
        way = unit.verdicts[chip].way if chip in unit.verdicts else NONE
        if way == JIT:
            image = unit.image(chip)
            found.add(image.isa if image else None)
        elif way == LINK:
            found.update(_linked_isas(library, unit))
    return {isa for isa in found if isa}


def _linked_isas(library: DeviceLibrary, unit: LoadUnit) -> Iterator[Version | None]:
    parts = frozenset(unit.container.linked_from)
    for container in library.binary.containers:
        if container.at in parts:
            yield from (image.isa for image in container.images if image.kind == PTX)


def _for_toolkit(library: DeviceLibrary) -> str | None:
    return None if library.toolkit is None else driver_for_cubin(library.toolkit)
