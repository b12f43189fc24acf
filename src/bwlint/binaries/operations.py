"""Operations of a shipment: kernels grouped by name, and the chips for which one has no variant anywhere;
and the kernels of a library that each chip loads, from the cubins that were disassembled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bwlint.binaries.library import is_bare
from bwlint.binaries.shipments import NONE, DeviceLibrary, KernelOperation, LoadUnit, Shipment
from bwlint.chips import NONE as NO_CHIP
from bwlint.chips import Chip, ChipSet, chip_of_number, group
from bwlint.chips import chip as chip_of
from bwlint.model.images import Cubin, Kernel, Place
from bwlint.readers.binary.names import operation, readable

_NUMBER = re.compile(r"\d+")
_MANY_NUMBERS = 3
"""A C name with as many holds tile sizes and stages, and a sibling with others may do the same work."""
_FEW = 3


def operations(libraries: Sequence[DeviceLibrary], asked: ChipSet) -> tuple[KernelOperation, ...]:
    """Operations that some container has kernels of and that none of those containers runs on an asked chip.

    Containers for one other family or generation ask for nothing, and neither do libraries that serve a chip not at
    all: these are findings of their own. What the newest chips of older generations that a library is built for lack
    too is for those before them.
    """
    missing: dict[str, _KernelsSeen] = {}
    for chip in asked.names:
        for library, unit in _unserved(libraries, chip):
            for kernel in unit.kernels:
                reason = unit.verdicts[chip].reason
                missing.setdefault(operation(kernel), _KernelsSeen(library.path, reason)).add(chip, unit, kernel)
    for name, chips in _served(libraries, frozenset(missing)):
        missing[name].served |= chips
    newest = {(library.path, chip): _newest_before(library, chip) for library in libraries for chip in asked.names}
    return tuple(
        KernelOperation(
            name, unserved, seen.library, seen.reason, seen.is_specific, seen.served.names, seen.is_sure, seen.source
        )
        for name, seen in sorted(missing.items())
        if (unserved := (seen.unserved - seen.served).names)
        if (unserved := tuple(chip for chip in unserved if newest[seen.library, chip] <= seen.served))
    )


def _newest_before(library: DeviceLibrary, name: str) -> ChipSet:
    """The newest chip that a library is built for, of those before the chip's own generation and its like."""
    own, ours = chip_of(name), group("blackwell-and-newer")
    units = (unit for unit in library.units if not unit.generation)
    built = (chip_of_number(image.number) for unit in units for image in unit.container.images)
    older = {chip for chip in built if chip and chip.joined < own.joined and not (own in ours and chip in ours)}
    return ChipSet.joining(sorted(older, key=lambda chip: chip.joined)[-1:])


def kernels_beside(library: DeviceLibrary, libraries: Iterable[DeviceLibrary], chip: str) -> frozenset[str]:
    """The mangled names of the kernels that a chip runs from containers of a library, or from images beside an image. A
    host library calls the kernels that it brings along, and no others of the same name."""
    beside = [each for each in libraries if is_bare(each)] if is_bare(library) else [library]
    units = (unit for each in beside for unit in each.units if unit.verdicts[chip].way != NONE)
    return frozenset(kernel for unit in units for kernel in unit.kernels)


def variant(libraries: Iterable[DeviceLibrary], path: str, name: str) -> str:
    """The mangled name of the first kernel in a file that is a variant of an operation."""
    units = (unit for library in libraries if library.path == path for unit in library.units)
    return next((kernel for unit in units for kernel in unit.kernels if operation(kernel) == name), name)


def is_spare(units: Iterable[LoadUnit], running: frozenset[str]) -> bool:
    """Whether all kernels of containers are among those that a chip runs: the same code, built for each chip apart."""
    return all(unit.kernels and running.issuperset(unit.kernels) for unit in units)


@dataclass(slots=True)
class _KernelsSeen:
    library: str
    reason: str
    is_specific: bool = True
    is_sure: bool = True
    unserved: ChipSet = NO_CHIP
    served: ChipSet = NO_CHIP
    source: Place | None = None

    def add(self, chip: str, unit: LoadUnit, kernel: str) -> None:
        self.unserved |= ChipSet.of(chip)
        self.source = self.source or unit.sources.get(kernel)
        self.is_specific = self.is_specific and unit.is_specific
        self.is_sure = self.is_sure and (kernel.startswith("_Z") or len(_NUMBER.findall(kernel)) < _MANY_NUMBERS)


def _unserved(libraries: Iterable[DeviceLibrary], chip: str) -> Iterator[tuple[DeviceLibrary, LoadUnit]]:
    for library in libraries:
        if library.tallies[chip].served:
            for unit in library.units:
                if unit.verdicts[chip].way == NONE and not unit.generation:
                    yield library, unit


def _served(libraries: Iterable[DeviceLibrary], wanted: frozenset[str]) -> Iterator[tuple[str, ChipSet]]:
    if not wanted:
        return
    for library in libraries:
        for unit in library.units:
            chips = ChipSet.of(*(name for name, verdict in unit.verdicts.items() if verdict.way != NONE))
            for name in {operation(kernel) for kernel in unit.kernels} & wanted:
                yield name, chips


def placed(name: str, place: Place | None) -> str:
    """A name, and where it is defined if that is known: "`a` (k.cu:9)"."""
    return name if place is None else f"{name} ({place[0]}:{place[1]})"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Kernels of one library for which something holds, and the chips that load them."""

    library: DeviceLibrary
    kernels: tuple[Kernel, ...]
    chips: ChipSet

    @property
    def named(self) -> str:
        """ "`a` (k.cu:9), `b` and 7 more kernels"; a place where the cubin tells it."""
        names: dict[str, Place | None] = {}
        for kernel in self.kernels:
            name = readable(kernel.name)
            names[name] = names.get(name) or kernel.source
        shown = ", ".join(placed(f"`{name}`", place) for name, place in list(names.items())[:_FEW])
        more = len(self.kernels) - min(len(names), _FEW)
        return f"{shown} and {more} more kernel{'s' * (more > 1)}" if more else shown


def loaded(shipment: Shipment, asked: ChipSet, holds: Callable[[Kernel, Cubin, Chip], bool]) -> Iterator[Loaded]:
    """For each library the kernels of cubins for which `holds` is true, on asked chips of a machine that it is for."""
    for library in shipment.libraries:
        judged = shipment.judged(asked, library)
        chips: dict[Kernel, ChipSet] = {}
        for unit in library.units:
            for chip in judged:
                cubin = unit.cubin(chip.name)
                if cubin is None:
                    continue
                for kernel in cubin.kernels:
                    if holds(kernel, cubin, chip):
                        chips[kernel] = chips.get(kernel, NO_CHIP) | ChipSet.of(chip.name)
        if chips:
            yield Loaded(library, tuple(chips), ChipSet.union(chips.values()))
