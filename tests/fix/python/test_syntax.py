"""The expressions in a span, whichever of a file's they are."""

from __future__ import annotations

import ast

import pytest

from bwlint.fix.python.syntax import parse
from bwlint.readers.spans import span

SOURCE = '''\
@mark(a.b, c=lambda x: x[1:])
def f(x: int = 3, *y, **z):
    """What it is."""
    if (
        x in (1, 2)
        and not f"{x + 1} of {y!r}"
    ): return [one for one in y if one]; x = 4
    return {**z, "a": (x := 2)}
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_expressions_in_a_span_are_those_that_a_walk_finds_there(newline: str) -> None:
    syntax = parse(SOURCE.replace("\n", newline))
    assert syntax is not None
    every = [node for node in ast.walk(syntax.tree) if isinstance(node, ast.expr)]
    for place in map(span, (*every, *syntax.tree.body)):
        inside = sorted((node for node in every if place.holds(span(node))), key=span)
        assert list(syntax.within(place)) == inside
