"""Python that launches a server with options, or enters a plan because a name says so.

A launch comes out as in `readers.launches`: flags and values side by side in a list, environment variables, keywords of
engines. Code that builds an exchange between experts for a name of a backend (`if all2all_backend == "pplx":`), or
switches to one, with no look at the chip or at the links around it, comes out as an operation of kind plan-branch:
`name` is what is compared or assigned.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

from bwlint.chips.backends import card_words, cluster_words, engines, linked, looks, plan_of, plans
from bwlint.model.details import PlanBranch, PlanOption
from bwlint.model.facts import Operation
from bwlint.readers.nodes import below, children, last_name, text_of, whole
from bwlint.readers.spans import span

_SIZE = "ep_size"
"""How attributes end that hold the number of ranks that experts are spread over."""
_MOST = 200
_HOLDING = (ast.stmt, ast.ExceptHandler, ast.match_case)
_ASKED = frozenset({"environ", "getenv", "envs"})
_CHOICE = "backend"
"""Where a test asks for one of these, somebody has chosen."""


@cache
def _spelled() -> tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]:
    """Of each row, its options as Python has them, and its values in both cases."""
    rows = []
    for plan in plans():
        names = {name for name in plan.options if "." not in name}
        options = [form for name in sorted(names) for form in (f"--{name}", name.replace("-", "_").upper())]
        options += [name.replace("-", "_") for name in sorted(names)]
        values = [form for value in sorted(filter(None, plan.values)) for form in (f'"{value}', f'"{value.upper()}')]
        rows.append((tuple(map(str.encode, options)), tuple(map(str.encode, values))))
    return tuple(rows)


@cache
def _options() -> tuple[bytes, ...]:
    """All options, the short before the long that they are a part of."""
    found = sorted({option for options, _ in _spelled() for option in options}, key=len)
    return tuple(one for at, one in enumerate(found) if not any(other in one for other in found[:at]))


ANCHORS = (b"backend", b"deepep")


def may_hold(data: bytes) -> bool:
    """The prefilter: whether one of the options and one of its values are named."""
    if b"backend" not in data and b"BACKEND" not in data and b"deepep" not in data:
        return False
    if not any(option in data for option in _options()):
        return False
    data = data.replace(b"'", b'"')
    return any(
        any(option in data for option in options) and any(value in data for value in values)
        for options, values in _spelled()
    )


def operations(tree: ast.Module, source: str) -> tuple[Operation, ...]:
    """The launches and the switches of a parsed file, in order of place."""
    found = [*_launches(tree, source), *_entered(tree)]
    return tuple(sorted(found, key=lambda operation: operation.at)[:_MOST])


def _launches(tree: ast.Module, source: str) -> Iterator[Operation]:
    about: PlanOption | None = None
    for node in whole(tree):
        for name, value in _pairs(node):
            if not isinstance(value, ast.Constant) or plan_of(name, str(value.value)) is None:
                continue
            about = about or PlanOption("", in_file=tuple(card_words(source)), clusters=tuple(cluster_words(source)))
            yield Operation("plan-option", name, span(value), detail=replace(about, value=str(value.value)))


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Options with their values that an expression or a statement gives."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for flag, value in pairwise(node.elts):
            if (name := text_of(flag)).startswith("--"):
                yield name, value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if (name := text_of(key)).isupper():
                yield name, value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        if (name := text_of(node.targets[0].slice)).isupper():
            yield name, node.value
    elif isinstance(node, ast.Call):
        if len(node.args) > 1 and last_name(node.func) in ("setdefault", "putenv") and text_of(node.args[0]).isupper():
            yield text_of(node.args[0]), node.args[1]
        if last_name(node.func) in engines():
            yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)


def _entered(tree: ast.Module) -> Iterator[Operation]:
    """Branches and switches that no look at the device or at the links stands around."""
    stack: list[tuple[ast.AST, tuple[ast.expr, ...]]] = [(tree, ())]
    while stack:
        node, tests = stack.pop()
        if isinstance(node, ast.Assign) and (switched := _switched(node, tests)):
            yield Operation("plan-branch", switched[0], span(node), detail=PlanBranch(switched[1], is_asked=False))
        elif not isinstance(node, ast.If):
            stack += [(child, tests) for child in children(node) if isinstance(child, _HOLDING)]
        else:
            stack += [(child, tests) for child in node.orelse]
            named, inside = _compared(node.test), (one for part in node.body for one in below(part))
            if named and any(map(_builds, inside)) and not _looked((*tests, node.test, *node.body)):
                yield Operation("plan-branch", named[0], span(node.test), detail=PlanBranch(named[1], is_asked=True))
            else:
                stack += [(child, (*tests, node.test)) for child in node.body]


def _compared(test: ast.expr) -> tuple[str, str] | None:
    """`self.all2all_backend == "pplx"`, also one of several in an `or`: the name and the value."""
    if isinstance(test, ast.BoolOp):
        return next(filter(None, map(_compared, test.values)), None)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return None
    name, value = last_name(test.left), text_of(test.comparators[0])
    return (name, value) if linked(name, value) else None


def _switched(node: ast.Assign, tests: tuple[ast.expr, ...]) -> tuple[str, str] | None:
    """An option that is set to such a value, under a test that says nothing of it."""
    name, value = last_name(node.targets[0]), text_of(node.value)
    if not isinstance(node.targets[0], ast.Attribute) or not tests or not linked(name, value):
        return None
    asked = any(value in word or word in _ASKED or _CHOICE in word for test in tests for word in _words(test))
    return None if asked or _looked(tests) else (name, value)


def _builds(node: ast.AST) -> bool:
    """Whether a statement brings a class to be built, or spreads the experts."""
    if isinstance(node, ast.ImportFrom):
        return any(name.name[:1].isupper() for name in node.names)
    if not isinstance(node, ast.Assign):
        return False
    if last_name(node.targets[0]).endswith(_SIZE):
        return True
    return isinstance(node.value, ast.Call) and last_name(node.value.func)[:1].isupper()


def _looked(nodes: tuple[ast.AST, ...]) -> bool:
    """Whether a question of the chip or of the links stands in the nodes; a class that is called after them is none."""
    return any(looks().search(word) for node in nodes for word in _words(node) if not word[:1].isupper())


def _words(node: ast.AST) -> Iterator[str]:
    for one in below(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
