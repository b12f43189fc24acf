"""A setup.py: tests of the targets that are asked for, and what is handed to each of several extensions, by name.

`if "12.0a" in archs:` is tried for all names of targets.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from bwlint.chips.spelling import spelled
from bwlint.readers.buildfiles.asked import NAMES, dotted
from bwlint.readers.nodes import below, truth, whole

_LIST = re.compile(r"(?i)(?:^|_)arch(?:es|s|itectures)?(?:_?list)?(?:_env)?$")
_LONGEST_PATTERN = 200
_OLD = frozenset({"75", "80", "90", "90a"})
"""Names that every expression for names of targets takes."""
_NO_TARGETS = ("", "7", "cuda", "build", "7.5.0")
"""What an expression that is made for targets does not take."""
_OF_TEXTS = {"startswith": str.startswith, "endswith": str.endswith}

Truth = bool | None


def loop_variables(tree: ast.Module) -> frozenset[str]:
    """The names that stand for one target of a list."""
    loops = [node for node in whole(tree) if isinstance(node, (ast.For, ast.comprehension))]
    return frozenset(node.target.id for node in loops if isinstance(node.target, ast.Name) and _is_list(node.iter))


def admitted(test: ast.expr, variables: frozenset[str]) -> frozenset[str]:
    """The targets that pass a test over a list of architectures, or over one of it."""
    texts = [node.value for node in below(test) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    exact = [found for text in texts if (found := spelled(text)) is not None and found.suffix]
    if not exact:
        return frozenset()
    for spelling in (dotted, str):
        answers = {name: truth(test, partial(_holds, asked=spelling(name), variables=variables)) for name in NAMES}
        if len(set(answers.values())) > 1:
            return frozenset(name for name, answer in answers.items() if answer is not False)
    return frozenset()


def _is_list(node: ast.expr) -> bool:
    """Whether an expression is called a list of architectures, or is one taken apart."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return _LIST.search(name) is not None


def _holds(test: ast.expr, asked: str, variables: frozenset[str]) -> Truth:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, asked, variables)
    if not isinstance(test, ast.Call) or not test.args:
        return None
    if isinstance(test.func, ast.Name) and test.func.id == "any" and isinstance(test.args[0], ast.GeneratorExp):
        return truth(test.args[0].elt, partial(_holds, asked=asked, variables=variables))
    if isinstance(test.func, ast.Attribute) and _is_one(test.func.value, variables):
        method, part = _OF_TEXTS.get(test.func.attr), test.args[0]
        if method is not None and isinstance(part, ast.Constant) and isinstance(part.value, str):
            return method(asked, part.value)
    return None


def _compared(test: ast.Compare, asked: str, variables: frozenset[str]) -> Truth:
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    denied = isinstance(operator, (ast.NotIn, ast.NotEq))
    if isinstance(left, ast.Constant) and isinstance(operator, (ast.In, ast.NotIn)):
        text = isinstance(left.value, str) and (_is_list(right) or _is_one(right, variables))
        return (str(left.value) in asked) != denied if text else None
    if not _is_one(left, variables):
        return None
    parts = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
    if not all(isinstance(part, ast.Constant) for part in parts):
        return None
    return (asked in [part.value for part in parts if isinstance(part, ast.Constant)]) != denied


def _is_one(node: ast.expr, variables: frozenset[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in variables


def patterns(tree: ast.Module) -> dict[str, ast.Constant]:
    """The regular expressions that a file keeps under names of its own."""
    found: dict[str, ast.Constant] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _function(node.value) == "re.compile":
            text = _text(node.value)
            found |= {name.id: text for name in node.targets if isinstance(name, ast.Name) and text is not None}
    return found


def applied(call: ast.Call, kept: Mapping[str, ast.Constant]) -> ast.Constant | None:
    """The regular expression in a call that holds it against the whole of something."""
    owner, _, method = _function(call).rpartition(".")
    pattern = _text(call) if owner == "re" else kept.get(owner)
    whole = method == "fullmatch" or (method == "match" and pattern is not None and str(pattern.value).endswith("$"))
    return pattern if whole else None


def taken(pattern: str) -> frozenset[str]:
    """The targets whose names a regular expression takes whole; none where it is made for something else."""
    try:
        takes = re.compile(pattern[:_LONGEST_PATTERN]).fullmatch
    except (re.error, RecursionError, OverflowError):
        return frozenset()
    for spelling in (dotted, str, "sm_{}".format) if not any(map(takes, _NO_TARGETS)) else ():
        names = frozenset(name for name in NAMES if takes(spelling(name)))
        if names >= _OLD:
            return names
    return frozenset()


def _function(call: ast.Call) -> str:
    """`re.match` in a call of that."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{function.value.id}.{function.attr}"
    return ""


def _text(call: ast.Call) -> ast.Constant | None:
    """The first argument of a call, where it is a string."""
    first = call.args[0] if call.args else None
    return first if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


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
