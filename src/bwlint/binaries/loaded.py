"""Kernels as chips load them: the cubins that were looked into, by library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bwlint.binaries.shipments import DeviceLibrary, Shipment
from bwlint.chips import NONE, Chip, ChipSet
from bwlint.model.images import Cubin, Kernel
from bwlint.readers.binary.names import readable

_FEW = 3


@dataclass(frozen=True, slots=True)
class Loaded:
    """Kernels of one library for which something holds, and the chips that load them."""

    library: DeviceLibrary
    kernels: tuple[Kernel, ...]
    chips: ChipSet

    @property
    def named(self) -> str:
        """ "`a`, `b` and 7 more kernels"."""
        names = list(dict.fromkeys(readable(kernel.name) for kernel in self.kernels))
        shown = ", ".join(f"`{name}`" for name in names[:_FEW])
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
            every = NONE
            for some in chips.values():
                every |= some
            yield Loaded(library, tuple(chips), every)
