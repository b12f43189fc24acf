"""What is asked of git, and what a repository cannot make it do."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from repair.trees import committed, git, put

from bwlint.sources import worktree
from bwlint.sources.pypi import SourceError
from bwlint.sources.worktree import base_of, export, origin_of, top_of, tops, uncommitted


@pytest.fixture(autouse=True)
def no_memory() -> None:
    top_of.cache_clear()


def test_uncommitted(tmp_path: Path) -> None:
    committed(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    top = str(tmp_path)
    assert not uncommitted(top)
    put(tmp_path, {"new.py": "x = 1\n"})
    assert not uncommitted(top), "what git does not know is nobody's change"
    put(tmp_path, {"a.py": "x = 2\n"})
    assert uncommitted(top)
    git(tmp_path, "add", "a.py")
    assert not uncommitted(top), "what is staged can be told from what is fixed"
    (tmp_path / "b.py").unlink()
    assert uncommitted(top)


def test_no_repository_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not uncommitted(str(tmp_path))
    committed(tmp_path / "tree", {"a.py": "x = 1\n"})
    put(tmp_path / "tree", {"a.py": "x = 2\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not uncommitted(str(tmp_path / "tree"))


def test_a_git_of_the_tree_itself_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path, {"a.py": "x = 1\n"})
    trap(tmp_path / "git", tmp_path / "sprung")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not uncommitted(str(tmp_path))
    assert not (tmp_path / "sprung").exists()


def trap(program: Path, sprung: Path) -> str:
    """A program that says that it was run."""
    program.write_text(f"#!/bin/sh\necho sprung > {sprung}\ncat\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


@pytest.mark.parametrize(
    "settings",
    [
        ["core.fsmonitor={}"],
        ["core.hooksPath={folder}"],
        ["filter.evil.clean={}", "filter.evil.smudge={}"],
        ["filter.evil.process={}", "filter.evil.required=true"],
        ["filter.e=vil.clean={}"],
        ["core.pager={}", "pager.status={}"],
        ["core.sshCommand={}", "remote.origin.url=ext::{}", "remote.origin.promisor=true"],
        ["alias.status=!{}", "alias.config=!{}"],
        ["diff.external={}", "core.editor={}", "credential.helper={}", "gpg.program={}"],
    ],
)
def test_nothing_that_a_repository_names_is_run(tmp_path: Path, settings: list[str]) -> None:
    tree, sprung = tmp_path / "tree", tmp_path / "sprung"
    committed(tree, {"a.py": "x = 1\n", "sub/b.py": "x = 1\n"})
    program = trap(tmp_path / "trap", sprung)
    for name in ("post-index-change", "pre-commit", "fsmonitor-watchman"):
        trap(tmp_path / name, sprung)
        trap(tree / ".git" / "hooks" / name, sprung)
    for entry in settings:
        key, _, value = entry.format(program, folder=tmp_path).rpartition("=")
        section, name = key.rpartition(".")[::2]
        first, _, rest = section.partition(".")
        with (tree / ".git" / "config").open("a") as config:
            config.write(f'[{first} "{rest}"]\n' if rest else f"[{first}]\n")
            config.write(f"\t{name} = {value}\n")
    put(tree, {".gitattributes": "* filter=evil\n*.py filter=e=vil\n", "a.py": "x = 2\n"})
    os.utime(tree / "sub" / "b.py", (1, 1))
    uncommitted(str(tree))
    assert not sprung.exists()
    assert not (tree / ".git" / "index.lock").exists()


def test_what_has_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path, {"a.py": "x = 1\n"})
    os.mkfifo(tmp_path / "fifo")
    git(tmp_path, "config", "include.path", str(tmp_path / "fifo"))
    monkeypatch.setattr(worktree, "SECONDS", 0.5)
    assert not uncommitted(str(tmp_path))


def test_variables_of_a_hook_do_not_steer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path / "one", {"a.py": "x = 1\n"})
    committed(tmp_path / "other", {"a.py": "x = 1\n"})
    put(tmp_path / "one", {"a.py": "x = 2\n"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert uncommitted(str(tmp_path / "one"))


def test_where_paths_are_told_from(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git")
    for name in ("tree/.git", "tree/pkg/deep", "plain/one", "plain/two"):
        (tmp_path / name).mkdir(parents=True)
    tree, plain = tmp_path / "tree", tmp_path / "plain"
    inside = [str(tree / "pkg" / "a.py"), str(tree / "pkg" / "deep" / "b.py")]
    assert base_of(inside, str(tree)) == str(tree)
    assert base_of(inside, str(tree / "pkg")) == str(tree)
    assert base_of(inside, str(plain)) == str(tree)
    both = [str(plain / "one" / "a"), str(plain / "two" / "b")]
    assert base_of(both, str(plain / "one")) == str(plain)
    assert base_of(both, str(tmp_path)) == str(tmp_path)
    assert base_of(both[:1], str(plain)) == str(plain)
    assert tops([*inside, str(plain / "one" / "a")])[-1] == str(tree)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.org/o/r.git", "https://example.org/o/r.git"),
        ("https://user:secret@example.org:8443/o/r", "https://example.org:8443/o/r"),
        ("git@example.org:o/r.git", "ssh://example.org/o/r.git"),
        ("ssh://git@example.org/o/a b", "ssh://example.org/o/a%20b"),
        ("/srv/git/r.git", None),
        ("../r", None),
        ("file:///srv/r.git", None),
        ("C:/work/r", None),
        ("ext::sh -c id", None),
        ("https://example.org:port/r", None),
        ("", None),
    ],
)
def test_the_address_of_the_origin_has_no_secrets(tmp_path: Path, address: str, expected: str | None) -> None:
    committed(tmp_path, {"a.py": "x = 1\n"})
    if address:
        git(tmp_path, "config", "remote.origin.url", address)
    assert origin_of(str(tmp_path)) == expected


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
