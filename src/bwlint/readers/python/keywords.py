"""Keyword arguments that a file passes to a function or class."""

from __future__ import annotations

import ast
from functools import lru_cache

from bwlint.readers.python.sides import dotted


@lru_cache(maxsize=64)
def keywords_given(source: str, name: str) -> frozenset[str]:
    """The keywords that the calls of a name give it, directly or by `partial`; none where the file is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and name in map(dotted, _called(node)))
    return frozenset(one.arg for call in calls for one in call.keywords if one.arg is not None)


def _called(call: ast.Call) -> tuple[ast.expr, ...]:
    """What is called: of `partial(f, a=1)` f."""
    return (call.func, *call.args[:1]) if dotted(call.func).rpartition(".")[2] == "partial" else (call.func,)
