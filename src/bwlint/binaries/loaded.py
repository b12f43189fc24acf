"""The kernels of a library that each chip loads, from the cubins that were disassembled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bwlint.binaries.shipments import DeviceLibrary, Shipment
from bwlint.chips import NONE, Chip, ChipSet
from bwlint.model.images import Cubin, Kernel, Place
from bwlint.readers.binary.names import readable

_FEW = 3


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
                        chips[kernel] = chips.get(kernel, NONE) | ChipSet.of(chip.name)
        if chips:
            yield Loaded(library, tuple(chips), ChipSet.union(chips.values()))
