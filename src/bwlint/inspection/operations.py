"""Operations of a shipment: kernels grouped by name, and the chips for which one has no variant anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.chips import ChipSet
from bwlint.readers.binary.names import operation
from bwlint.shipments import NONE, Library, Operation, Unit


def operations(libraries: Sequence[Library], asked: ChipSet) -> tuple[Operation, ...]:
    """Operations that some container has kernels of and that none of those containers runs on an asked chip.

    Containers for one other family or generation ask for nothing, and neither do libraries that serve a chip not at
    all: these are findings of their own.
    """
    missing: dict[str, _Seen] = {}
    for chip in asked.names:
        for library, unit in _unserved(libraries, chip):
            for name in _names(unit):
                missing.setdefault(name, _Seen(library.path, unit.verdicts[chip].reason)).add(chip, unit)
    for name, chip in _served(libraries, asked, frozenset(missing)):
        missing[name].unserved.pop(chip, None)
    return tuple(
        Operation(name, tuple(seen.unserved), seen.library, seen.reason, seen.is_specific)
        for name, seen in sorted(missing.items())
        if seen.unserved
    )


@dataclass(slots=True)
class _Seen:
    library: str
    reason: str
    is_specific: bool = True
    unserved: dict[str, None] = field(default_factory=dict)

    def add(self, chip: str, unit: Unit) -> None:
        self.unserved[chip] = None
        self.is_specific = self.is_specific and unit.is_specific


def _unserved(libraries: Iterable[Library], chip: str) -> Iterator[tuple[Library, Unit]]:
    for library in libraries:
        if library.tallies[chip].served:
            for unit in library.units:
                if unit.verdicts[chip].way == NONE and not unit.generation:
                    yield library, unit


def _served(libraries: Iterable[Library], asked: ChipSet, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    for library in libraries:
        for unit in library.units:
            chips = [chip for chip in asked.names if unit.verdicts[chip].way != NONE]
            if not chips:
                continue
            for name in _names(unit) & wanted:
                yield from ((name, chip) for chip in chips)


def _names(unit: Unit) -> frozenset[str]:
    return frozenset(operation(kernel) for kernel in unit.kernels)
