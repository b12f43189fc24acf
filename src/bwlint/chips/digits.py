"""Detect code that parses or builds chip names as if every number had two digits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bwlint.chips.chipset import ChipSet
from bwlint.chips.devices import all_chips

Change = Callable[[str], str | None]
"""What becomes of a name; None where it is left out."""

_Number = tuple[int, int]
_FIRST_OF_THREE = 10
_SHORT: tuple[_Number, ...] = ((1, 3), (3, 5), (7, 5), (8, 0), (8, 3), (8, 6), (8, 9), (9, 0), (9, 4))
"""Those of two digits. No such chip is 8.3 or 9.4, nor 1.3 any longer: who takes them has listed none."""
_MODERN = {number for number in _SHORT if number >= (7, 5)}
_LONG = tuple((one.major, one.minor) for one in all_chips() if one.major >= _FIRST_OF_THREE)
_SPELLINGS = (
    *("{0}{1}", "{0}.{1}", "sm_{0}{1}", "compute_{0}{1}"),
    *("arch=compute_{0}{1},code=sm_{0}{1}", "-arch=sm_{0}{1}", "k.sm_{0}{1}.cubin"),
)
_MEANINGS = ("{0}{1}", "{0}.{1}", "{0}", "{1}")
_AROUND = re.compile(r"^(?:sm|compute)_?|-(?:real|virtual)$|\+PTX$")

_ABOUT = re.compile(r"compute_?cap|\bsm_|gencode|(?:cuda|gpu|torch)_?arch|-arch\b|capabilit", re.I)
_NO_TARGET = re.compile(r"python|version|driver|cu(?:da)?_?ver|gcc|release", re.I)
_ASKS_LENGTH = re.compile(r"LENGTH|\$\{#|\b(?:length|len|size|strlen)\(|\bwc[ \t]")


@dataclass(frozen=True, slots=True)
class Misread:
    """The chips whose names become something else than those before them do, and an example of both."""

    chips: ChipSet
    says: str


def misread(change: Change, *, old_too: bool = False) -> Misread | None:
    """Whether a change of names fits those of two digits, at least from 7.5 on, none of three, no spelling of all."""
    found = None
    for spelling in _SPELLINGS:
        made = {number: change(spelling.format(*number)) for number in (*_SHORT, *_LONG)}
        for meaning in _MEANINGS:
            means = {number for number, text in made.items() if _AROUND.sub("", text or "") == meaning.format(*number)}
            if len(means) == len(made) and (made[8, 6] != spelling.format(8, 6) or change("") is None):
                return None
            if means >= (set(_SHORT) if old_too else _MODERN) and means.isdisjoint(_LONG):
                found = found or Misread(_TWO_DIGIT_MAJORS, _example(spelling, made))
    return found


def is_about(near: str, line: str) -> bool:
    """Whether what is done in a line is done to a name of a target, and nobody around asks how long that is."""
    return bool(_ABOUT.search(near)) and not _NO_TARGET.search(line) and not _ASKS_LENGTH.search(near)


def clipped(change: Change) -> Misread | None:
    """Whether a change meant for an old chip's name befalls a newer one's that ends like it: "2.1" in "12.1"."""
    for spelling in ("{0}.{1}", "{0}{1}"):
        if any(change(name) != name for name in (spelling.format(*number) for number in _SHORT)):
            continue
        hit = [number for number in _LONG if change(spelling.format(*number)) != spelling.format(*number)]
        if hit and all(_holds_older(change, spelling.format(*number)) for number in hit):
            newer = spelling.format(*hit[-1])
            chips = ChipSet.of(*(f"{major}.{minor}" for major, minor in hit))
            return Misread(chips, f'it is for "{newer[1:]}", but turns "{newer}" into "{change(newer)}"')
    return None


def _holds_older(change: Change, name: str) -> bool:
    older = change(name[1:])
    return older != name[1:] and change(name) == f"{name[0]}{older}"


_TWO_DIGIT_MAJORS = ChipSet.where(lambda chip: chip.major >= _FIRST_OF_THREE)


def _example(spelling: str, made: dict[_Number, str | None]) -> str:
    (old, of_old), (new, of_new) = ((spelling.format(*one), made[one]) for one in ((8, 6), (12, 0)))
    return f'it turns "{old}" into "{of_old}" and "{new}" into ' + (f'"{of_new}"' if of_new else "nothing")
