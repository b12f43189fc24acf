"""Which chips a text names: messages of errors and skips, docstrings, log lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.spelling import IN_WORDS, NUMBER, SUFFIX
from bwlint.chips.words import said

_NEWER, _LEAST = said("open-ended"), said("at-least")
_SM = re.compile(
    rf"(?<![A-Za-z0-9_]){IN_WORDS}({NUMBER}|\d{{1,2}}\.?x|\d{{1,2}}\.\d)([afx]?)"
    rf"(?:\s*\([^)]*\))?(\s*(?:\+|{_NEWER}))?(?![0-9])",
    re.I,
)
_AT_LEAST = re.compile(rf"{_LEAST}\s*$", re.I)
_LIST = re.compile(rf"/({NUMBER}){SUFFIX}(?![0-9])")
_CAPABILITY = re.compile(
    rf"(?:capability|capabilities|cc|sm)\s*(?:of\s*)?({_LEAST})?\s*\(?(\d{{1,2}})(?!\d)(?:[.,]\s*(\d))?"
    rf"\)?(\s*(?:\+|{_NEWER}))?",
    re.I,
)
_GENERATION = re.compile(r"(?<![\d.])(1[012]|[789])\.?x\b", re.I)
_VERSION = re.compile(r"(?<![\d.])(1[012]|[789])\.(\d)(?![\d.])")
_SINCE = re.compile(
    rf"\b({'|'.join(dict.fromkeys(chip.generation for chip in EVERY))})\b(?:\s+\w+){{0,2}}?\s*(?:\+|{_NEWER})", re.I
)


@dataclass(frozen=True, slots=True)
class Mention:
    """`named` are the chips a text names, `exact` those spelled with their minor; `open_ended` "and newer"."""

    named: ChipSet
    exact: ChipSet
    open_ended: bool


def mentioned(text: str) -> Mention:
    named, exact, open_ended = NONE, NONE, False
    for match in _SM.finditer(text):
        chips, single = _chips(match[1], match[2])
        if match[3] or _AT_LEAST.search(text, max(0, match.start() - 20), match.start()):
            open_ended = True
            chips = _from(chips)
        named |= chips
        exact |= single
        for extra in _LIST.finditer(text, match.end()):
            if extra.start() != match.end():
                break
            more, single = _chips(extra[1], "")
            named, exact = named | more, exact | single
    for match in _CAPABILITY.finditer(text):
        major = int(match[2])
        chips = ChipSet.where(lambda chip: chip.major == major)  # noqa: B023 - used at once
        if not 7 <= major <= 12:
            continue
        if match[1] or match[4]:
            open_ended = True
            chips = _from(chips, int(match[3] or 0))
        elif match[3]:
            chips &= ChipSet.where(lambda chip: chip.minor == int(match[3]))  # noqa: B023
            exact |= chips
        named |= chips
    if named:
        for match in _GENERATION.finditer(text):
            named |= ChipSet.where(lambda chip: chip.major == int(match[1]))  # noqa: B023
        for match in _VERSION.finditer(text):
            named |= ChipSet.where(lambda chip: chip.name == f"{match[1]}.{match[2]}")  # noqa: B023
    return Mention(named, exact, open_ended)


def from_generation(text: str) -> ChipSet:
    """Every chip from the generation on that a text calls by its name: "Ampere GPUs or newer"."""
    found = _SINCE.search(text)
    if found is None:
        return NONE
    return _from(ChipSet.where(lambda chip: chip.generation.lower() == found[1].lower()))


def _chips(number: str, suffix: str) -> tuple[ChipSet, ChipSet]:
    """ "SM100" is read as the family 10.x, "SM120" as 12.x with 12.0 spelled out."""
    digits = number.lower().rstrip("x").rstrip(".")
    if "." in digits:
        joined = int(digits.replace(".", ""))
    elif number.lower().endswith("x") or suffix.lower() == "x":
        value = int(digits)
        major = value // 10 if value >= 70 else value
        return ChipSet.where(lambda chip: chip.major == major), NONE
    else:
        joined = int(digits)
        if joined < 20:
            return ChipSet.where(lambda chip: chip.major == joined), NONE
    single = ChipSet.where(lambda chip: chip.joined == joined)
    if joined % 10 == 0 and joined >= 90:
        return ChipSet.where(lambda chip: chip.major == joined // 10), single
    return single, single


def _from(chips: ChipSet, minor: int = 0) -> ChipSet:
    """Every chip from the first of `chips` on, or from its `minor`."""
    if not chips:
        return NONE
    lowest = max(next(iter(chips)).joined, next(iter(chips)).major * 10 + minor)
    return EVERY & ChipSet.where(lambda chip: chip.joined >= lowest)
