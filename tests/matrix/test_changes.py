"""Two matrices in, what differs out."""

from __future__ import annotations

import pytest

from bwlint.matrix.table import FALLBACK, KINDS, NO, UNKNOWN, YES, Cell, CellChange, Matrix, MatrixRow, compared
from bwlint.model.findings import Skipped

CHIPS = ("10.0", "12.0", "12.1")
_WORDS = {"y": YES, "-": NO, "o": FALLBACK, "?": UNKNOWN}


def table(rows: dict[str, str], *skipped: str) -> Matrix:
    """Rows by name, a letter for each of `CHIPS`: y, - (no), o (falls back), ?."""
    made = (
        MatrixRow("pkg", name, "", "pkg/ops.py", 1, {c: Cell(_WORDS[w]) for c, w in zip(CHIPS, letters, strict=True)})
        for name, letters in rows.items()
    )
    read = tuple(Skipped(path, "a socket") for path in skipped)
    return Matrix(CHIPS if rows else (), tuple(made), skipped=read, asked=CHIPS[1:])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"f": "yy-"}, {"f": "yy-"}, []),
        ({"f": "yy-"}, {"f": "yyy"}, ["better f 12.1"]),
        ({"f": "yyy"}, {"f": "yy-"}, ["worse f 12.1"]),
        ({"f": "yyy"}, {"f": "yoo"}, ["worse f 12.0", "worse f 12.1"]),
        ({"f": "y-o"}, {"f": "yoy"}, ["better f 12.0", "better f 12.1"]),
        ({"f": "???"}, {"f": "y--"}, ["worse f 12.0", "worse f 12.1", "other f 10.0"]),
        ({"f": "y--"}, {"f": "???"}, ["better f 12.0", "better f 12.1", "other f 10.0"]),
        ({"f": "o-y"}, {"f": "??y"}, ["better f 12.0", "other f 10.0"]),
        ({"f": "yyy"}, {"f": "yyy", "g": "???"}, []),
        ({"f": "yyy", "g": "yyy"}, {"f": "yyy"}, []),
        ({}, {"g": "yy-"}, ["new g 10.0", "new g 12.0", "new g 12.1"]),
        ({"g": "yy-"}, {}, ["gone g 10.0", "gone g 12.0", "gone g 12.1"]),
        ({"a": "yyy", "b": "y-y"}, {"a": "yy-", "b": "yy-"}, ["worse a 12.1", "worse b 12.1", "better b 12.0"]),
    ],
)
def test_cells_that_differ(before: dict[str, str], after: dict[str, str], expected: list[str]) -> None:
    found = compared(table(before), table(after), ("old", "new"))
    assert [f"{one.kind} {one.name} {one.chip}" for one in found.changes] == expected
    assert (found.before, found.after, found.chips) == ("old", "new", CHIPS)
    assert found.rows == len({*before, *after})


@pytest.mark.parametrize(
    ("after", "expected"), [("yyy", False), ("-yy", False), ("y-y", True), ("y?y", False), ("yoy", True)]
)
def test_only_chips_that_are_asked_about_lose(after: str, expected: bool) -> None:
    assert compared(table({"f": "yyy"}), table({"f": after}), ("old", "new")).has_lost == expected


def test_what_was_not_read_is_said_once() -> None:
    found = compared(table({"f": "yyy"}, "a", "b"), table({"f": "yyy"}, "b", "c"), ("old", "new"))
    assert [one.path for one in found.skipped] == ["a", "b", "c"]


def test_two_trees_without_files() -> None:
    assert compared(table({}), table({}), ("old", "new")).rows == 0


def test_an_operation_that_comes_or_goes_is_no_loss() -> None:
    cell = Cell(NO)
    kinds = [CellChange("m", "f", "", "12.0", *pair).kind for pair in ((None, cell), (cell, None))]
    assert kinds == list(KINDS[3:])
