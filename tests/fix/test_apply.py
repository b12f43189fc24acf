"""Edits on text."""

from __future__ import annotations

import pytest

from bwlint.fix.edited import apply
from bwlint.model.findings import Edit, Region


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit("m.py", Region(line, column, end_line, end_column), text)


@pytest.mark.parametrize(
    ("source", "edits", "after"),
    [
        ("abc\n", [], "abc\n"),
        ("abc\n", [edit(1, 2, 1, 3, "X")], "aXc\n"),
        ("abc\n", [edit(1, 3, 1, 4, "Y"), edit(1, 1, 1, 2, "X")], "XbY\n"),
        ("abc\n", [edit(1, 1, 1, 3, "X"), edit(1, 2, 1, 4, "Y")], "Xc\n"),
        ("abc\n", [edit(1, 2, 1, 2, "X")] * 2, "aXbc\n"),
        ("abc\n", [edit(1, 2, 1, 2, "X"), edit(1, 2, 1, 2, "Y")], "aXbc\n"),
        ("abc\n", [edit(1, 1, 1, 2, "X"), edit(1, 2, 1, 2, "Y")], "Xbc\n"),
        ("abc\n", [edit(1, 2, 1, 2, "X"), edit(1, 2, 1, 3, "Y")], "aXYc\n"),
        ("🎉ab\r\n🎉cd", [edit(2, 3, 2, 4, "X")], "🎉ab\r\n🎉Xd"),
        ("a\r\nb\rc\nd", [edit(1, 2, 4, 1, "")], "ad"),
    ],
)
def test_apply(source: str, edits: list[Edit], after: str) -> None:
    assert apply(source, edits) == after
