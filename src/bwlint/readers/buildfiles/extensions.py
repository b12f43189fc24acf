"""A setup.py with several extensions: the sources and the flags that are handed to each of them, followed by name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bwlint.readers.nodes import below, whole

_FLAGS, _SOURCES = "extra_compile_args", "sources"
_GROWS = frozenset({"append", "extend", "insert", "update"})
_SOURCES_AT = 1
"""The argument that sources are where they have no name."""
_MOST = 200

Given = Mapping[str, list[ast.expr]]


@dataclass(frozen=True, slots=True)
class Extension:
    """The texts that an extension's sources and flags are made of."""

    sources: list[ast.expr]
    flags: list[ast.expr]


def made(tree: ast.Module, maker: str) -> list[ast.Call]:
    """The calls of a class, or of a variable that may stand for it."""
    given = _given(tree)
    makers = {maker, *(name for name, values in given.items() if any(_names(value, maker) for value in values))}
    calls = (node for node in whole(tree) if isinstance(node, ast.Call))
    return [call for call in calls if _called(call.func) in makers]


def extensions(tree: ast.Module, calls: Iterable[ast.Call]) -> Iterator[Extension]:
    """The extensions that calls make, where they are told their flags."""
    given = _given(tree)
    for call in calls:
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        sources = named.get(_SOURCES) or next(iter(call.args[_SOURCES_AT:]), None)
        if _FLAGS in named and sources is not None:
            yield Extension(_texts(sources, given), _texts(named[_FLAGS], given))


def _called(node: ast.expr) -> str:
    return _name(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _given(tree: ast.Module) -> Given:
    """What each variable of a file is given, and what is added to it."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for node in whole(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found[_name(target)].append(node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            found[_name(node.target)].append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
            found[_name(node.func.value)].extend(node.args)
    return found


def _name(node: ast.expr) -> str:
    """The variable that is named, or whose entry is."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _names(node: ast.expr, name: str) -> bool:
    """Whether a value is that name, or may be."""
    if isinstance(node, ast.IfExp):
        return _names(node.body, name) or _names(node.orelse, name)
    return isinstance(node, (ast.Name, ast.Attribute)) and _name(node) == name


def _texts(value: ast.expr, given: Given) -> list[ast.expr]:
    """The strings that a value may be made of."""
    found: list[ast.expr] = []
    waiting, seen = [value], set[str]()
    while waiting and len(found) < _MOST:
        for node in _parts(waiting.pop()):
            if isinstance(node, (ast.Constant, ast.JoinedStr)):
                found.append(node)
            elif isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += given.get(node.id, ())
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _parts(value: ast.expr) -> Iterable[ast.AST]:
    """What a value has in it; what a comprehension leaves out is none of it."""
    left_out = {
        id(part)
        for node in below(value)
        if isinstance(node, ast.comprehension)
        for test in node.ifs
        for part in below(test)
    }
    return (node for node in below(value) if id(node) not in left_out)
