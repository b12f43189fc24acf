"""Our walk over a syntax tree gives what that of Python gives, but for what says whether a name is read or written."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from bwlint.readers.nodes import below, children, definition_at

SOURCES = sorted((Path(__file__).parents[2] / "src" / "bwlint" / "readers").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES[:12], ids=lambda path: path.stem)
def test_the_same_nodes_in_the_same_order(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert below(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    for node in ast.walk(tree):
        assert children(node) == [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr_context)]


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


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, *b: int, c=1, **d): global e; return lambda x=2: [g.h(*a) for g in c if not d]",
        "class A(B, metaclass=C):\n    x: int = {**y, 1: 'two'}\n    async def f(self): await g",
        "try:\n    pass\nexcept* (E, F) as e:\n    raise\nfinally:\n    del a[1:2, ...]"
        if sys.version_info >= (3, 11)
        else "x",
        "match a:\n    case [None, True, B(1, c=2), {'d': 3, **e}, *f] if g: pass\n    case 1 | -2 | 'x' as h: pass",
        "import a.b as c\nfrom .. import d as e\nprint(f'{x!r:>{y}}', a < b <= c, -a, a and b or c)",
        "type X[T: int] = list[T]\ndef f[U](x: U): ..." if sys.version_info >= (3, 12) else "x",
    ],
)
def test_all_nodes_but_whether_a_name_is_read_or_written(text: str) -> None:
    tree = ast.parse(text)
    expected = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert sorted(map(id, below(tree))) == sorted(map(id, expected))
