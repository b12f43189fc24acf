"""Changed lines, and diffs that git takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.trees import git

from bwlint.repair.changes import TextChange
from bwlint.repair.source import EditedFile
from bwlint.report.patches import Block, lines_of, near, spliced
from bwlint.sources.walk import SourceFile

FILE = SourceFile("m.py", "/none/m.py", "python", "/none")


def source(before: str, changes: list[TextChange], codec: str = "utf-8") -> EditedFile:
    return EditedFile(FILE, before.encode(codec), codec, before, tuple(changes))


@pytest.mark.parametrize(
    ("before", "changes", "expected"),
    [
        ("a\nb\nc\n", [], []),
        ("a\nb\nc\n", [TextChange(2, 3, "X")], [Block(1, 2, (b"X\n",))]),
        ("a\nb\nc\n", [TextChange(2, 3, "b")], []),
        ("a\nb\nc\n", [TextChange(2, 4, "")], [Block(1, 2, ())]),
        ("a\nb\nc\n", [TextChange(2, 2, "X\n")], [Block(1, 1, (b"X\n",))]),
        ("a\nb\nc\n", [TextChange(0, 1, "X"), TextChange(4, 5, "Y")], [Block(0, 1, (b"X\n",)), Block(2, 3, (b"Y\n",))]),
        ("abc\n", [TextChange(0, 1, "X"), TextChange(2, 3, "Y")], [Block(0, 1, (b"XbY\n",))]),
        ("a\nb\nc\n", [TextChange(0, 3, "a\nX")], [Block(1, 2, (b"X\n",))]),
        ("a", [TextChange(1, 1, "\n")], [Block(0, 1, (b"a\n",))]),
        ("a\n", [TextChange(2, 2, "b")], [Block(1, 1, (b"b",))]),
        ("a\nb", [TextChange(0, 3, "")], [Block(0, 2, ())]),
        (
            "a\nb\nc",
            [TextChange(0, 1, "1\n2"), TextChange(4, 5, "Y")],
            [Block(0, 1, (b"1\n", b"2\n")), Block(2, 3, (b"Y",))],
        ),
    ],
)
def test_blocks(before: str, changes: list[TextChange], expected: list[Block]) -> None:
    made = source(before, changes)
    assert made.blocks == expected
    assert spliced(lines_of(made.data), expected) == made.after


def test_lines_that_follow_each_other_are_told_together() -> None:
    made = source("a\nb\nc\n", [TextChange(0, 1, "X"), TextChange(2, 3, "Y")])
    diff = made.diff("m.py", made.blocks)
    assert diff.endswith(b"@@ -1,3 +1,3 @@\n-a\n-b\n+X\n+Y\n c\n")


def test_near_blocks_are_one_hunk() -> None:
    first, second, third = Block(0, 1, ()), Block(7, 8, ()), Block(15, 16, ())
    assert near([first, second, third]) == [[first, second], [third]]


@pytest.mark.parametrize("name", ["m.py", "a/b c.py", 'q"uo\\te.py', "t\tab.py", "é🎉.py", "n\nl.py"])
@pytest.mark.parametrize(
    ("before", "changes", "codec"),
    [
        ("a\nb\nc\n", [TextChange(2, 3, "X")], "utf-8"),
        ("a\nb", [TextChange(2, 3, "X")], "utf-8"),
        ("a\nb", [TextChange(3, 3, "\n")], "utf-8"),
        ("a\nb\n", [TextChange(3, 4, "")], "utf-8"),
        ("a\r\nb\r\nc", [TextChange(3, 4, "X")], "utf-8"),
        ("a\rb\x0c\x85\u2028c\n", [TextChange(2, 3, "X")], "utf-8"),
        ("a\nb\n", [TextChange(0, 1, "X")], "utf-8-sig"),
        ("# \xe9\nb\n", [TextChange(4, 5, "\xe8")], "latin-1"),
        ("\tif a:\n\t\tb\n", [TextChange(4, 5, "c")], "utf-8"),
        (
            "\n".join("0123456789" * 3),
            [TextChange(10, 11, "X\nY"), TextChange(30, 33, ""), TextChange(50, 51, "Z")],
            "utf-8",
        ),
    ],
)
def test_git_takes_the_diff(tmp_path: Path, name: str, before: str, changes: list[TextChange], codec: str) -> None:
    made = source(before, changes, codec)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(made.data)
    git(tmp_path, "init", "-q")
    git(tmp_path, "apply", "-", stdin=made.diff(name, made.blocks))
    assert path.read_bytes() == made.after


def test_some_hunks_of_a_file_apply_without_the_others(tmp_path: Path) -> None:
    before = "".join(f"{number}\n" for number in range(60))
    offsets = [before.index(f"\n{line}\n") + 1 for line in (10, 30, 50)]
    made = source(before, [TextChange(at, at + 2, f"X\nY{at}") for at in offsets])
    old, groups = lines_of(made.data), near(made.blocks)
    assert len(groups) == 3
    git(tmp_path, "init", "-q")
    for order in ([0], [1], [2], [2, 0, 1], [1, 2]):
        (tmp_path / "m.py").write_bytes(made.data)
        for number in order:
            git(tmp_path, "apply", "-", stdin=made.diff("m.py", groups[number]))
        chosen = [block for number in sorted(order) for block in groups[number]]
        assert (tmp_path / "m.py").read_bytes() == spliced(old, chosen)
