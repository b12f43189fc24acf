"""A search that remembers finds what one that reads everything finds, whatever has changed in between."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bwlint.index import kept
from bwlint.index import searched as remembering
from bwlint.sources import disk, read, search
from bwlint.sources.search import Search

NAMES = ("a.py", "b.py", "sub/c.py", "k.cu", "sub/k.cuh")
TEXTS = ("run()\n", "import x\nrun = 1\nrunner = run\n", "y\n", "", "# run_all: run\r\n", "run\n" * 5)
QUESTIONS = ("run", "runner", "x =", "nowhere", "")
PATTERNS = ((rb"(\w+) = ", ()), (rb"run\w*", (b"run_", b"= run")))


def answers(folder: Path) -> list[object]:
    """All that can be asked, by a search of its own."""
    one = Search(str(folder))
    found: list[object] = [one.word(kind, name) for kind in ("python", "cuda") for name in QUESTIONS]
    found += [
        [(file, match[0]) for file, match in one.matches(kind, re.compile(pattern), texts)]
        for kind in ("python", "cuda")
        for pattern, texts in PATTERNS
    ]
    found += [one.complete(kind) for kind in ("python", "cuda")]
    one.keep()
    return found


@contextmanager
def remembered() -> Iterator[None]:
    with kept.using(), disk.watching(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_remember", remembering.searched)
        yield


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(text.encode())


EDITS = st.tuples(st.sampled_from(["write", "remove", "touch", "give"]), st.sampled_from(NAMES), st.sampled_from(TEXTS))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(EDITS, max_size=2), min_size=2, max_size=6), st.sampled_from([0, 1, 16]), st.booleans())
def test_whatever_is_edited(steps: list[list[tuple[str, str, str]]], most: int, old: bool) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BWLINT_CACHE_DIR", str(Path(scratch, "cache")))
        patch.setattr(remembering, "_MOST_CHANGED", most)
        patch.setattr(search, "MAX_HITS", 4)
        if old:  # each text has a size of its own: the status tells it, however soon it is written
            patch.setattr(disk, "SETTLED", -(10**18))
        folder = Path(scratch, "proj")
        folder.mkdir()
        for name, text in zip(NAMES, TEXTS, strict=False):
            write(folder, name, text)
        for edits in steps:
            overlay = {}
            for what, name, text in edits:
                if what == "write":
                    (folder / name).unlink(missing_ok=True)
                    write(folder, name, text)
                elif what == "remove":
                    (folder / name).unlink(missing_ok=True)
                elif what == "touch" and (folder / name).exists():
                    (folder / name).touch()
                elif what == "give" and (folder / name).exists():
                    overlay[str(folder / name)] = text.encode()
            with read.given(overlay):
                fresh = answers(folder)
                for _ in range(2):
                    with remembered():
                        assert answers(folder) == fresh


def test_what_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk, "SETTLED", -(10**18))
    folder = tmp_path / "proj"
    folder.mkdir()
    for number in range(20):
        write(folder, f"a{number}.py", f"word{number} = 1\n")

    def asked(*names: str) -> list[str]:
        """The files that are opened for it."""
        opened: list[str] = []
        real = read._read_open

        def counted(path: str, handle: int, limit: int) -> bytes | read.Unread:
            opened.append(Path(path).name)
            return real(path, handle, limit)

        with remembered(), monkeypatch.context() as patch:
            patch.setattr(read, "_read_open", counted)
            one = Search(str(folder))
            assert all(len(one.word("python", name)) == 1 for name in names)
            assert one.complete("python")
            one.keep()
        return opened

    assert len(asked("word1", "word2")) == 20
    assert asked("word1", "word2") == ["a1.py", "a2.py"]
    write(folder, "a7.py", "word7 = 1\nmore = 2\n")
    assert asked("word1") == ["a1.py", "a7.py"]
    assert asked("word2") == ["a2.py", "a7.py"]  # of the seventh nobody has asked this since it changed
    assert len(asked("word3")) == 20
    assert asked("word1", "word2", "word3") == ["a1.py", "a2.py", "a3.py"]
