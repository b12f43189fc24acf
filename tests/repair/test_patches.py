"""Series of patches, as git takes them."""

from __future__ import annotations

import email
import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from repair.trees import GUARD, committed, contents, git, put

from bwlint.model.findings import Fix, Proof
from bwlint.repair.passes import repaired
from bwlint.repair.patches import NotOurs, Series, check_folder, proof_of, save, series
from bwlint.run.request import CheckRequest
from bwlint.sources.worktree import top_of

LISTED = (
    "import torch\n\ndef g():\n    cap = torch.cuda.get_device_capability()\n    if cap not in [(10, 0), (12, 0)]:\n"
)
LISTED += '        raise RuntimeError("no")\n'
FILES = {
    "pkg/a.py": GUARD,
    "pkg/b.py": GUARD.replace("fast", "other"),
    "pkg/deep/c.py": LISTED,
    "pkg/crlf.py": GUARD.replace("\n", "\r\n"),
    "tools/bom.py": "\ufeff" + GUARD + "x = 1",
    "\u00fc b/\u00e9.py": GUARD,
    "README": "text\n",
}


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    top_of.cache_clear()
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def made(*paths: Path) -> Iterator[Series]:
    with ExitStack() as stack:
        yield series(repaired(CheckRequest(tuple(map(str, paths)), fixes=True), stack))


def tree(folder: Path) -> dict[str, bytes]:
    committed(folder, FILES)
    return contents(folder)


def test_one_patch_a_rule_and_folder(tmp_path: Path) -> None:
    before = tree(tmp_path / "tree")
    with made(tmp_path / "tree") as found:
        assert list(found.patches) == [
            "0001-pkg-treat-12.1-like-12.0.patch",
            "0002-pkg-deep-c.py-treat-12.1-like-12.0.patch",
            "0003-tools-bom.py-treat-12.1-like-12.0.patch",
            "0004-b-.py-treat-12.1-like-12.0.patch",
        ]
    assert contents(tmp_path / "tree") == before


def test_a_patch_is_a_mail_that_says_what_why_and_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path / "tree")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Some Bödy <x>")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "some@example.org\nX: y")
    with made(tmp_path / "tree") as found:
        data = list(found.patches.values())[1]
    mail = email.message_from_bytes(data.partition(b"\n")[2])
    assert mail["Subject"] == "[PATCH 2/4] pkg/deep/c.py: treat 12.1 like 12.0"
    assert mail["Date"] is None
    assert mail["X"] is None
    text = data.decode()
    for part in ("From: Some Bödy x <", "A gate admits one member", "before: ", "after: ", "because: "):
        assert part in text
    assert "pkg/deep/c.py:5:" in text
    assert "bwlint rule: family-split (BW101)" in text
    assert max(len(line) for line in text.partition("---\n")[0].splitlines()) <= 120


@pytest.mark.parametrize(
    ("after", "evidence", "rows"),
    [
        (("12.0", "12.1"), "seen", ("before: 12.0 only", "after: 12.x", "because: seen")),
        (("12.0",), "seen (unsafe: it may not run)", ("because: seen", "unsafe: it may not run")),
        (("12.0",), "none (unsafe: it (the kernel) may not run)", ("unsafe: it (the kernel) may not run",)),
        (("12.0",), "(unsafe: nobody ran it)", ("unsafe: nobody ran it",)),
        (("12.0",), "none", ()),
    ],
)
def test_the_rows_of_a_proof(after: tuple[str, ...], evidence: str, rows: tuple[str, ...]) -> None:
    fix = Fix("unsafe", "admit", "Write it", (), Proof(("12.0",), ("12.0",), after, after, evidence))
    assert proof_of(fix) == ("Write it", *rows)


def test_the_same_tree_gives_the_same_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path / "one")
    tree(tmp_path / "other")
    with made(tmp_path / "one") as first, made(tmp_path / "other") as second:
        assert first == second
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05 +0000")
    with made(tmp_path / "one") as dated:
        assert all(b"Date: 2026-01-02T03:04:05 +0000\n" in data for data in dated.patches.values())


