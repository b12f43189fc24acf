"""The outline of a file says the same, whether it was parsed now or an earlier run has asked for a part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bwlint.evaluate.sources import Sources
from bwlint.index import kept
from bwlint.model.outline import Outline
from bwlint.readers.python import outline as reader
from bwlint.world.outlines import Outlines
from bwlint.world.tree import Tree

SOURCE = """from a.b import c, d as e
from f import *

class K(c):
    def __init__(self):
        self.inner = e()

    def run(self, mode="x"):
        if mode == "y":
            raise OSError
        return self.inner.go()

def first():
    return K()

def second(x, **rest):
    return first()
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BWLINT_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    return path


def outline(file: Path) -> tuple[Outlines, Outline]:
    outlines = Outlines(Tree(Sources(), lambda path, dotted: None))
    found = outlines.of(str(file), "k")
    assert found is not None
    return outlines, found


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The files that are parsed."""
    parsed: list[str] = []
    real = reader.outline

    def counted(path: str, source: str, name: str, is_package: bool) -> Outline:
        parsed.append(path)
        return real(path, source, name, is_package)

    with monkeypatch.context() as patch:
        patch.setattr(reader, "outline", counted)
        yield parsed


def at_y(found: Outline) -> object:
    return found.instances("K.run", ("mode='y'",), lambda _: None) if found.instances is not None else None


QUESTIONS: list[Callable[[Outline], object]] = [
    lambda found: found.definitions["first"],
    lambda found: list(found.definitions.values()),
    lambda found: "second" in found.definitions and "third" not in found.definitions,
    lambda found: list(found.places.items()),
    lambda found: (found.imports, found.stars, found.picked, found.path, found.name, found.is_package),
    at_y,
]


@pytest.mark.parametrize("asked", range(len(QUESTIONS)))
def test_what_was_asked_is_answered_without_parsing_and_the_rest_with_it(
    asked: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = outline(file)[1]
    assert at_y(fresh)
    with kept.using():
        outlines, found = outline(file)
        QUESTIONS[asked](found)
        outlines.keep()
    with kept.using(), counting(monkeypatch) as parsed:
        outlines, found = outline(file)
        assert QUESTIONS[asked](found) == QUESTIONS[asked](fresh)
        assert parsed == []
        assert [question(found) for question in QUESTIONS] == [question(fresh) for question in QUESTIONS]
        assert parsed == [str(file)]
        outlines.keep()
    with kept.using(), counting(monkeypatch) as parsed:
        found = outline(file)[1]
        assert [question(found) for question in QUESTIONS] == [question(fresh) for question in QUESTIONS]
        assert parsed == []


def test_another_content_is_another_outline(file: Path) -> None:
    with kept.using():
        outlines, found = outline(file)
        assert "first" in found.definitions
        outlines.keep()
    file.write_text(SOURCE.replace("first", "third"))
    with kept.using():
        assert "first" not in outline(file)[1].definitions


def test_what_cannot_be_parsed_has_none(file: Path) -> None:
    file.write_text("def f(:\n")
    with kept.using():
        assert Outlines(Tree(Sources(), lambda path, dotted: None)).of(str(file), "k") is None
