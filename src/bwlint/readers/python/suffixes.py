"""A number that is read out of the name of a target where all that is left of it are digits.

`n = arch.replace("sm_", ""); int(n) if n.isdigit() else -1`: of "sm_120a" this is -1. Each comes out as an operation of
kind as-text, whose amount is an `if` over what is taken else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips.spelling import member
from bwlint.model.expr import Expr, const
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, whole
from bwlint.readers.python.least import Function, called
from bwlint.readers.spans import span

_ASKS = ("isdigit", "isdecimal", "isnumeric")
_TAKES_PREFIX = ("replace", "removeprefix", "lstrip")
_ANY_TARGET = "90"


def may_hold(data: bytes) -> bool:
    return b"sm_" in data and any(word.encode() in data for word in _ASKS)


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    for function in (one for one in whole(tree) if isinstance(one, Function)):
        stripped = {name for node in below(function) for name in _without_prefix(node)}
        for node in below(function) if stripped else ():
            if isinstance(node, ast.IfExp) and _asked(node) in stripped:
                at = span(node)
                yield Operation(
                    "as-text",
                    ast.unparse(node),
                    at,
                    amounts=(Expr("if", (const(True), const(0), const(ast.unparse(node.orelse))), at),),
                    qualname=function.name,
                )


def _without_prefix(node: ast.AST) -> Iterator[str]:
    """The names that are all of a target's name but what stands in front of its number."""
    value = node.value if isinstance(node, ast.Assign) else None
    if isinstance(value, ast.Call) and called(value) in _TAKES_PREFIX and value.args:
        prefix = value.args[0].value if isinstance(value.args[0], ast.Constant) else None
        if isinstance(prefix, str) and member(prefix + _ANY_TARGET) is not None:
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))  # type: ignore[attr-defined]


def _asked(node: ast.IfExp) -> str:
    """The name that is made a number of, if all of it are digits, and else something that is written down."""
    test, number = node.test, node.body
    if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr in _ASKS):
        return ""
    subject = test.func.value
    if not isinstance(subject, ast.Name) or not isinstance(number, ast.Call) or called(number) != "int":
        return ""
    made = number.args[0] if len(number.args) == 1 else None
    fixed = isinstance(node.orelse, ast.Constant | ast.UnaryOp)
    return subject.id if isinstance(made, ast.Name) and made.id == subject.id and fixed else ""
