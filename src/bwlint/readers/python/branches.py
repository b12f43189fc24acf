"""Python code that runs for a given string: `if backend == "cutlass":`, `{"cutlass": f}[key]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.model.expr import Span
from bwlint.readers.python import parse


def branches(source: str, text: str) -> Iterator[Span]:
    """The bodies of tests that `text` passes and the values under it in tables of calls; raises `ReadError`."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.If) and _asks(node.test, text):
            yield _span(node.body[0], node.body[-1])
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == text and not isinstance(value, ast.Constant):
                    yield _span(value, value)


def _span(first: ast.stmt | ast.expr, last: ast.stmt | ast.expr) -> Span:
    return Span(first.lineno, first.col_offset, last.end_lineno or last.lineno, last.end_col_offset or 0)


def _asks(test: ast.expr, text: str) -> bool:
    if isinstance(test, ast.BoolOp):
        return any(_asks(value, text) for value in test.values)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Eq, ast.In)):
        return False
    asked = (item for operand in (test.left, *test.comparators) for item in _members(operand))
    return any(isinstance(item, ast.Constant) and item.value == text for item in asked)


def _members(operand: ast.expr) -> list[ast.expr]:
    return operand.elts if isinstance(operand, (ast.Tuple, ast.List, ast.Set)) else [operand]
