"""Files and their encodings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bwlint.repair.changes import TextChange
from bwlint.repair.source import EditedFile
from bwlint.sources.read import decode
from bwlint.sources.walk import SourceFile


def opened(path: Path, data: bytes) -> EditedFile | str:
    path.write_bytes(data)
    text = decode(data)
    assert isinstance(text, str)
    return EditedFile.of(SourceFile(str(path), str(path), "python", str(path.parent)), text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfabc\r\n", b"\xef\xbb\xbfaXc\r\n"),
        (b"abc # \xc3\xa9\r", b"aXc # \xc3\xa9\r"),
        (b"# coding: latin-1 \xe9\r\n", b"#Xcoding: latin-1 \xe9\r\n"),
        (b"# a\n# -*- coding: cp1252 -*-\n\x80", b"#Xa\n# -*- coding: cp1252 -*-\n\x80"),
    ],
)
def test_bytes_around_a_change_stay(tmp_path: Path, before: bytes, after: bytes) -> None:
    source = opened(tmp_path / "m.py", before)
    assert isinstance(source, EditedFile)
    assert source.then([TextChange(1, 2, "X")]).after == after


@pytest.mark.parametrize(
    ("data", "change", "fault"),
    [
        (b"# coding: latin-1\nx = 1\n", TextChange(18, 19, "\u20ac"), "cannot be written in latin-1"),
        (b"# coding: latin-1\nx = '\xe9'\n", TextChange(10, 17, "cp437"), "would not be read as it was written"),
        (b"x = 1\n", TextChange(4, 5, "("), "does not parse"),
        (b"x = 1\n", TextChange(4, 5, "2"), None),
    ],
)
def test_what_must_not_be_written(tmp_path: Path, data: bytes, change: TextChange, fault: str | None) -> None:
    source = opened(tmp_path / "m.py", data)
    assert isinstance(source, EditedFile)
    said = source.then([change]).fault(frozenset())
    assert said is None if fault is None else said and fault in said


def test_a_file_that_is_not_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"x = 2\n")
    file = SourceFile(str(path), str(path), "python", str(tmp_path))
    assert EditedFile.of(file, "x = 1\n") == "changed since it was read"
    path.unlink()
    assert isinstance(EditedFile.of(file, "x = 1\n"), str)


def test_a_link(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"x = 1\n")
    (tmp_path / "link.py").symlink_to("m.py")
    file = SourceFile(str(tmp_path / "link.py"), str(tmp_path / "m.py"), "python", str(tmp_path))
    assert EditedFile.of(file, "x = 1\n") == "bwlint does not write through a symbolic link"


@pytest.mark.parametrize(
    ("path", "named", "is_through"),
    [
        ("folder/m.py", ["folder"], False),
        ("link/m.py", ["link"], True),
        ("link/m.py", ["link/"], True),
        ("./link/m.py", ["./link/"], True),
        ("link/m.py", ["link/m.py"], True),
        ("TOP/link/m.py", ["TOP/link/"], True),
        ("TOP/link/m.py", ["TOP"], True),
        ("TOP/folder/m.py", ["TOP/folder"], False),
        ("TOP/link/inner/m.py", ["TOP/link/inner/"], False),
        ("TOP/link/inner/m.py", ["TOP/link/inner/m.py"], False),
    ],
)
def test_a_folder_that_is_a_link(
    path: str, named: list[str], is_through: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    for folder in ("folder", "folder/inner"):
        (tmp_path / folder / "m.py").write_bytes(b"x = 1\n")
    (tmp_path / "link").symlink_to("folder")
    monkeypatch.chdir(tmp_path)
    path, named = path.replace("TOP", str(tmp_path)), [name.replace("TOP", str(tmp_path)) for name in named]
    file = SourceFile(path, os.path.realpath(path), "python", str(tmp_path))
    found = EditedFile.of(file, "x = 1\n", named)
    assert (found == "bwlint does not write through a symbolic link") is is_through
