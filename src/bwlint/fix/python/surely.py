"""Whether a place in a block is reached whatever the other conditions are, but for one gate."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bwlint.model.expr import Span
from bwlint.readers.spans import span

_CHOOSING = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WHOLE = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield)
_EXITS = ("exit", "_exit", "quit")


def surely(body: Sequence[ast.stmt], at: Span, gate: Span) -> bool:
    """Whether who is let through by a gate reaches `at`: no other test is around it, and nothing before it leaves."""
    for statement in body:
        place = span(statement)
        if place.holds(at):
            return _within(statement, at, gate)
        if place[2:] > gate[:2] and not place.holds(gate) and _leaves(statement):
            return False
    return False


def _within(statement: ast.stmt, at: Span, gate: Span) -> bool:
    if isinstance(statement, _WHOLE):
        return surely(statement.body, at, gate)
    if isinstance(statement, ast.If):
        arms = (statement.body, statement.orelse)
        return span(statement).holds(gate) and any(surely(arm, at, gate) for arm in arms)
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert)):
        return False
    choosing = (node for node in ast.walk(statement) if isinstance(node, _CHOOSING))
    return not any(span(node).holds(at) for node in choosing)


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may end what it stands in otherwise than by an error or a skip."""
    for node in ast.walk(statement):
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if isinstance(node, _LEAVING) or name in _EXITS:
            return True
    return False
