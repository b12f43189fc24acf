"""Decorators: those of a tree that are functions, with the marks that they make and the skip or error in front of the
call, and parameters of tests, some of which are skipped: `pytest.param("fast", marks=pytest.mark.skipif(...))`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.model import facts
from bwlint.model.expr import Expr, negate, walk_through
from bwlint.readers.nodes import AnyFunction, below
from bwlint.readers.python.sides import SKIPS, dotted, statements

_SKIPPING = (*SKIPPING_MARKS, *SKIPS)
MAX_SLOTS = 20
"""Names that are followed from what a decorator gives back."""


def is_decorator(node: AnyFunction) -> bool:
    """Whether a function returns a function that is defined in it, and something in it may skip or raise."""
    inner = {item.name for item in node.body if isinstance(item, AnyFunction)}
    returned = (item.value for item in node.body if isinstance(item, ast.Return))
    if node.name.startswith("test") or not any(isinstance(one, ast.Name) and one.id in inner for one in returned):
        return False
    return any(map(_stops, below(node))) or any(_let_call(node))


def asks_what_it_is_given(node: AnyFunction) -> bool:
    """Whether a decorator leaves it to a function that it is given whether what it decorates is called."""
    given = {one.arg for one in node.args.args}
    return any(isinstance(test, ast.Call) and dotted(test.func) in given for test in _let_call(node))


def _stops(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise) or (
        isinstance(node, (ast.Name, ast.Attribute)) and dotted(node).endswith(_SKIPPING)
    )


def marks_made(node: AnyFunction) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of the marks that a decorator makes, each with whether such a mark skips where the test fails."""
    for statement in node.body:
        for item in below(statement) if not isinstance(statement, AnyFunction) else ():
            if isinstance(item, ast.Call) and dotted(item.func).endswith(SKIPPING_MARKS) and item.args:
                yield item.args[0], dotted(item.func).endswith("skipUnless")
    yield from ((test, True) for test in _let_call(node))


def _let_call(node: AnyFunction) -> Iterator[ast.expr]:
    """The tests without which a decorator does not call what it decorates: `if condition(): func(*args)`."""
    inner = [node, *(item for item in statements(node.body) if isinstance(item, AnyFunction))]
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


Values = Mapping[str, ast.expr]


def parameters(mark: ast.expr) -> tuple[list[str], ast.expr] | None:
    """The names and the values of `@pytest.mark.parametrize("a, b", [...])`; None of any other decorator."""
    if not isinstance(mark, ast.Call) or dotted(mark.func).rpartition(".")[2] != "parametrize":
        return None
    given = mark.args[:2] if len(mark.args) > 1 else []
    return (_names(given[0]), given[1]) if given else None


def skipped(test: AnyFunction) -> Iterator[tuple[ast.Call, list[ast.stmt]]]:
    """Each mark that skips a parameter, with what of the test runs for that parameter."""
    for names, values in filter(None, map(parameters, test.decorator_list)):
        for value in (one for one in below(values) if isinstance(one, ast.Call)):
            if dotted(value.func).rpartition(".")[2] == "param":
                given = dict(zip(names, value.args, strict=False))
                yield from ((mark, list(_runs(test.body, given))) for mark in _marks(value))


def _names(node: ast.expr) -> list[str]:
    """`"a, b"`, `("a", "b")`."""
    listed = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    texts = (one.value for one in listed if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return [name.strip() for text in texts for name in text.split(",")]


def _marks(call: ast.Call) -> Iterator[ast.Call]:
    for keyword in call.keywords:
        if keyword.arg == "marks":
            listed = keyword.value.elts if isinstance(keyword.value, (ast.List, ast.Tuple)) else [keyword.value]
            marks = (one for one in listed if isinstance(one, ast.Call))
            yield from (one for one in marks if dotted(one.func).endswith(SKIPPING_MARKS))


def _runs(body: Sequence[ast.stmt], given: Values) -> Iterator[ast.stmt]:
    """The statements that run where parameters have these values."""
    for node in body:
        holds = _holds(node.test, given) if isinstance(node, ast.If) else None
        if holds is None or not isinstance(node, ast.If):
            yield node
        else:
            yield from _runs(node.body if holds else node.orelse, given)


def _holds(test: ast.expr, given: Values) -> bool | None:
    """Whether a test of a parameter holds; None where these values do not say."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, given)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
        known, other = _value(test.left, given), _value(test.comparators[0], given)
        alike = None if known is None or other is None else known.value == other.value
        return alike if alike is None or isinstance(test.ops[0], ast.Eq) else not alike
    known = _value(test, given) if isinstance(test, ast.Name) else None
    return known.value if known is not None and isinstance(known.value, bool) else None


def _value(node: ast.expr, given: Values) -> ast.Constant | None:
    found = given.get(node.id) if isinstance(node, ast.Name) else node
    return found if isinstance(found, ast.Constant) else None
