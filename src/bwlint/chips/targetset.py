"""Sets of compile targets: where a guard of the preprocessor lets code through, where an instruction is legal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, reduce

from bwlint.chips.chipset import ChipSet
from bwlint.chips.targets import ALL_TARGETS, Target, targets_of

_BITS = {target: 1 << place for place, target in enumerate(ALL_TARGETS)}
_FULL = (1 << len(ALL_TARGETS)) - 1


@dataclass(frozen=True, slots=True)
class TargetSet:
    """An immutable set of targets; bit n of `mask` stands for the n-th of `ALL_TARGETS`."""

    mask: int

    @classmethod
    def of(cls, *names: str) -> TargetSet:
        """The set of the named targets: `TargetSet.of("120", "120a")`; raises `ValueError`."""
        return cls.joining(Target.parse(name) for name in names)

    @classmethod
    def joining(cls, targets: Iterable[Target]) -> TargetSet:
        mask = 0
        for target in targets:
            mask |= _BITS[target]
        return cls(mask)

    @classmethod
    def where(cls, predicate: Callable[[Target], bool]) -> TargetSet:
        return cls.joining(target for target in ALL_TARGETS if predicate(target))

    @classmethod
    def native(cls, chips: ChipSet) -> TargetSet:
        """The targets that bear the numbers of the chips."""
        return _native(chips)

    @classmethod
    def union(cls, sets: Iterable[TargetSet]) -> TargetSet:
        """The targets that are in any of some sets."""
        return reduce(cls.__or__, sets, NO_TARGET)

    @classmethod
    def common(cls, sets: Iterable[TargetSet]) -> TargetSet:
        """The targets that are in all of some sets."""
        return reduce(cls.__and__, sets, EVERY_TARGET)

    @property
    def chips(self) -> ChipSet:
        """The chips one of whose own targets is in the set."""
        return _chips(self)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(target.name for target in self)

    def __or__(self, other: TargetSet) -> TargetSet:
        return TargetSet(self.mask | other.mask)

    def __and__(self, other: TargetSet) -> TargetSet:
        return TargetSet(self.mask & other.mask)

    def __sub__(self, other: TargetSet) -> TargetSet:
        return TargetSet(self.mask & ~other.mask)

    def __invert__(self) -> TargetSet:
        return TargetSet(_FULL & ~self.mask)

    def __le__(self, other: TargetSet) -> bool:
        return not self.mask & ~other.mask

    def __contains__(self, target: Target) -> bool:
        return bool(self.mask & _BITS[target])

    def __iter__(self) -> Iterator[Target]:
        return (target for target in ALL_TARGETS if self.mask & _BITS[target])

    def __len__(self) -> int:
        return bin(self.mask).count("1")

    def __bool__(self) -> bool:
        return self.mask != 0

    def __str__(self) -> str:
        """ "sm_120, sm_120a"."""
        return ", ".join(self.names) if self else "no target"


EVERY_TARGET = TargetSet(_FULL)
NO_TARGET = TargetSet(0)


@cache
def _native(chips: ChipSet) -> TargetSet:
    return TargetSet.joining(target for chip in chips for target in targets_of(chip))


@cache
def _chips(targets: TargetSet) -> ChipSet:
    return ChipSet.joining(target.chip for target in targets)
