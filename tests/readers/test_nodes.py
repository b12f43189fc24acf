"""Our walk over a syntax tree gives what that of Python gives."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bwlint.readers.nodes import below, definition_at

SOURCES = sorted((Path(__file__).parents[2] / "src" / "bwlint" / "readers").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES[:12], ids=lambda path: path.stem)
def test_the_same_nodes_in_the_same_order(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert below(tree) == list(ast.walk(tree))


NESTED = '''\
import a

@a.mark(
    1)
def one(
    x=2,
):
    """Not here:
def two():
    """
    class Inner:
        async def deep(self):
            return 1
    return 3
if a:
    four = 4
class Five:
    six = 6
    def seven(self): return lambda: 7
'''


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (1, "<module>"),
        (3, "<module>"),
        (5, "one"),
        (6, "one"),
        (9, "one"),
        (11, "one.Inner"),
        (13, "one.Inner.deep"),
        (14, "one"),
        (16, "<module>"),
        (18, "Five"),
        (19, "Five.seven"),
        (99, "<module>"),
    ],
)
def test_the_definition_around_a_line(line: int, name: str) -> None:
    assert definition_at(NESTED, line) == name


@pytest.mark.parametrize("source", ["def f(:\n  x", "x = 1\0", "(" * 100_000])
def test_what_is_no_python_has_none(source: str) -> None:
    assert definition_at(source, 1) == "<module>"