def test_each_applies_alone_and_all_in_any_order(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    before = tree(folder)
    with made(folder) as found:
        patches = list(found.patches.values())
    after = set()
    for order in ((0,), (1,), (2,), (3,), *itertools.permutations(range(4))):
        for number in order:
            git(folder, "apply", "--check", "-", stdin=patches[number])
            git(folder, "apply", "-", stdin=patches[number])
        changed = contents(folder)
        assert changed != before
        if len(order) == 4:
            after.add(tuple(changed.items()))
        put(folder, before)
    assert len(after) == 1


def test_git_am(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    tree(folder)
    with ExitStack() as stack:
        done = repaired(CheckRequest((str(folder),), fixes=True), stack)
        save(series(done), tmp_path / "out")
        expected = {Path(source.file.real): source.after for source in done.changed}
    names = [str(path) for path in sorted((tmp_path / "out").iterdir())]
    for name in names:
        git(folder, "am", "--keep-cr", name)
        git(folder, "reset", "-q", "--hard", "HEAD~1")
    git(folder, "am", "--keep-cr", *names)
    assert {path: path.read_bytes() for path in expected} == expected
    log = git(folder, "log", "-4", "--format=%s%n%b", "--reverse")
    assert log.startswith("pkg: treat 12.1 like 12.0\nA gate admits")
    assert git(folder, "status", "--porcelain") == ""


def test_rules_that_touch_the_same_lines_are_one_change(tmp_path: Path) -> None:
    """Two places within a few lines cannot be applied one after the other."""
    from dataclasses import replace

    from bwlint.repair.passes import Done, Repaired

    put(tmp_path, {"a.py": GUARD + GUARD.replace("import torch\n", "").replace("fast", "second") + "\n" * 30 + LISTED})
    with ExitStack() as stack:
        done = repaired(CheckRequest((str(tmp_path),), fixes=True), stack)
        assert len(done.done) == 3

        def renamed(one: Done, rule: str) -> Done:
            return replace(one, wish=replace(one.wish, finding=replace(one.wish.finding, name=rule)))

        first, second, third = done.done
        mixed: Repaired = replace(done, done=(first, renamed(second, "test-gate"), third))
        assert len(series(done).patches) == 1
        assert len(series(mixed).patches) == 2
        text = next(iter(series(mixed).patches.values())).decode()
        assert "bwlint rule: family-split (BW101)\nbwlint rule: test-gate" in text
        later = replace(done, done=(first, second, replace(third, number=2, seen_at_first=False)))
        assert (len(series(later).patches), series(later).later) == (1, 1)


@pytest.mark.parametrize("name", ["notes.txt", "0001-x.patch", ".hidden", "1-x.patch"])
def test_a_folder_with_something_else_in_it(tmp_path: Path, name: str) -> None:
    put(tmp_path, {name: "mine\n"})
    with pytest.raises(NotOurs, match="no patch of bwlint"):
        save(Series({"0001-a.patch": b"x"}, 0), tmp_path)
    assert contents(tmp_path) == {name: b"mine\n"}


def test_links_and_files_in_the_place_of_the_folder(tmp_path: Path) -> None:
    put(tmp_path, {"file": "mine\n", "out/0001-a.py.patch": b"From " + b"0" * 40 + b" Mon Sep 17 00:00:00 2001\n"})
    assert len(check_folder(tmp_path / "out")) == 1
    (tmp_path / "out" / "0002-b.patch").symlink_to(tmp_path / "out" / "0001-a.py.patch")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")
    for name in ("out", "file", "nowhere"):
        with pytest.raises(NotOurs):
            check_folder(tmp_path / name)
    assert check_folder(tmp_path / "new") == []


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_earlier_series_is_replaced(tmp_path: Path) -> None:
    tree(tmp_path / "tree")
    out = tmp_path / "out" / "deep"
    with made(tmp_path / "tree") as found:
        save(found, out)
        assert names(out) == sorted(found.patches)
        save(Series(dict(list(found.patches.items())[:1]), 0), out)
        assert names(out) == list(found.patches)[:1]
        save(Series({}, 0), out)
        assert names(out) == []
