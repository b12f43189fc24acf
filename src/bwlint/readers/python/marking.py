"""Decorators of a tree that skip a test and are functions of the function: the marks that they make, or the skip that
they put in front of the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import SKIPS, dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef


def skips_on(node: Function) -> Iterator[tuple[ast.expr, bool]]:
    """The tests on which a decorator skips what it decorates, each with whether it skips where the test fails; none
    where a function is no such decorator.
    """
    wrappers = [item for item in node.body if isinstance(item, Function)]
    names = {wrapper.name for wrapper in wrappers}
    if node.name.startswith("test") or not any(_gives_back(item, names) for item in node.body):
        return
    for item in _calls(node):
        if dotted(item.func).endswith(SKIPPING_MARKS) and item.args:
            yield item.args[0], dotted(item.func).endswith("skipUnless")
    for wrapper in wrappers:
        yield from ((test, False) for test in _in_front(wrapper))


def _gives_back(node: ast.stmt, names: set[str]) -> bool:
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id in names


def _calls(node: Function) -> Iterator[ast.Call]:
    for statement in node.body:
        yield from (item for item in below(statement) if isinstance(item, ast.Call))


def _in_front(wrapper: Function) -> Iterator[ast.expr]:
    """The tests of a wrapper, or of the one in it, that end in a skip."""
    for item in wrapper.body:
        if isinstance(item, Function):
            yield from _in_front(item)
        elif isinstance(item, ast.If) and any(_is_skip(inner) for inner in item.body):
            yield item.test


def _is_skip(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr | ast.Return) else node.exc if isinstance(node, ast.Raise) else None
    return isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in SKIPS
