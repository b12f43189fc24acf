"""What people call chips and say of tests (words.toml), as pieces of expressions without groups that ignore case."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from bwlint.chips.chipset import ChipSet
from bwlint.chips.spelling import IN_NAMES
from bwlint.data import table


@cache
def said(*vocabularies: str) -> str:
    """Any word of these vocabularies; raises KeyError for one that the table lacks."""
    rows = {row["name"]: row["words"] for row in table("words")["vocabulary"]}
    return _any(word for name in vocabularies for word in rows[name])


@cache
def nicknames(chips: ChipSet) -> str:
    """What people call chips: gb10."""
    rows = table("words")["nickname"]
    return _any(word for row in rows if ChipSet.of(row["chip"]) <= chips for word in row["words"])


@cache
def numbers(chips: ChipSet) -> str:
    """Chips by number, in a name or a sentence: sm_121, 12.1."""
    return _any(rf"{IN_NAMES}{chip.joined}|{chip.major}\.{chip.minor}" for chip in chips)


@cache
def pinned(chips: ChipSet) -> str:
    """Names for exactly these chips: sm_120a, is_12_0."""
    return _any(rf"{chip.joined}a|_{chip.major}_{chip.minor}" for chip in chips)


@cache
def families(chips: ChipSet) -> str:
    """Names for all of the families of chips: 12x, 120f, blackwell."""
    pieces = (piece for chip in chips for piece in (f"{chip.major}x", chip.family or "", chip.generation))
    return _any(dict.fromkeys(filter(None, pieces)))


def _any(pieces: Iterable[str]) -> str:
    return f"(?:{'|'.join(pieces) or '(?!)'})"
