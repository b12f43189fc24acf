"""What libraries need, by the names under which code uses them: the table `chips/libraries.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from bwlint.chips import EVERY, ChipSet
from bwlint.data import table
from bwlint.evaluate.expr import Span
from bwlint.facts import Hop, Use

PROOF, NAME = "proof", "name"


@dataclass(frozen=True, slots=True)
class Need:
    """Something that works only on `legal`. `use` is where it is named, `hops` lead to where it is proved.

    `arriving` are the chips that the gates on that way may let come.
    """

    legal: ChipSet
    strength: str
    what: str
    source: str
    use: Use
    hops: tuple[Hop, ...] = ()
    arriving: ChipSet = EVERY


@dataclass(frozen=True, slots=True)
class _Row:
    pattern: re.Pattern[str]
    how: frozenset[str]
    chips: ChipSet
    strength: str
    what: str
    source: str
    role: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Operation:
    """A family of operations of a kernel DSL, by the word with which their names begin."""

    begins: str
    chips: ChipSet
    what: str


@cache
def _operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(row["begins"], ChipSet.of(*row["chips"]), row["what"]) for row in table("libraries")["operation"]
    )


def operation(name: str) -> Operation | None:
    """The hardware operation that a name begins with."""
    word = name.lower()
    return next((row for row in _operations() if word.startswith(row.begins)), None)


def operation_in(dotted: str) -> Operation | None:
    """The hardware operation that a part of a dotted name is: `nvgpu.tcgen05.mma`."""
    for part in dotted.split("."):
        found = operation(part)
        if found is not None and part.partition("_")[0] == found.begins:
            return found
    return None


@cache
def _rows(kind: str) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            re.compile(rf"(?<![A-Za-z0-9])(?:{row['name']})(?![A-Za-z0-9])"),
            frozenset(row.get("how", ())),
            ChipSet.of(*row["chips"]),
            row.get("strength", PROOF),
            row["what"],
            row["source"],
            re.compile(row.get("role", "")),
        )
        for row in table("libraries")[kind]
    )


def in_table(use: Use) -> Need | None:
    """What a use needs, by its name."""
    text = _borders(use.name)
    for row in _rows("need"):
        if use.how in row.how and _matches(row, use, text):
            return Need(row.chips, row.strength, row.what, row.source, use)
    return None


def by_name(names: Iterable[str], at: Span, how: str = "define") -> Need | None:
    """What the names around a gate (function, class) or the words of a skip reason say is behind it."""
    for name in names:
        for row in _rows("need"):
            found = row.pattern.search(_borders(name)) if row.strength == PROOF and "define" in row.how else None
            if found:
                return Need(row.chips, PROOF, row.what, row.source, Use(found[0], how, at))
    return None


def by_text(text: str, at: Span) -> Need | None:
    """What a backend string stands for, by the library table."""
    return in_table(Use(text, "text", at))


def instruction(text: str, at: Span) -> Need | None:
    """An instruction that a comment or message names."""
    for row in _rows("instruction"):
        found = row.pattern.search(text)
        if found:
            return Need(row.chips, row.strength, row.what, row.source, Use(found[0], "text", at))
    return None


@cache
def _for_others() -> re.Pattern[str]:
    return re.compile(table("libraries")["for_others"]["names"], re.IGNORECASE)


def named_for_others(text: str) -> bool:
    """Whether names speak of chips or libraries of another generation: a gate that says so means it."""
    return _for_others().search(text) is not None


@cache
def _built_for_others() -> re.Pattern[str]:
    return re.compile(table("libraries")["built_for_others"]["names"], re.IGNORECASE)


def built_for_others(text: str) -> bool:
    """Whether the names of files and functions say that their kernels are another generation's."""
    return _built_for_others().search(text) is not None


def works(uses: Iterable[Use]) -> Need | None:
    """Something that is known to work on 12.x, by the library table."""
    for use in uses:
        text = _borders(use.name)
        for row in _rows("works"):
            if use.how in row.how and _matches(row, use, text):
                return Need(row.chips, row.strength, row.what, row.source, use)
    return None


def _matches(row: _Row, use: Use, text: str) -> bool:
    if use.how == "text":
        return row.pattern.fullmatch(use.name) is not None and row.role.search(use.role) is not None
    return any(row.pattern.fullmatch(part) for part in text.split("."))


def _borders(name: str) -> str:
    return name.replace("-", "_")
