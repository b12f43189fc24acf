"""Rows that are one question: asked of one helper, in the same words, of one subject, in copies of a file, by names
that only name something in one folder.

What is told twice of one line is told once.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.ledger.question import elsewhere
from bwlint.model.ledger import NAMING, ROW_KINDS, Row, RowForm, RowPlace

_ASKING: frozenset[RowForm] = frozenset({"gate", "guard", "asked", "list", "table"})
_COVERED: frozenset[RowForm] = frozenset({"amount", "build", "list", "finding"})
"""Forms that give way to a stronger row on the same lines."""
_COVERING = _ASKING | _COVERED
_ASIDE = frozenset({"in-test", "aside"})
TRAITS = _ASIDE | {"is-refused", "is-told-no"}
"""Marks in which rows of one question agree."""
_LONGEST = 400
"""Lines of a place that cover others."""

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class UnjoinedRow:
    """A row with what tells whether others are the same: the helpers whose answer it `asks` for or is, the
    chips that get the same answer as the first, `traits` in which rows of one question agree (whether they stand in
    tests, whether they refuse).
    """

    row: Row
    asks: tuple[str, ...]
    alike: tuple[bool, ...]
    traits: frozenset[str]


def joined(made: Sequence[UnjoinedRow]) -> list[Row]:
    """Rows with those that are one question as one, less what stronger rows on the same lines tell already."""
    return _uncovered([_one_of(group) if len(group) > 1 else group[0] for group in _groups(made)])


def _groups(made: Sequence[UnjoinedRow]) -> Iterator[list[Row]]:
    """Rows that share a key, over any number of others."""
    leader = list(range(len(made)))
    first: dict[_Key, int] = {}
    for at, one in enumerate(made):
        for key in _keys(one):
            leader[_root(leader, at)] = _root(leader, first.setdefault(key, at))
    groups: dict[int, list[Row]] = defaultdict(list)
    for at, one in enumerate(made):
        groups[_root(leader, at)].append(one.row)
    yield from groups.values()


def _root(leader: list[int], at: int) -> int:
    while leader[at] != at:
        leader[at] = at = leader[leader[at]]
    return at


def _keys(one: UnjoinedRow) -> Iterator[_Key]:
    row = one.row
    yield "copy", row.fingerprint
    if row.kind == "open" and row.form in NAMING:
        yield "named", _folder(row), row.form, row.group
    beside = (row.kind, row.group, one.traits, row.table)
    if row.findings:  # `check` tells something of it
        yield "told", "" if one.traits & _ASIDE else row.places[0].path, row.why, *beside
    if row.form not in _ASKING or not row.table or row.kind in ("fail", "pass"):
        return  # what `check` reports of one use is not what it reports of another
    yield "text", row.form, row.question, *beside
    # A file of tests asks one thing over and over; elsewhere each function has a reason of its own.
    yield "subject", row.places[0].path, "" if one.traits & _ASIDE else row.subject, *beside
    for helper in one.asks:
        yield "helper", helper, row.kind, row.group, one.traits, one.alike


def _one_of(group: Sequence[Row]) -> Row:
    """The project's own of equal rows where it does not pass, with the worst kind and the places of all.

    Its fingerprint is made of all of them: a decision about them falls when somebody asks the same elsewhere.
    """
    in_order = sorted(
        group,
        key=lambda row: (row.kind == "pass", row.group != "own", _rank(row), -row.score, row.places[0].path),
    )
    first, worst = in_order[0], min(in_order, key=_rank)
    prints = sorted({row.fingerprint for row in in_order})
    files = {place.path for row in in_order for place in row.places}
    names_folder = first.kind == "open" and first.form in NAMING and len(files) > 1
    return replace(
        first,
        subject=_folder(first) if names_folder else first.subject,
        kind=worst.kind,
        why=worst.why if worst.kind != first.kind else first.why,
        verdicts=worst.verdicts,
        places=tuple(dict.fromkeys(place for row in in_order for place in _said(row, first))),
        findings=tuple(dict.fromkeys(one for row in in_order if row.kind != "pass" for one in row.findings)),
        fingerprint=prints[0] if len(prints) == 1 else hashlib.sha256("".join(prints).encode()).hexdigest()[:32],
        questions=tuple(prints),
    )


def _folder(row: Row) -> str:
    """The folder of a row, with its slash."""
    return f"{row.places[0].path.rpartition('/')[0] or '.'}/"


def _rank(row: Row) -> int:
    return ROW_KINDS.index(row.kind)


def _said(row: Row, first: Row) -> tuple[RowPlace, ...]:
    """The places of a row beside those of another, with what they belong to."""
    if row.subject == first.subject:
        return row.places
    return tuple(elsewhere(place, row.subject) for place in row.places)


def _uncovered(rows: Sequence[Row]) -> list[Row]:
    """Rows less those of which a row that is as bad has every line."""
    in_order = sorted(range(len(rows)), key=lambda at: _strength(rows[at]))
    lines: dict[tuple[str, int], int] = {}
    kept: dict[int, Row] = {}
    for at in in_order:
        row = rows[at]
        by = _covering(row, lines) if row.form in _COVERED else None
        if by is not None and (row.kind != "fail" or row.why == kept[by].why):
            kept[by] = replace(kept[by], findings=tuple(dict.fromkeys((*kept[by].findings, *row.findings))))
            continue
        kept[at] = row
        if row.form in _COVERING:
            for key in _lines(row):
                lines.setdefault(key, at)
    return [kept[at] for at in sorted(kept)]


def _strength(row: Row) -> tuple[int, bool, int, str]:
    """What covers comes before what it covers: the worse, what asks, the longer."""
    return _rank(row), row.form in _COVERED, -sum(1 for _ in _lines(row)), row.fingerprint


def _lines(row: Row) -> Iterator[tuple[str, int]]:
    for place in row.places:
        for line in range(place.line, min(place.end_line, place.line + _LONGEST) + 1):
            yield place.path, line


def _covering(row: Row, lines: dict[tuple[str, int], int]) -> int | None:
    """The one row that has every line of a row, or None."""
    found = {lines.get(key) for key in _lines(row)}
    return found.pop() if len(found) == 1 else None
