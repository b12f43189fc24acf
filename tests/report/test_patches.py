"""The lines that fixes change, with their numbers."""

from __future__ import annotations

import pytest

from bwlint.model.findings import Edit, Region
from bwlint.report.patches import changed_lines, hunks_of, lines_of
from bwlint.sources.read import SourceText

Changed = list[tuple[str, int, str]]
Places = list[tuple[tuple[int, int, int, int], str]]
TEN = "".join(f"{number}\n" for number in range(1, 11))


@pytest.mark.parametrize(
    ("source", "edits", "changed"),
    [
        ("a\nb\n", [((1, 1, 1, 2), "c")], [("-", 1, "a"), ("+", 1, "c")]),
        ("a\nb\n", [((1, 1, 2, 1), "")], [("-", 1, "a")]),
        ("a\n", [((1, 1, 1, 1), "c\n")], [("+", 1, "c")]),
        (
            TEN,
            [((1, 1, 1, 2), "x\ny"), ((10, 1, 10, 3), "z")],
            [("-", 1, "1"), ("+", 1, "x"), ("+", 2, "y"), ("-", 10, "10"), ("+", 11, "z")],
        ),
        ("-- a\n++ b\n", [((2, 1, 2, 5), "-- c")], [("-", 2, "++ b"), ("+", 2, "-- c")]),
        ("a\r\nb\r\n", [((2, 1, 2, 2), "c")], [("-", 2, "b"), ("+", 2, "c")]),
        ("x = 1\x0c-y\nb\n", [((2, 1, 2, 2), "c")], [("-", 2, "b"), ("+", 2, "c")]),
        ("a", [((1, 1, 1, 2), "b")], [("-", 1, "a"), ("+", 1, "b")]),
    ],
)
def test_changed_lines(source: str, edits: Places, changed: Changed) -> None:
    hunks = hunks_of(
        SourceText(source), lines_of(source.encode()), [Edit("m.py", Region(*place), text) for place, text in edits]
    )
    assert list(changed_lines(hunks)) == changed


def test_nothing_is_changed_where_a_file_has_no_such_line() -> None:
    assert list(changed_lines(hunks_of(SourceText("a\n"), [b"a\n"], [Edit("m.py", Region(9, 1, 9, 1), "b")]))) == []
