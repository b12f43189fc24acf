"""Python code that runs once some checks are decided, or for a string: `if backend == "cutlass":`, `{"cutlass": f}`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bwlint.model.expr import Span
from bwlint.readers.nodes import parameters
from bwlint.readers.python import parse
from bwlint.readers.spans import span

Known = Mapping[str, bool]
"""Tests by their text, with how they came out. None of them is a negation."""
Decided = Callable[[Span], "bool | None"]
"""How a test at a place comes out that asks for more than what is known."""
_OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {ast.NotEq: ast.Eq(), ast.IsNot: ast.Is(), ast.NotIn: ast.In()}


@dataclass(frozen=True, slots=True)
class Run:
    """What surely runs of a function: `spans`, but for what stands `away` in them. `known` are the tests known at each
    call.
    """

    spans: tuple[Span, ...]
    away: tuple[Span, ...] = ()
    known: Mapping[Span, Known] = field(default_factory=dict)

    def holds(self, at: Span) -> bool:
        return any(one.holds(at) for one in self.spans) and not any(one.holds(at) for one in self.away)

    def handed_on(self, source: str, call: Span, other: str, callee: Span) -> dict[str, bool]:
        """What is known in a function of the text `other` that is called here, by the names of its parameters."""
        found = next((one for one in ast.walk(_tree(source)) if isinstance(one, ast.Call) and span(one) == call), None)
        node = _function(other, callee)
        if found is None or node is None:
            return {}
        names = list(parameters(node))
        names = names[1:] if names[:1] in (["self"], ["cls"], ["ctx"]) else names
        given = dict(zip(names, found.args, strict=False)) | {
            word.arg: word.value for word in found.keywords if word.arg
        }
        renamed = {value.id: name for name, value in given.items() if isinstance(value, ast.Name)}
        constants = ((name, value.value) for name, value in given.items() if isinstance(value, ast.Constant))
        known = {name: value for name, value in constants if isinstance(value, bool)}
        own = {name for around in _functions(source) if span(around).holds(call) for name in _assigned(around)}
        for text, outcome in self.known.get(call, {}).items():
            test = ast.parse(text, mode="eval").body
            if names_in(test) & own <= renamed.keys():
                known[ast.unparse(_HandedNames(renamed).visit(test))] = outcome
        return known


def run_of(source: str, function: Span, start: Span, known: Known, decided: Decided) -> Run:
    """What runs of a function from `start` on, once the chip comes there; raises `ReadError`."""
    node = _function(source, function)
    if node is None:
        return Run(())
    found = _SureWalk(start, decided, {**known, **dict(_around(node.body, start))})
    found.body(node.body)
    return Run(tuple(found.spans), tuple(found.away), found.at_calls)


@dataclass(slots=True)
class _SureWalk:
    """Goes through statements from `start` on."""

    start: Span
    decided: Decided
    known: dict[str, bool]
    spans: list[Span] = field(default_factory=list)
    away: list[Span] = field(default_factory=list)
    at_calls: dict[Span, Known] = field(default_factory=dict)

    def body(self, body: Iterable[ast.stmt]) -> bool:
        """Whether it surely ends there."""
        return any(self._statement(one) for one in body)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.If():
                self._ran(node.test)
                outcome = self.outcome(node.test)
                return outcome is not None and self.body(node.body if outcome else node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._ran(item.context_expr)
                return self.body(node.body)
            case ast.For() | ast.AsyncFor():
                self._ran(node.iter)
                self.body(node.body)
            case ast.Try(handlers=[]):
                return self.body(node.body) or self.body(node.finalbody)
            case ast.Try() | ast.Match() | ast.While() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._forget(node)
            case _:
                self._ran(node)
                self._forget(node)
        return isinstance(node, (ast.Return, ast.Raise))

    def _ran(self, node: ast.stmt | ast.expr) -> None:
        if (node.lineno, node.col_offset) < self.start[:2]:
            return
        self.spans.append(span(node))
        for one in ast.walk(node):
            if isinstance(one, ast.IfExp):
                outcome = self.outcome(one.test)
                self.away += [span(arm) for arm, yes in ((one.body, True), (one.orelse, False)) if outcome is not yes]
            elif isinstance(one, ast.BoolOp):
                self.away += map(span, one.values[1:])
            elif isinstance(one, ast.Lambda):
                self.away.append(span(one.body))
            elif isinstance(one, ast.Call):
                self.at_calls[span(one)] = dict(self.known)

    def _forget(self, node: ast.stmt) -> None:
        """What is known of a name that is assigned anew."""
        if (node.lineno, node.col_offset) >= self.start[:2]:
            names = _assigned(node)
            self.known = {
                text: yes for text, yes in self.known.items() if not names & names_in(ast.parse(text, mode="eval"))
            }

    def outcome(self, test: ast.expr) -> bool | None:
        """How a test comes out, None where nobody knows."""
        text, yes = _plain(test)
        if text in self.known:
            return self.known[text] is yes
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.outcome(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            found = [self.outcome(one) for one in test.values]
            ends = isinstance(test.op, ast.Or)
            return ends if ends in found else None if None in found else not ends
        return self.decided(span(test))


class _HandedNames(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _around(body: Iterable[ast.stmt], at: Span) -> Iterator[tuple[str, bool]]:
    """The tests around a place in a function, as they came out."""
    for node in (one for part in body for one in ast.walk(part) if isinstance(one, ast.If)):
        for part, yes in ((node.body, True), (node.orelse, False)):
            if part and Span(*span(part[0])[:2], *span(part[-1])[2:]).holds(at):
                yield from _parts(node.test, yes)


def _parts(test: ast.expr, yes: bool) -> Iterator[tuple[str, bool]]:
    """What is known of each part of a test that came out so."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if yes else ast.Or):
        for one in test.values:
            yield from _parts(one, yes)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, not yes)
    else:
        text, plain = _plain(test)
        yield text, plain is yes


def _plain(test: ast.expr) -> tuple[str, bool]:
    """The text of a test without its negation, and whether it had none."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        text, yes = _plain(test.operand)
        return text, not yes
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        return ast.unparse(ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]], test.comparators)), False
    return ast.unparse(test), True


def names_in(test: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}


def _assigned(node: ast.AST) -> set[str]:
    """The names that are assigned in it, parameters included."""
    found = set[str]()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
    return found


@lru_cache(maxsize=8)
def _tree(source: str) -> ast.Module:
    return parse(source)


def _functions(source: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (one for one in ast.walk(_tree(source)) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _function(source: str, at: Span) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The one that a definition is: that may begin at its decorators."""
    return next((one for one in _functions(source) if span(one)[2:] == at[2:] and at.holds(span(one))), None)


def branches(source: str, text: str) -> Iterator[Span]:
    """The bodies of tests that `text` passes and the values under it in tables of calls; raises `ReadError`."""
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.If) and _asks(node.test, text):
            yield _stretch(node.body[0], node.body[-1])
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == text and not isinstance(value, ast.Constant):
                    yield _stretch(value, value)


def _stretch(first: ast.stmt | ast.expr, last: ast.stmt | ast.expr) -> Span:
    return Span(first.lineno, first.col_offset, last.end_lineno or last.lineno, last.end_col_offset or 0)


def _asks(test: ast.expr, text: str) -> bool:
    if isinstance(test, ast.BoolOp):
        return any(_asks(value, text) for value in test.values)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Eq, ast.In)):
        return False
    asked = (item for operand in (test.left, *test.comparators) for item in getattr(operand, "elts", [operand]))
    return any(isinstance(item, ast.Constant) and item.value == text for item in asked)
