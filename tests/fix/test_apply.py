"""Edits on text and bytes, writing, and diffs."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from bwlint.findings import Edit, Region
from bwlint.fix.apply import apply, apply_bytes, diff, write
from bwlint.sources.read import Unread


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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfabc\r\n", b"\xef\xbb\xbfaXc\r\n"),
        (b"abc # \xc3\xa9\r", b"aXc # \xc3\xa9\r"),
        (b"# coding: latin-1 \xe9\r\n", b"#Xcoding: latin-1 \xe9\r\n"),
        (b"# a\n# -*- coding: cp1252 -*-\n\x80", b"#Xa\n# -*- coding: cp1252 -*-\n\x80"),
    ],
)
def test_apply_bytes(before: bytes, after: bytes) -> None:
    assert apply_bytes(before, [edit(1, 2, 1, 3, "X")]) == after


@pytest.mark.parametrize("data", [b"\xff", b"# coding: nothing\n", b"\xef\xbb\xbf# coding: latin-1\n"])
def test_bytes_that_are_not_read(data: bytes) -> None:
    assert isinstance(apply_bytes(data, [edit(1, 1, 1, 1, "X")]), Unread)


def test_text_that_the_encoding_lacks() -> None:
    assert isinstance(apply_bytes(b"# coding: latin-1\nx", [edit(2, 1, 2, 2, "🎉")]), Unread)


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_write(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(str(path), b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


def test_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copymode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_write_refuses_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "m.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(OSError, match="symbolic link"):
        write(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"old"


def test_write_to_no_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write(str(tmp_path / "none" / "m.py"), b"new")


def test_no_diff() -> None:
    assert diff("m.py", "a\n", "a\n") == ""


@pytest.mark.parametrize("name", ["m.py", "a/b c.py", 'q"uo\\te.py', "t\tab.py", "é🎉.py", "n\nl.py"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nX\nc\n"),
        ("a\nb", "a\nX"),
        ("a\nb", "a\nb\n"),
        ("a\r\nb\r\nc", "a\r\nX\r\nc"),
        ("a\rb\x0c\x85\u2028c\n", "a\rX\x0c\x85\u2028c\n"),
        ("\ufeffa\nb\n", "\ufeffa\nX\n"),
        ("\n".join("0123456789" * 3), "\n".join("0123456789" * 3).replace("5", "X")),
    ],
)
def test_git_takes_the_diff(tmp_path: Path, name: str, before: str, after: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before.encode())
    patch = diff(name, before, after).encode()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True)
    assert path.read_bytes() == after.encode()
