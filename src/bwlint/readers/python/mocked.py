"""Code that sets the device itself: tests that patch the capability query.

Each comes out as an operation of kind mocked, called as what is replaced: from the replacement to the end of what it
holds for, a `with` or a function; all of a function that has a decorator, or takes a fixture or calls a helper which
replaces it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bwlint.evaluate.sources import asking_names
from bwlint.model.expr import Span
from bwlint.model.facts import Operation
from bwlint.readers.nodes import AnyFunction, below, functions
from bwlint.readers.python.sides import dotted
from bwlint.readers.python.vocabulary import numbers_of_lines
from bwlint.readers.spans import any_within, span

_ASKS = re.compile(r"capab|device_propert|compute_cap|device_sm|sm_version", re.I)
_PATCHES = re.compile(r"patch(?<!\wpatch)\b|setattr(?<!\wsetattr)\b")
_SETS = re.compile(r"\.\w+[ \t]*=[ \t]*(?:lambda\b|\(?[\w.]*Mock\()")
"""Each for itself: an expression that begins with a letter is found faster."""
_CALLED = re.compile(r"(?:^|\.)(?:patch(?:\.object)?|setattr)$")
_FAKES = re.compile(rb"patch|setattr|lambda|Mock")
"""A word of whatever replaces something."""
_SETUPS = frozenset({"setUp", "setup_method", "setup_class", "setUpClass", "setup"})


def operations(tree: ast.Module, source: str) -> Iterator[Operation]:
    if _PATCHES.search(source) is None and _SETS.search(source) is None:
        return
    fakes = sorted(numbers_of_lines(_FAKES, source.encode("utf-8", "surrogatepass")))
    found = [
        (function, owner, list(_replaced(function)) if any_within(fakes, *_lines(function)) else [])
        for function, _, owner in functions(tree.body)
    ]
    helpers = {function.name for function, _, stretches in found if stretches}
    for function, owner, stretches in found if helpers else ():
        if owner is not None and stretches and function.name in _SETUPS:
            yield Operation("mocked", stretches[0].name, span(owner))
        elif name := next(_taken(function, helpers), "") if not stretches else "":
            yield Operation("mocked", name, span(function))
        else:
            yield from stretches


def _lines(function: AnyFunction) -> tuple[int, int]:
    """The first line of a function, its decorators included, and the one behind it."""
    first = min(one.lineno for one in (function, *function.decorator_list))
    return first, (function.end_lineno or function.lineno) + 1


def _replaced(function: AnyFunction) -> Iterator[Operation]:
    here, nodes = span(function), below(function)
    of_with = {
        id(item.context_expr): span(node)
        for node in nodes
        if isinstance(node, (ast.With, ast.AsyncWith))
        for item in node.items
    }
    decorators = {id(one) for one in function.decorator_list}
    for node in nodes:
        if name := _question(node):
            start = here if id(node) in decorators else span(node)
            end = of_with.get(id(node), here)
            yield Operation("mocked", name, Span(*start[:2], *end[2:]))


def _question(node: ast.AST) -> str:
    """The question to a device that a node replaces, as `patch("torch.cuda.get_device_capability")` does, or ""."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        given = node.value
        faked = isinstance(given, ast.Lambda) or (isinstance(given, ast.Call) and dotted(given.func).endswith("Mock"))
        return _asking(node.targets[0].attr) if faked else ""
    if not isinstance(node, ast.Call) or not _CALLED.search(dotted(node.func)):
        return ""
    texts = (one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return next(filter(None, (_asking(text.rpartition(".")[2]) for text in texts)), "")


def _asking(name: str) -> str:
    return name if _ASKS.search(name) or name in asking_names() else ""


def _taken(function: AnyFunction, helpers: set[str]) -> Iterator[str]:
    """The fixtures that a function takes and the helpers that it calls which replace the question."""
    arguments = (one.arg for one in function.args.args)
    called = (dotted(node.func).rpartition(".")[2] for node in below(function) if isinstance(node, ast.Call))
    yield from (name for name in (*arguments, *called) if name in helpers)
