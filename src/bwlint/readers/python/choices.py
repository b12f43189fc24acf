"""Code selected by a string that a check chose: `kind = "fast"`, and `if kind == "fast":` later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bwlint.model.expr import Expr, is_text
from bwlint.readers.python.given import deciding
from bwlint.readers.python.sides import leaves


def of_arm(arm: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names to which an arm gives a string, each with the string."""
    for node in arm:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield node.targets[0].id, value.value


def of_value(name: str, value: Expr | None) -> Iterator[tuple[str, str]]:
    """The same of a value that is chosen for a name."""
    if name and value is not None and is_text(value):
        yield name, value.args[0]


def behind(body: Sequence[ast.stmt], name: str, text: str, line: int) -> Iterator[Sequence[ast.stmt]]:
    """The blocks of a function that surely run where `name` is still `text` after a line."""
    for index, node in enumerate(body):
        if node.lineno <= line:
            for inner in _around(node, line):
                yield from behind(inner, name, text, line)
            continue
        if _binds(node, name):
            return
        asked = deciding({name: repr(text)})(node.test) if isinstance(node, (ast.If, ast.Assert)) else None
        if isinstance(node, ast.Assert) and asked:
            yield body[index + 1 :]
            return
        if isinstance(node, ast.If) and asked is not None:
            taken, other = (node.body, node.orelse) if asked else (node.orelse, node.body)
            yield taken
            yield from behind(taken, name, text, line)
            if not asked and leaves(other):
                yield body[index + 1 :]
                return
        elif isinstance(node, (ast.With, ast.Try)):
            yield from behind(node.body, name, text, line)


def _around(node: ast.stmt, line: int) -> Iterator[list[ast.stmt]]:
    """The block of a statement in which a line is."""
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(node, field, None)
        if inner and inner[0].lineno <= line <= (inner[-1].end_lineno or 0):
            yield inner


def _binds(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
