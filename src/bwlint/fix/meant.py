"""Comments which say that the exact test is meant: those lines are left alone."""

from __future__ import annotations

import re

from bwlint.chips import Chip, ChipSet, Target, spelling, words
from bwlint.chips.wording import only
from bwlint.fix.change import WantedChange
from bwlint.model.expr import Span
from bwlint.model.facts import Gate
from bwlint.model.findings import NoFix
from bwlint.sources.read import SourceText

_ON_PURPOSE = re.compile(rf"\b{words.said('on-purpose')}\b", re.IGNORECASE)
_DENIED = words.said("left-out")
_FAILS = words.said("fails-there")


def meant_exactly(gate: Gate, span: Span, source: str, change: WantedChange) -> NoFix | None:
    """Why the comments at `span` and at the gate forbid an edit; None where they do not."""
    return said_exactly(f"{gate.comment} {comments(source, span)}", change)


def said_exactly(said: str, change: WantedChange) -> NoFix | None:
    """Why what comments say forbids an edit; None where it does not."""
    if _ON_PURPOSE.search(said):
        return NoFix("a comment says that the exact test is meant")
    # "only SM89 and SM120 have this" speaks of generations, not of one part
    named = ChipSet.where(lambda chip: re.search(_names(chip), said, re.IGNORECASE) is not None)
    if named <= change.twins and any(_only(twin).search(said) for twin in change.twins):
        return NoFix(f"a comment says that this is for {only(named)}")
    for chip in change.chips:
        if _beside(_DENIED, _names(chip)).search(said):
            return NoFix(f"a comment says that {chip} is left out knowingly")
    return None


def said_to_fail(said: str, chips: ChipSet) -> bool:
    """Whether a text says that one of some chips was tried: "fails to build on sm_120a"."""
    return any(_beside(_FAILS, _names(chip)).search(said) for chip in chips)


def said_not_to_be(source: str, target: Target) -> bool:
    """Whether comments of a file speak against a target: "not a family-conditional sm_120f fallback"."""
    said = " ".join(line.partition("#")[2].strip(" #:") for line in source.splitlines() if "#" in line)
    return re.search(rf"(?:{_DENIED})[^.;]{{0,40}}(?<![0-9]){target.number}{target.suffix}\b", said, re.I) is not None


def comments(source: str, span: Span) -> str:
    """Comments on the lines of a span and in the block of them directly above the statement."""
    text = SourceText(source)
    above = span[0] - 1
    while text.line(above).rstrip().endswith(("(", "[", "{", ",")):
        above -= 1
    while text.line(above).lstrip().startswith("#"):
        above -= 1
    lines = [text.line(number) for number in range(above + 1, span[2] + 1)]
    return " ".join(line.partition("#")[2].strip() for line in lines)


def _names(chip: Chip) -> str:
    numbers = rf"{spelling.in_words(chip.joined)}|(?<![\d.]){chip.major}\.{chip.minor}(?![\d.])"
    return "(?:" + "|".join([numbers, *map(re.escape, chip.products)]) + ")"


def _only(chip: Chip) -> re.Pattern[str]:
    name = _names(chip)
    return re.compile(rf"\bonly\W+(?:\w+\W+){{0,3}}?{name}|{name}\W+(?:\w+\W+){{0,2}}?only\b", re.IGNORECASE)


def _beside(words: str, name: str) -> re.Pattern[str]:
    return re.compile(rf"{words}[^.;]{{0,40}}{name}|{name}[^.;]{{0,40}}{words}", re.IGNORECASE)
