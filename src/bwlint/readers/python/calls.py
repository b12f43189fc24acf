"""Calls that a function surely makes, or makes under tests; none in a loop, a `try` or behind an early return."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.model.expr import Span
from bwlint.readers.nodes import children
from bwlint.readers.python.sides import dotted, statements
from bwlint.readers.spans import span

MAX_CALLS = 200
_FALLS, _LEAVES, _OPEN = "falls", "leaves", "open"


@dataclass(frozen=True, slots=True)
class Option:
    """A test of an option: `parameter` is one of `values`, or with `inside` false none of them."""

    parameter: str
    values: frozenset[str]
    inside: bool


@dataclass(frozen=True, slots=True)
class Call:
    """What is called, by its dotted local name, on which options, and with what.

    `strings` are given, by keyword or position ("0" is the first); `handed_on` are options of the caller, likewise.
    `tests` are the places of other tests around it, each with the outcome that leads to it.
    """

    name: str
    under: tuple[Option, ...]
    strings: tuple[tuple[str, str], ...] = ()
    handed_on: tuple[tuple[str, str], ...] = ()
    tests: tuple[tuple[Span, bool], ...] = ()


@dataclass(slots=True)
class _CallWalk:
    found: list[Call]
    parameters: frozenset[str]
    tests: tuple[tuple[Span, bool], ...] = ()

    def block(self, body: Sequence[ast.stmt], under: tuple[Option, ...]) -> str:
        """Collect the calls of a block; how it ends: it falls through, leaves, or nobody knows."""
        for node in body:
            if isinstance(node, ast.If):
                option = self.option(node.test)
                ended, under = self._plain(node, under) if option is None else self._chosen(node, option, under)
            elif isinstance(node, ast.With):
                for item in node.items:
                    self._calls(item.context_expr, under)
                ended = self.block(node.body, under)
            elif isinstance(node, ast.Try) and not node.handlers:
                ended = self.block([*node.body, *node.finalbody], under)
            elif isinstance(node, (ast.For, ast.While, ast.Try, ast.Match)):
                ended = _OPEN if _returns(node) else _FALLS
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            else:
                self._calls(node, under)
                ended = _LEAVES if isinstance(node, (ast.Return, ast.Raise)) else _FALLS
            if ended != _FALLS:
                return ended
        return _FALLS

    def _plain(self, node: ast.If, under: tuple[Option, ...]) -> tuple[str, tuple[Option, ...]]:
        self._calls(node.test, under)
        outer = self.tests
        for body, outcome in ((node.body, True), (node.orelse, False)):
            self.tests = (*outer, (span(node.test), outcome))
            self.block(body, under)
        self.tests = outer
        return (_OPEN if _returns(node) else _FALLS), under

    def _chosen(self, node: ast.If, option: Option, under: tuple[Option, ...]) -> tuple[str, tuple[Option, ...]]:
        other = Option(option.parameter, option.values, not option.inside)
        yes = self.block(node.body, (*under, option))
        no = self.block(node.orelse, (*under, other))
        if _OPEN in (yes, no):
            return _OPEN, under
        if yes == no:
            return yes, under
        return _FALLS, (*under, other if yes == _LEAVES else option)

    def option(self, test: ast.expr) -> Option | None:
        """`backend == "a"`, `backend in ("a", "b")` and their opposites, of a parameter or of `self._backend`."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        name = self._parameter(test.left)
        operator, right = test.ops[0], test.comparators[0]
        if not name or not isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            return None
        members = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        values = [item.value for item in members if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if len(values) != len(members):
            return None
        return Option(name, frozenset(values), isinstance(operator, (ast.Eq, ast.In)))

    def _calls(self, node: ast.AST, under: tuple[Option, ...]) -> None:
        for call in _sure(node):
            name = dotted(call.func) if not isinstance(call.func, ast.Call) else ""
            if name and not _through_call(call.func) and len(self.found) < MAX_CALLS:
                given = list(_given(call))
                constants = ((key, value.value) for key, value in given if isinstance(value, ast.Constant))
                strings = tuple((key, value) for key, value in constants if isinstance(value, str))
                handed_on = tuple((key, option) for key, value in given if (option := self._parameter(value)))
                self.found.append(Call(name, under, strings, handed_on, self.tests))

    def _parameter(self, node: ast.expr) -> str:
        """The option that an expression names: a parameter, or the attribute that keeps it; else ""."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ""
        name = dotted(node)
        own = name.removeprefix("self.")
        own = own.lstrip("_") if own != name else own
        return own if own in self.parameters else ""


def calls(node: ast.FunctionDef, options: frozenset[str]) -> tuple[Call, ...]:
    """The calls of one function, in the order of its code; `options` are the parameters that may choose among them."""
    walk = _CallWalk([], options)
    walk.block(node.body, ())
    return tuple(walk.found)


def compared(node: ast.FunctionDef, options: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The strings that a function compares options with, by option."""
    walk = _CallWalk([], options)
    found: dict[str, dict[str, None]] = {}
    for item in statements(node.body):
        option = walk.option(item.test) if isinstance(item, ast.If) else None
        if option is not None:
            found.setdefault(option.parameter, {}).update(dict.fromkeys(sorted(option.values)))
    return {name: tuple(values) for name, values in found.items()}


def _returns(node: ast.stmt) -> bool:
    """Whether a way out of the function other than an error stands in a statement."""
    return any(isinstance(item, ast.Return) for item in statements([node]))


def _sure(node: ast.AST) -> Iterator[ast.Call]:
    """Calls in an expression or simple statement that are made whenever it runs."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Call):
            yield item
        if isinstance(item, ast.IfExp):
            stack.append(item.test)
        elif isinstance(item, ast.BoolOp):
            stack.append(item.values[0])
        elif not isinstance(item, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            stack.extend(reversed(children(item)))


def _through_call(node: ast.expr) -> bool:
    """`f().g`: what is called is an attribute of a result."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return not isinstance(node, ast.Name)


def _given(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            break
        yield str(position), value
    for keyword in call.keywords:
        if keyword.arg:
            yield keyword.arg, keyword.value
