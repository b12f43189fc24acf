"""Decorators of a tree that are functions: the marks that they make, and the skip or error in front of the call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.model import facts
from bwlint.model.expr import Expr, negate, walk_through
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import SKIPS, dotted, statements

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPPING = (*SKIPPING_MARKS, *SKIPS)
MAX_SLOTS = 20
"""Names that are followed from what a decorator gives back."""


def is_decorator(node: Function) -> bool:
    """Whether a function returns a function that is defined in it, and something in it may skip or raise."""
    inner = {item.name for item in node.body if isinstance(item, Function)}
    returned = (item.value for item in node.body if isinstance(item, ast.Return))
    if node.name.startswith("test") or not any(isinstance(one, ast.Name) and one.id in inner for one in returned):
        return False
    return any(map(_stops, below(node))) or any(_let_call(node))


def asks_what_it_is_given(node: Function) -> bool:
    """Whether a decorator leaves it to a function that it is given whether what it decorates is called."""
    given = {one.arg for one in node.args.args}
    return any(isinstance(test, ast.Call) and dotted(test.func) in given for test in _let_call(node))


def _stops(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) or (
        isinstance(node, (ast.Name, ast.Attribute)) and dotted(node).endswith(_SKIPPING)
    )


def marks_made(node: Function) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of the marks that a decorator makes, each with whether such a mark skips where the test fails."""
    for statement in node.body:
        for item in below(statement) if not isinstance(statement, Function) else ():
            if isinstance(item, ast.Call) and dotted(item.func).endswith(SKIPPING_MARKS) and item.args:
                yield item.args[0], dotted(item.func).endswith("skipUnless")
    yield from ((test, True) for test in _let_call(node))


def _let_call(node: Function) -> Iterator[ast.expr]:
    """The tests without which a decorator does not call what it decorates: `if condition(): func(*args)`."""
    inner = [node, *(item for item in statements(node.body) if isinstance(item, Function))]
    decorated = {one.arg for around in inner for one in around.args.args[:1]}
    for wrapper in inner:
        for item in wrapper.body:
            first = item.body[0] if isinstance(item, ast.If) else None
            call = first.value if isinstance(first, (ast.Expr, ast.Return)) else None
            if isinstance(item, ast.If) and isinstance(call, ast.Call) and dotted(call.func) in decorated:
                yield item.test


def stops_of(function: facts.Function, slots: Sequence[Expr]) -> Iterator[Expr]:
    """The tests on which a function within a decorator skips, raises, or hands on a mark that skips."""
    for path, value in function.returns:
        for node in walk_through(value, slots, MAX_SLOTS):
            name = _called(node)
            if path and (name in SKIPS or node.op == "raise"):
                yield path[0] if len(path) == 1 else Expr("and", (path,), value.at)
            elif name.endswith(SKIPPING_MARKS) and node.args[1]:
                yield negate(node.args[1][0]) if name.endswith("skipUnless") else node.args[1][0]


def _called(node: Expr) -> str:
    """The last name of what a call calls, or of what is raised."""
    if node.op == "raise":
        return str(node.args[0]).rpartition(".")[2]
    target = node.args[0] if node.op == "call" else None
    return str(target.args[1]) if target is not None and target.op in ("attr", "import") else ""
