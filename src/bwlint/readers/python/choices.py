"""Code selected by a string that a check chose: `kind = "fast"`, and `if kind == "fast":` later; and names
that are called after a generation of chips and hold numbers alone: sizes for its kernels, and no kernels.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bwlint.model.expr import Expr, is_text
from bwlint.readers.nodes import parameters
from bwlint.readers.python.given import deciding
from bwlint.readers.python.sides import leaves, statements

_GENERATION = re.compile(r"sm_?\d{2,3}", re.I)


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


def numbers(tree: ast.Module) -> frozenset[str]:
    """The names of a module that are given numbers wherever they are given anything."""
    known = list(statements(tree.body))
    given = {id(node): single[0] for node in known if (single := _assigned(node)) is not None and _is_number(single[1])}
    named = {name for name in given.values() if _GENERATION.search(name)}
    if not named:
        return frozenset()
    return frozenset(named.difference(*(_bound(node) for node in known if id(node) not in given)))


def _assigned(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """The one name that an assignment gives a value, and the value."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if len(targets) != 1 or not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return None
    return (targets[0].id, node.value) if isinstance(targets[0], ast.Name) else None


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, right=second):
            return _is_number(first) and _is_number(second)
        case ast.UnaryOp(operand=inner):
            return _is_number(inner)
    return isinstance(value, ast.Constant) and isinstance(value.value, (int, float))


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that any other statement gives a value."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (node.name, *parameters(node))
        case ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            yield from ((one.asname or one.name) for one in node.names)
        case ast.Assign(targets=targets):
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))
