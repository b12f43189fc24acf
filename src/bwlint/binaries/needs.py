"""The CUDA libraries and the driver that an inspected library needs on the machine."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bwlint.binaries.shipments import JIT, LINK, NONE, DeviceLibrary, Inspection, LoadUnit, LoadVerdict, Shipment
from bwlint.chips import ChipSet, chip
from bwlint.chips.drivers import System, driver_for_chip, driver_for_cubin, driver_for_jit, minimum, toolkit_of_isa
from bwlint.model.images import PTX, Image, Version

_CUDA = re.compile(
    r"(?:lib)?(?:cudart|cublas(?:Lt)?|cudnn(?:_\w+)?|nvrtc(?:-builtins)?|cufftw?|curand|cusparse(?:Lt)?|cusolver(?:Mg)?"
    r"|nccl|nvJitLink|cupti)(?:64_[\d_]+)?\.(?:so(?:\.\d+)*|dll)"
)
_RUNTIME = re.compile(r"(?:lib)?cudart(?:64_|\.so\.)(\d+).*")


def judged(inspection: Inspection, shipment: Shipment) -> tuple[str, ...]:
    """Those of the asked chips that can be in a machine that the shipment is for."""
    return shipment.judged(ChipSet.of(*inspection.asked)).names


def dotted(version: Version) -> str:
    """ "13.0"."""
    return ".".join(map(str, version))


def cuda_libraries(needed: Iterable[str]) -> list[str]:
    """The CUDA libraries among the names that a file asks the loader for, sorted."""
    return sorted({name for name in needed if _CUDA.fullmatch(name)})


@dataclass(frozen=True, slots=True)
class DriverNeed:
    """A driver that is enough for one thing, with what it is for; None: not known, or there is none."""

    cause: str
    linux: str | None
    windows: str | None
    cuda: str = ""


def driver_needs(libraries: Sequence[DeviceLibrary], name: str) -> tuple[DriverNeed, ...]:
    """What asks for a driver where a chip runs some of the libraries: the card, and its code; empty where it does not.
    Code is that of the newest CUDA, and the newest PTX that the driver compiles."""
    used = [library for library in libraries if any(verdict.way != NONE for verdict in verdicts(library, name))]
    if not used:
        return ()
    card = chip(name)
    needs = [DriverNeed("the card", *_both(driver_for_chip, card), card.min_cuda or "")]
    toolkits = [library.toolkit for library in used if library.toolkit is not None]
    if toolkits:
        newest = max(toolkits)
        needs.append(DriverNeed(f"CUDA {dotted(newest)}", *_both(driver_for_cubin, newest), dotted(newest)))
    isas = [isa for library in used for isa in jit_isas(library, name)]
    if isas:
        isa = max(isas)
        needs.append(DriverNeed(f"JIT of PTX {dotted(isa)}", *_both(driver_for_jit, isa), toolkit_of_isa(isa) or ""))
    return tuple(needs)


def loaded_together(shipment: Shipment) -> tuple[tuple[DeviceLibrary, ...], ...]:
    """What a program may load of a shipment at once: one library of those for several releases of CUDA, or those of
    one major, with all that goes with it."""
    picked = [library for _, library in shipment.by_cuda]
    rest = [library for library in shipment.libraries if library not in picked]
    if len(picked) > 1:
        return tuple(
            (one, *(each for each in rest if _majors(each) <= (_majors(one) or _majors(each)))) for one in picked
        )
    majors = sorted({major for library in shipment.libraries for major in _majors(library)})
    groups = (tuple(each for each in shipment.libraries if major in (_majors(each) or {major})) for major in majors)
    return tuple(groups) or (shipment.libraries,)


def least_needs(libraries: Sequence[DeviceLibrary], name: str) -> tuple[DriverNeed, ...]:
    """What asks for a driver where a chip runs some of the libraries: of those that ask for the runtimes of several
    majors of CUDA a program loads those of one alone, and the oldest one is enough."""
    majors = {major for library in libraries for major in _majors(library)}
    groups = [[each for each in libraries if _majors(each) <= {major}] for major in majors] or [list(libraries)]
    found = [needs for group in groups if (needs := driver_needs(group, name))]
    return min(found, key=lambda needs: _order(minimum(*(need.linux for need in needs))), default=())


def _majors(library: DeviceLibrary) -> set[str]:
    return {match[1] for name in library.binary.needed if (match := _RUNTIME.fullmatch(name))}


def _order(driver: str | None) -> tuple[float, ...]:
    """What is not known comes last."""
    return (math.inf,) if driver is None else tuple(map(float, driver.split(".")))


def driver(library: DeviceLibrary, asked: Iterable[str], system: System = "linux") -> str | None:
    """The first driver that is enough for the library on those of the chips that run it, or None: not known."""
    if library.binary.form == "pe" and system == "linux":
        return None
    own = None if library.toolkit is None else driver_for_cubin(library.toolkit, system)
    needs = [need for name in asked for need in driver_needs([library], name)]
    return minimum(own, *(need.linux if system == "linux" else need.windows for need in needs))


T = TypeVar("T")


def _both(of: Callable[[T, System], str | None], what: T) -> tuple[str | None, str | None]:
    """The drivers for Linux and for Windows."""
    return of(what, "linux"), of(what, "windows")


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
    return {image.isa for image in jit_images(library, chip) if image.isa}


def jit_images(library: DeviceLibrary, chip: str) -> Iterator[Image]:
    """The PTX that a driver compiles to run all of the library on the chip."""
    for unit in library.units:
        way = unit.verdicts[chip].way if chip in unit.verdicts else NONE
        image = unit.image(chip) if way == JIT else None
        if image:
            yield image
        elif way == LINK:
            yield from _linked_images(library, unit)


def _linked_images(library: DeviceLibrary, unit: LoadUnit) -> Iterator[Image]:
    parts = frozenset(unit.container.linked_from)
    for container in library.binary.containers:
        if container.at in parts:
            yield from (image for image in container.images if image.kind == PTX)
