"""Commits as files: links stay links, nothing of a repository's own is run, odd names are no way out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from repair.trees import committed, git

from bwlint.sources.pypi import SourceError
from bwlint.sources.snapshot import export


def head(top: Path) -> str:
    return git(top, "rev-parse", "HEAD").strip()


def test_files_links_and_bytes(tmp_path: Path) -> None:
    top = tmp_path / "r"
    top.mkdir()
    (top / "link").symlink_to("a.py")
    (top / "crlf").write_bytes(b"a\r\nb\0\xff")
    committed(top, {"a.py": "x = 1\n", "\u00fc b/c.py": "", ".gitattributes": "*.py filter=touch export-ignore\n"})
    git(top, "config", "filter.touch.smudge", f"touch {tmp_path / 'sprung'}; cat")
    assert export(str(top), head(top), tmp_path / "out") == 0
    out = tmp_path / "out"
    assert (out / "link").readlink() == Path("a.py") and (out / "crlf").read_bytes() == b"a\r\nb\0\xff"
    assert (out / "a.py").read_text() == "x = 1\n" and (out / "\u00fc b" / "c.py").exists()
    assert not (tmp_path / "sprung").exists()


def made(top: Path, rows: bytes) -> str:
    """A commit of a tree that git itself would not make."""
    asked = {"cwd": top, "check": True, "capture_output": True}
    tree = subprocess.run(["git", "hash-object", "--literally", "-t", "tree", "-w", "--stdin"], input=rows, **asked)  # type: ignore[call-overload]
    return git(top, "commit-tree", "-m", "odd", tree.stdout.decode().strip()).strip()


@pytest.mark.parametrize("name", [b"..", b".git", b".GIT"])
def test_odd_names_are_left_out(tmp_path: Path, name: bytes) -> None:
    top = tmp_path / "r"
    top.mkdir()
    committed(top, {"x/config": "[core]\n"})
    folder = bytes.fromhex(git(top, "rev-parse", "HEAD:x").strip())
    assert export(str(top), made(top, b"40000 " + name + b"\0" + folder), tmp_path / "out") == 0
    assert [path for path in tmp_path.rglob("config") if "r" not in path.relative_to(tmp_path).parts] == []


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    top = tmp_path / "r"
    top.mkdir()
    (top / "l").symlink_to(tmp_path)
    committed(top, {"x/config": ""})
    link = bytes.fromhex(git(top, "rev-parse", "HEAD:l").strip())
    folder = bytes.fromhex(git(top, "rev-parse", "HEAD:x").strip())
    commit = made(top, b"120000 l\0" + link + b"40000 l\0" + folder)
    assert export(str(top), commit, tmp_path / "out") == 1
    assert not (tmp_path / "config").exists()


def test_what_is_no_commit_is_refused(tmp_path: Path) -> None:
    committed(tmp_path, {"a.py": ""})
    with pytest.raises(SourceError, match="cannot list"):
        export(str(tmp_path), "0" * 40, tmp_path / "out")
