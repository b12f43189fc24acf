"""Tests with parameters, and those that skip some: `pytest.param("fast", marks=pytest.mark.skipif(...))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from bwlint.evaluate.names import SKIPPING_MARKS
from bwlint.readers.nodes import below
from bwlint.readers.python.sides import dotted

Values = Mapping[str, ast.expr]


def parameters(mark: ast.expr) -> tuple[list[str], ast.expr] | None:
    """The names and the values of `@pytest.mark.parametrize("a, b", [...])`; None of any other decorator."""
    if not isinstance(mark, ast.Call) or dotted(mark.func).rpartition(".")[2] != "parametrize":
        return None
    given = mark.args[:2] if len(mark.args) > 1 else []
    return (_names(given[0]), given[1]) if given else None


def skipped(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.Call, list[ast.stmt]]]:
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
