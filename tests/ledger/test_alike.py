"""Rows that are one question, and rows that say nothing beside others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from questions import fingerprint, make_row

from bwlint.ledger.rows import UnjoinedRow, joined
from bwlint.model.ledger import Row, RowPlace

SPLIT = (("12.0", "yes"), ("12.1", "no"), ("9.0", "no"))
NEGATED = (("12.0", "no"), ("12.1", "yes"), ("9.0", "yes"))
BESIDE = frozenset({"aside"})
IN_TEST = frozenset({"in-test"})
REFUSES = frozenset({"is-refused"})


def place(at: str) -> RowPlace:
    """A place of "file:line" or "file:line-line"."""
    path, _, lines = at.rpartition(":")
    first, _, last = lines.partition("-")
    return RowPlace(path, int(first), int(last or first), "checked here")


def one(digit: str = "a", at: str = "", **changes: Any) -> UnjoinedRow:
    """A row whose fingerprint is that digit; subject, text, path and helper are its own."""
    asks = changes.pop("asks", "").split()
    if changes.pop("told", False):
        changes.setdefault("findings", ("t",))
    traits = changes.pop("traits", frozenset())
    values: dict[str, Any] = {
        "subject": f"{digit}_gemm",
        "question": f"cap == (12, 0)  # {digit}",
        "why": f"why {digit}",
        "table": SPLIT,
        "places": tuple(map(place, (at or f"{digit}.py:4").split())),
    }
    row = make_row(digit, **{**values, **changes})
    alike = tuple(answer == row.table[0][1] for _, answer in row.table)
    return UnjoinedRow(row, tuple(asks), alike, traits)


def at(row: Row) -> str:
    return " ".join(f"{place.path}:{place.line}" for place in row.places)


def together(*made: UnjoinedRow) -> bool:
    found = joined(made)
    assert {place[:3] for row in found for place in _places([row])} == set(_places([each.row for each in made]))
    return len(found) == 1


def _places(rows: Sequence[Row]) -> list[tuple[str, int, int]]:
    return [(place.path, place.line, place.end_line) for row in rows for place in row.places]


TEXT: dict[str, Any] = {"question": "sm == 120"}
SUBJECT: dict[str, Any] = {"subject": "f", "at": "x.py:9"}
HELPER: dict[str, Any] = {"asks": "is_new"}
TOLD: dict[str, Any] = {"kind": "fail", "told": True, "why": "it refuses 12.1", "at": "x.py:9"}


@pytest.mark.parametrize(
    ("base", "other", "expected"),
    [
        ({}, {}, False),
        # The same text and table.
        (TEXT, {}, True),
        (TEXT, {"question": "sm == 121"}, False),
        (TEXT, {"form": "guard"}, False),
        (TEXT, {"kind": "open"}, False),
        (TEXT, {"kind": "fail"}, False),
        (TEXT, {"kind": "pass"}, False),
        (TEXT, {"group": "vendored"}, False),
        (TEXT, {"table": NEGATED}, False),
        (TEXT, {"table": ()}, False),
        (TEXT, {"traits": BESIDE}, False),
        (TEXT, {"traits": REFUSES}, False),
        ({**TEXT, "kind": "open"}, {}, True),
        ({**TEXT, "kind": "fail"}, {}, False),
        ({**TEXT, "kind": "pass"}, {}, False),
        ({**TEXT, "table": ()}, {}, False),
        ({**TEXT, "traits": IN_TEST}, {"traits": BESIDE}, False),
        ({**TEXT, "traits": REFUSES}, {}, True),
        *(({**TEXT, "form": form}, {}, True) for form in ("guard", "asked", "list", "table")),
        *(({**TEXT, "form": form}, {}, False) for form in ("amount", "build", "finding")),
        *(({**TEXT, "form": form}, {}, False) for form in ("name", "product", "unit", "text", "word")),
        # One subject in one file, and an equal table.
        (SUBJECT, {}, True),
        (SUBJECT, {"at": "x.py:30"}, True),
        (SUBJECT, {"form": "guard"}, True),
        (SUBJECT, {"subject": "g"}, False),
        (SUBJECT, {"at": "y.py:9"}, False),
        (SUBJECT, {"at": "y.py:9 x.py:9"}, False),
        (SUBJECT, {"kind": "open"}, False),
        (SUBJECT, {"kind": "fail"}, False),
        (SUBJECT, {"kind": "pass"}, False),
        (SUBJECT, {"group": "generated"}, False),
        (SUBJECT, {"table": NEGATED}, False),
        (SUBJECT, {"table": ()}, False),
        (SUBJECT, {"traits": IN_TEST}, False),
        (SUBJECT, {"traits": REFUSES}, False),
        ({**SUBJECT, "kind": "fail"}, {}, False),
        ({**SUBJECT, "form": "unit"}, {}, False),
        # A file of tests asks one thing over and over.
        ({**SUBJECT, "traits": IN_TEST}, {"subject": "g"}, True),
        ({**SUBJECT, "traits": BESIDE}, {"subject": "g"}, True),
        ({**SUBJECT, "traits": REFUSES}, {"subject": "g"}, False),
        ({**SUBJECT, "traits": IN_TEST}, {"subject": "g", "at": "y.py:9"}, False),
        ({**SUBJECT, "traits": IN_TEST}, {"subject": "g", "table": NEGATED}, False),
        # One helper, whatever is made of its answer.
        (HELPER, {}, True),
        (HELPER, {"table": NEGATED}, True),
        (HELPER, {"form": "guard"}, True),
        (HELPER, {"asks": "is_old"}, False),
        (HELPER, {"asks": "can_run is_new"}, True),
        (HELPER, {"asks": ""}, False),
        (HELPER, {"table": (*SPLIT[:2], ("9.0", "yes"))}, False),
        (HELPER, {"kind": "open"}, False),
        (HELPER, {"kind": "fail"}, False),
        (HELPER, {"group": "unbuilt"}, False),
        (HELPER, {"traits": IN_TEST}, False),
        (HELPER, {"traits": REFUSES}, False),
        ({**HELPER, "kind": "pass"}, {}, False),
        ({**HELPER, "kind": "fail"}, {}, False),
        ({**HELPER, "table": ()}, {}, False),
        ({**HELPER, "form": "amount"}, {}, False),
        # One finding.
        (TOLD, {}, True),
        (TOLD, {"at": "x.py:30"}, True),
        (TOLD, {"form": "guard"}, True),
        ({**TOLD, "form": "finding", "table": ()}, {}, True),
        ({**TOLD, "kind": "review"}, {}, True),
        (TOLD, {"why": "it lets 12.1 in"}, False),
        (TOLD, {"at": "y.py:9"}, False),
        (TOLD, {"table": NEGATED}, False),
        (TOLD, {"table": ()}, False),
        (TOLD, {"group": "vendored"}, False),
        (TOLD, {"traits": IN_TEST}, False),
        (TOLD, {"kind": "review"}, False),
        (TOLD, {"told": False}, False),
        ({**TOLD, "told": False}, {}, False),
        # A copy, whatever is said of it.
        ({"fingerprint": fingerprint("c")}, {"group": "vendored"}, True),
        ({"fingerprint": fingerprint("c")}, {"kind": "pass", "traits": IN_TEST}, True),
        ({"fingerprint": fingerprint("c")}, {"form": "unit", "table": ()}, True),
        ({"fingerprint": fingerprint("c")}, {"fingerprint": fingerprint("d")}, False),
    ],
)
def test_what_is_one_row(base: dict[str, Any], other: dict[str, Any], expected: bool) -> None:
    first, second = one("a", **base), one("b", **{**base, **other})
    assert together(first, second) == together(second, first) == expected


def test_what_one_row_has_in_common_with_two_makes_them_one() -> None:
    chain = [
        one("a", question="sm == 120"),
        one("b", question="sm == 120", asks="is_new"),
        one("c", "x.py:9", asks="is_new", subject="f"),
        one("d", "x.py:20", subject="f"),
    ]
    for order in permutations(chain):
        assert together(*order)
    assert not together(chain[0], chain[2])
    assert not together(chain[0], chain[1], chain[3])


def test_the_worst_of_the_projects_own_is_told() -> None:
    copies = [
        one("a", kind="fail", group="vendored", score=90),
        one("b", kind="pass"),
        one("c", kind="review", score=3, findings=("n",)),
        one("d", kind="review", score=5, at="d.py:4 d.py:9"),
    ]
    copies = [replace(each, row=replace(each.row, fingerprint=fingerprint("f"))) for each in copies]
    for order in permutations(copies):
        (row,) = joined(order)
        assert (row.kind, row.group, row.subject, row.score) == ("fail", "own", "d_gemm", 5)
        assert at(row) == "d.py:4 d.py:9 c.py:4 a.py:4 b.py:4"
        assert row.findings == ("n",)
        assert (row.fingerprint, row.questions) == (fingerprint("f"), (fingerprint("f"),))


def test_places_say_whom_they_belong_to() -> None:
    (row,) = joined([one("a", **TEXT, score=99), one("b", **TEXT), one("c", "c.py:1", **TEXT, subject="a_gemm")])
    assert {f"{place.path}: {place.says}" for place in row.places} == {
        "a.py: checked here",
        "b.py: checked here, in b_gemm",
        "c.py: checked here",
    }
    assert row.places[0].path == "a.py"


def test_a_place_is_told_once() -> None:
    (row,) = joined([one("a", "x.py:9 x.py:12", subject="f"), one("b", "x.py:9 x.py:20", subject="f")])
    assert sorted(at(row).split()) == ["x.py:12", "x.py:20", "x.py:9"]


def test_findings_of_all_are_told() -> None:
    (row,) = joined([one("a", **TOLD, findings=("x", "y")), one("b", **TOLD, findings=("y", "z"))])
    assert sorted(row.findings) == ["x", "y", "z"]


def test_a_fingerprint_is_made_of_all() -> None:
    made = [one(digit, **TEXT) for digit in "abc"]
    (known,) = joined(made)
    assert known.questions == tuple(map(fingerprint, "abc"))
    assert len(known.fingerprint) == 32 and known.fingerprint not in known.questions
    for order in permutations(made):
        (row,) = joined(order)
        assert (row.fingerprint, row.questions) == (known.fingerprint, known.questions)
    prints = {joined(some)[0].fingerprint for some in ([made[0]], made[:2], made[1:], made, [*made, one("d", **TEXT)])}
    assert len(prints) == 5


def test_a_fingerprint_outlives_moved_lines_and_copies() -> None:
    made = [one("a", **TEXT), one("b", **TEXT)]
    moved = [one("a", "z.py:400-410", **TEXT), one("b", "y.py:1", **TEXT)]
    copied = [*made, replace(made[1], row=replace(made[1].row, places=(place("c.py:7"),)))]
    prints = {row.fingerprint for some in (made, moved, copied) for row in joined(some)}
    assert len(prints) == 1


def test_a_row_by_itself_stays_as_it_is() -> None:
    made = [one("a"), one("b"), one("c", form="unit", table=())]
    assert joined(made) == [each.row for each in made]
    assert joined([]) == []


STRONG: dict[str, Any] = {"at": "x.py:3-5", "findings": ("s",)}
WEAK: dict[str, Any] = {"at": "x.py:4", "form": "amount", "findings": ("w",)}


@pytest.mark.parametrize(
    ("strong", "weak", "expected"),
    [
        ({}, {}, True),
        ({}, {"at": "x.py:3 x.py:5"}, True),
        ({}, {"at": "x.py:3-5"}, True),
        *(({}, {"form": form}, True) for form in ("amount", "build", "list", "finding")),
        *(({"form": form}, {}, True) for form in ("gate", "guard", "asked", "table")),
        *(({"kind": "fail", "form": form}, {}, True) for form in ("amount", "build", "list", "finding")),
        ({"kind": "fail"}, {"kind": "review"}, True),
        ({"kind": "review"}, {"kind": "open"}, True),
        ({"kind": "open"}, {"kind": "pass"}, True),
        ({"kind": "fail", "why": "it refuses"}, {"kind": "fail", "why": "it refuses", "table": ()}, True),
        # Another finding is told by itself.
        ({"kind": "fail", "why": "it refuses"}, {"kind": "fail", "why": "it does not fit"}, False),
        # What is less bad covers nothing.
        ({"kind": "review"}, {"kind": "fail"}, False),
        ({"kind": "open"}, {"kind": "review"}, False),
        ({"kind": "pass"}, {"kind": "open"}, False),
        # Not every line.
        ({}, {"at": "x.py:5-6"}, False),
        ({}, {"at": "x.py:4 x.py:9"}, False),
        ({}, {"at": "x.py:2"}, False),
        ({}, {"at": "y.py:4"}, False),
        ({}, {"at": "x.py:4 y.py:4"}, False),
        # What asks by itself stays, and what only names something covers nothing.
        *(({}, {"form": form}, False) for form in ("gate", "guard", "asked", "table")),
        *(({}, {"form": form}, False) for form in ("name", "product", "unit", "text", "word")),
        *(({"form": form}, {}, False) for form in ("name", "product", "unit", "text", "word")),
    ],
)
def test_what_stronger_rows_on_the_same_lines_tell(
    strong: dict[str, Any], weak: dict[str, Any], expected: bool
) -> None:
    made = [one("a", **{**STRONG, **strong}), one("b", **{**WEAK, **weak})]
    for order in (made, made[::-1]):
        found = {row.subject: row for row in joined(order)}
        assert set(found) == ({"a_gemm"} if expected else {"a_gemm", "b_gemm"})
        assert found["a_gemm"].findings == (("s", "w") if expected else ("s",))
        assert found["a_gemm"].fingerprint == fingerprint("a")


def test_a_row_on_the_lines_of_two_others_stays() -> None:
    made = [one("a", "x.py:3"), one("b", "x.py:4"), one("c", "x.py:3-4", form="amount")]
    assert joined(made) == [each.row for each in made]


def test_a_covered_row_covers_nothing_by_itself() -> None:
    made = [
        one("a", "x.py:3-5", findings=("a",)),
        one("b", "x.py:4-5", form="amount", findings=("b",)),
        one("c", "x.py:5", form="finding", findings=("a", "c")),
    ]
    for order in permutations(made):
        (row,) = joined(order)
        assert (row.subject, sorted(row.findings)) == ("a_gemm", ["a", "b", "c"])


@pytest.mark.parametrize("form", ["amount", "build", "list", "finding"])
def test_of_equal_rows_that_give_way_one_stays_in_any_order(form: str) -> None:
    made = [one("a", "x.py:3", form=form), one("b", "x.py:3", form="amount", findings=("w",))]
    kept = [(row.subject, row.findings) for row in joined(made)]
    assert len(kept) == 1 and kept[0][1] == ("w",)
    assert [(row.subject, row.findings) for row in joined(made[::-1])] == kept


def test_a_joined_row_covers_what_stands_at_any_of_its_places() -> None:
    made = [one("a", "x.py:3", **TEXT), one("b", "y.py:8", **TEXT), one("c", "x.py:3 y.py:8", form="amount")]
    (row,) = joined(made)
    assert row.questions == (fingerprint("a"), fingerprint("b"))
