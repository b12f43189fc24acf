"""Sets of chips: what a gate admits, what a need is legal on, what a build covers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce

from bwlint.chips.devices import Chip, all_chips, chip
from bwlint.data import table

_CHIPS = all_chips()
_BITS = {each.name: 1 << place for place, each in enumerate(_CHIPS)}
_FULL = (1 << len(_CHIPS)) - 1


@cache
def _names(mask: int) -> tuple[str, ...]:
    return tuple(each.name for each in _CHIPS if mask & _BITS[each.name])


@dataclass(frozen=True, slots=True)
class ChipSet:
    """An immutable set of chips; bit n of `mask` stands for the n-th chip in ascending order."""

    mask: int

    def __post_init__(self) -> None:
        if self.mask & ~_FULL:
            raise ValueError(f"no such chips: mask {self.mask:#x}")

    @classmethod
    def of(cls, *names: str) -> ChipSet:
        """The set of the named chips: `ChipSet.of("12.0", "12.1")`."""
        return cls.joining(chip(name) for name in names)

    @classmethod
    def joining(cls, chips: Iterable[Chip]) -> ChipSet:
        mask = 0
        for each in chips:
            mask |= _BITS[each.name]
        return cls(mask)

    @classmethod
    def where(cls, predicate: Callable[[Chip], bool]) -> ChipSet:
        return cls.joining(each for each in _CHIPS if predicate(each))

    @classmethod
    def family(cls, name: str) -> ChipSet:
        """The members of a family such as "120f"; raises `ValueError` for an unknown one."""
        found = families().get(name)
        if found is None:
            raise ValueError(f"unknown family {name!r}: known are {', '.join(families())}")
        return found

    @classmethod
    def union(cls, sets: Iterable[ChipSet]) -> ChipSet:
        """The chips that are in any of some sets."""
        return reduce(cls.__or__, sets, NONE)

    @classmethod
    def common(cls, sets: Iterable[ChipSet]) -> ChipSet:
        """The chips that are in all of some sets; none is asked for any more once nothing is left."""
        left = EVERY
        for one in sets:
            left &= one
            if not left:
                break
        return left

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the chips, ascending."""
        return _names(self.mask)

    def __or__(self, other: ChipSet) -> ChipSet:
        return ChipSet(self.mask | other.mask)

    def __and__(self, other: ChipSet) -> ChipSet:
        return ChipSet(self.mask & other.mask)

    def __sub__(self, other: ChipSet) -> ChipSet:
        return ChipSet(self.mask & ~other.mask)

    def __invert__(self) -> ChipSet:
        return ChipSet(_FULL & ~self.mask)

    def __le__(self, other: ChipSet) -> bool:
        return not self.mask & ~other.mask

    def __contains__(self, member: str | Chip) -> bool:
        name = member if isinstance(member, str) else member.name
        return bool(self.mask & _BITS.get(name, 0))

    def __iter__(self) -> Iterator[Chip]:
        return (each for each in _CHIPS if self.mask & _BITS[each.name])

    def __len__(self) -> int:
        return bin(self.mask).count("1")

    def __bool__(self) -> bool:
        return self.mask != 0

    def __str__(self) -> str:
        """The set in the words of a kernel engineer: "12.0 only", "10.x", "9.0 and newer"."""
        if not self:
            return "no chip"
        if self == EVERY:
            return "every chip"
        if len(self) == 1:
            return f"{self.names[0]} only"
        return _words(self)


NONE = ChipSet(0)
EVERY = ChipSet(_FULL)


@cache
def families() -> dict[str, ChipSet]:
    """The families by name, ascending: 100f, 101f, 110f, 120f."""
    found: dict[str, ChipSet] = {}
    for each in _CHIPS:
        if each.family:
            found[each.family] = found.get(each.family, NONE) | ChipSet.of(each.name)
    return found


def siblings(chip: Chip) -> ChipSet:
    """The family of the chip, itself included; a chip without a family has only itself."""
    if chip.family is None:
        return ChipSet.of(chip.name)
    return ChipSet.family(chip.family)


_LONGEST_EXCEPTION = 4
_SHORTEST_RANGE = 3
_FEW_MAJORS = 2
"""Whole majors are listed one by one up to here: "9.0 and 10.x" is easier to read than "9.0 to 10.7"."""


@cache
def _words(chips: ChipSet) -> str:
    """The words for a set that is neither empty nor everything nor a single chip."""
    if (meant := _with_old_names(chips)) != EVERY:
        chips = meant
    own = _pieces(chips)
    if len(own) == 1:
        return own[0]
    run = _range(list(chips))
    if run and _CHIPS[-1] in chips:
        return f"{next(iter(chips))} and newer"
    missing = _pieces(_with_old_names(~chips))
    if len(~chips) <= _LONGEST_EXCEPTION and len(missing) <= (1 if run else len(own)):
        return f"every chip but {_listed(missing)}"
    if len(own) == _FEW_MAJORS and ChipSet.union(_major(each.major) for each in chips) == chips:
        return _listed(own)
    return run or _listed(own)


def _with_old_names(chips: ChipSet) -> ChipSet:
    """The set with a former name added where only that is missing: nobody means 10.1, now 11.0, by the rest of 10.x."""
    for each in _CHIPS:
        major = _major(each.major)
        if each.renamed_to and major - ChipSet.of(each.name) <= chips:
            chips |= major
    return chips


@cache
def _major(number: int) -> ChipSet:
    return ChipSet.where(lambda chip: chip.major == number)


def _pieces(chips: ChipSet) -> list[str]:
    """The set major by major: "8.x", "9.0", "12.0"."""
    pieces: list[str] = []
    for number in dict.fromkeys(each.major for each in chips):
        major = _major(number)
        members = list(chips & major)
        if len(members) > 1 and major <= chips:
            pieces.append(f"{number}.x")
        elif run := _range(members):
            pieces.append(run)
        else:
            pieces += [each.name for each in members]
    return pieces


def _range(chips: Sequence[Chip]) -> str | None:
    """ "8.6 to 9.0", if there are enough chips and none is left out between them."""
    if len(chips) < _SHORTEST_RANGE:
        return None
    between = [each for each in _CHIPS if chips[0].joined <= each.joined <= chips[-1].joined]
    if len(between) != len(chips):
        return None
    first, last = (f"{end.major}.x" if _has_family(end.major, chips) else "" for end in (chips[0], chips[-1]))
    if chips[0].major == chips[-1].major or not last:
        return f"{chips[0]} to {chips[-1]}"
    return f"{first or chips[0]} to {last}"


def _has_family(major: int, chips: Sequence[Chip]) -> bool:
    """Whether all chips of a major version are among some, and are several."""
    return len(_major(major)) > 1 and _major(major) <= ChipSet.joining(chips)


def _listed(pieces: Sequence[str]) -> str:
    *first, last = pieces
    return f"{', '.join(first)} and {last}" if first else last


@cache
def group(name: str) -> ChipSet:
    """The chips of a group; raises KeyError for a name that the table lacks."""
    return ChipSet.of(*table("groups")["group"][name]["chips"])
