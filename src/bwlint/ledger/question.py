"""One check of the chip as found in a file, before checks are joined, judged and ranked. Paths are real ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bwlint.chips import ChipSet
from bwlint.model.ledger import Answer, RowForm, RowPlace, RowWay

NEIGHBOURS = ("8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")
"""One chip of each kind, to which the answers of those asked about are compared."""
MOST_TEXT = 200
"""Characters of a question that are told."""

Table = tuple[tuple[str, Answer], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`marks` are names of weights (`chips/suspicion.toml`) and of what verdicts rest on.

    `passes` is the reason for which it cannot matter, `doubt` the one for which somebody should look at it, `unknown`
    what is not known where there is neither. Questions with an equal `key` are one; () equals none. `asks` are the
    functions and variables whose answer this is or asks for. `decided` is the table of the part that reads the device,
    () where that is all of it.
    """

    form: RowForm
    subject: str
    text: str
    places: tuple[RowPlace, ...]
    table: Table = ()
    marks: frozenset[str] = frozenset()
    ways: tuple[RowWay, ...] = ()
    behind: str = ""
    passes: str = ""
    doubt: str = ""
    unknown: str = ""
    rough: bool = False
    key: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    decided: Table = ()

    @property
    def path(self) -> str:
        return self.places[0].path


def elsewhere(place: RowPlace, subject: str) -> RowPlace:
    """A place of a question as one of another question tells it: with what it belongs to."""
    return RowPlace(place.path, place.line, place.end_line, f"{place.says}, in {subject}")


def subject_of(place: RowPlace) -> str:
    """What a place belongs to, by what `elsewhere` wrote; "" = the question's own."""
    return place.says.partition(", in ")[2]


def columns(asked: ChipSet) -> tuple[str, ...]:
    """The chips of a table: those asked about, then a neighbour of each kind."""
    return tuple(dict.fromkeys((*asked.names, *NEIGHBOURS)))


def shape(table: Table, asked: Collection[str]) -> frozenset[str]:
    """What the answers of the asked chips are like beside those of their neighbours."""
    of = dict(table)
    own = [of.get(chip, "?") for chip in asked]
    if not own or "?" in own:
        return frozenset({"not-evaluated"})
    marks: set[str] = set()
    if of.get("12.0") != of.get("12.1") and {*asked} & {"12.0", "12.1"}:
        marks.add("splits-family")
    for chip in own:
        marks |= _beside(chip, of)
    return frozenset(marks)


def _beside(own: Answer, of: dict[str, Answer]) -> set[str]:
    if own == "-":
        return {"nobody-gets-here"}
    eight, nine, ten = (of.get(chip, "?") for chip in ("8.9", "9.0", "10.0"))
    if own == eight == nine == ten:
        return {"all-alike"}
    if own not in (eight, nine, ten):
        return {"unlike-8-and-9-and-10"} if eight == nine == ten else {"unlike-all"}
    if own == ten and own != nine:
        return {"with-10-and-8-unlike-9" if own == eight else "with-10-unlike-9"}
    if own == ten == nine:
        return {"with-9-and-10-unlike-8"}
    if own == nine:
        return {"with-8-and-9-unlike-10" if own == eight else "with-9-unlike-10"}
    return {"with-8-unlike-9-and-10"}
