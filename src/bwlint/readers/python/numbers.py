"""Names that are called after a generation of chips and hold numbers alone: sizes for its kernels, and no kernels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.readers.nodes import parameters
from bwlint.readers.python.sides import statements

_GENERATION = re.compile(r"sm_?\d{2,3}", re.I)


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
