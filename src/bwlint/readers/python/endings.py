"""Calls that every path of a function ends in: `return small(x) if few else large(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bwlint.model.facts import Use
from bwlint.readers.nodes import children
from bwlint.readers.python.sides import Imports, dotted
from bwlint.readers.spans import span

_OWN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def choices(body: Sequence[ast.stmt], imports: Imports) -> tuple[Use, ...]:
    """The last calls of all ways through a body, errors left out; none where one way ends in anything else."""
    found: dict[str, Use] = {}
    for call in _last_calls(body) or ():
        name = dotted(call.func)
        root, dot, rest = name.partition(".")
        if not name or root in ("self", "cls"):
            return ()
        use = Use(imports.names.get(root, root) + dot + rest, "call", span(call.func), sure=False)
        found.setdefault(use.name, use)
    return tuple(found.values()) if len(found) > 1 else ()


def _last_calls(body: Sequence[ast.stmt]) -> list[ast.Call] | None:
    if not body:
        return None
    found: list[ast.Call] = []
    for node in body[:-1]:
        if isinstance(node, ast.If):
            for side in (node.body, node.orelse):
                if not any(_returns(side)):
                    continue
                ends = _last_calls(side)
                if ends is None:
                    return None
                found += ends
        elif any(_returns([node])):
            return None
    last = _calls_of(body[-1])
    return None if last is None else found + last


def _calls_of(node: ast.stmt) -> list[ast.Call] | None:
    if isinstance(node, ast.Raise):
        return []
    if isinstance(node, ast.If):
        sides = [_last_calls(side) for side in (node.body, node.orelse)]
        return None if None in sides else [call for side in sides for call in side or ()]
    if isinstance(node, ast.With):
        return _last_calls(node.body)
    if isinstance(node, (ast.Return, ast.Expr)) and node.value is not None:
        arms = list(_arms(node.value))
        calls = [arm for arm in arms if isinstance(arm, ast.Call)]
        return calls if len(calls) == len(arms) else None
    return None


def _arms(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from _arms(value.body)
        yield from _arms(value.orelse)
    else:
        yield value


def _returns(body: Sequence[ast.AST]) -> Iterator[bool]:
    """Whether each statement of a block, those within it too, returns; those of inner definitions are not its own."""
    for node in body:
        if isinstance(node, _OWN):
            continue
        yield isinstance(node, ast.Return)
        yield from _returns([child for child in children(node) if isinstance(child, ast.stmt)])
