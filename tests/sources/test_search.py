"""Where a word stands in the files of a project."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from bwlint.sources import search
from bwlint.sources.search import Search


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.cu").write_text("void run();\nvoid run_all() { run(); }\n")
    (tmp_path / "b.cu").write_text("int rerun;\n")
    (tmp_path / "c.py").write_text("run()\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "d.cu").write_text("run();\n")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "word", "found"),
    [
        ("cuda", "run", [("a.cu", 1, "void run();"), ("a.cu", 2, "void run_all() { run(); }")]),
        ("cuda", "run_all", [("a.cu", 2, "void run_all() { run(); }")]),
        ("cuda", "rerun", [("b.cu", 1, "int rerun;")]),
        ("python", "run", [("c.py", 1, "run()")]),
        ("cuda", "un", []),
        ("cuda", "run_", []),
        ("cuda", "", []),
        ("ptx", "run", []),
    ],
)
def test_whole_words(project: Path, kind: str, word: str, found: list[tuple[str, int, str]]) -> None:
    hits = Search(str(project)).word(kind, word)
    assert [(Path(hit.file.real).name, hit.line, hit.text) for hit in hits] == found


def test_a_name_that_stands_in_too_many_places_is_nobodys(project: Path) -> None:
    (project / "a.cu").write_text("run();\n" * (search.MAX_HITS + 1))
    assert Search(str(project)).word("cuda", "run") == ()


def test_a_project_beyond_the_limit_is_not_complete(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Search(str(project)).complete("cuda")
    monkeypatch.setattr(search, "MAX_BYTES", 20)
    assert not Search(str(project)).complete("cuda")


def test_a_folder_of_everything_is_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_ENTRIES", 3)
    found = Search(str(project))
    assert not found.complete("cuda")
    assert found.word("cuda", "run") == ()


def test_a_project_without_files_of_a_kind(tmp_path: Path) -> None:
    pool = Search(str(tmp_path))
    words = [f"name{number}" for number in range(40)]  # after a few, an index of all words is made
    assert not any(list(pool.word("cuda", word)) for word in words)


def test_what_is_searched_is_in_memory_once(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"a{number}.py").write_bytes(b"x = 1\n" * 300_000)
    tracemalloc.start()
    try:
        assert Search(str(tmp_path)).complete("python")
        assert tracemalloc.get_traced_memory()[1] < 1.5 * 20 * 1_800_000
    finally:
        tracemalloc.stop()
