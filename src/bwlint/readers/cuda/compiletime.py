"""What the compiler decides in C++ itself: constants and functions that hang on the target, and tests around a place.

A constant is a macro without arguments here and a function one with arguments, so that `evaluate.macros` runs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bwlint.model.expr import Expr, Span, negate
from bwlint.model.facts import Function, Path
from bwlint.readers.cuda.expressions import Resolve, lower
from bwlint.readers.cuda.given import parameters
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes
from bwlint.readers.cuda.statements import Statement, leaves, statements

MAX_BODY = 1500
MAX_FOUND = 200
_TARGET = re.compile(r"\b\w*(?:CUDA_ARCH|ARCH_FEAT)\w*")
_CONSTANT = re.compile(r"\bconstexpr\b[^;={}()]{0,80}?\b(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>[^;{}]{1,300});")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECIDED = re.compile(r"\b(?:constexpr|consteval|__device__)\b")


@dataclass(frozen=True)
class CompileTime:
    """The compile-time side of one file. `text` is the blanked text without directives."""

    code: Code
    text: str
    scopes: Scopes
    found: Directives
    _bodies: dict[int, tuple[Statement, ...]] = field(default_factory=dict)

    def definitions(self) -> dict[str, Function]:
        """The constants and the short functions of a file that hang on the target, under their last names."""
        known: dict[str, Function] = {}
        constants = (one for one in _CONSTANT.finditer(self.text) if self.scopes.outside(one.start()))
        steps = [(one.start(), partial(self._constant, one)) for one in constants]
        steps += [(one.header, partial(self._function, one)) for one in self.scopes.functions if self._may_decide(one)]
        for _, define in sorted(steps, key=lambda step: step[0])[:MAX_FOUND]:
            define(known)
        return known

    def tests(self, offset: int) -> Path:
        """The tests of `if`s around a place in a function, as the compiler decides them."""
        scope = self.scopes.function(offset)
        if scope is None:
            return ()
        if scope.open not in self._bodies:
            self._bodies[scope.open] = statements(self.text, scope.open + 1, scope.close)
        return tuple(self._around(self._bodies[scope.open], offset, scope))

    def _around(self, body: tuple[Statement, ...], offset: int, scope: CodeScope) -> Iterator[Expr]:
        for statement in body:
            if statement.start <= offset < statement.end:
                if statement.kind == "if" and statement.test is not None:
                    test = self._lowered(*statement.test, (), scope)
                    yield from (test,) if _holds(statement.body, offset) else ()
                    yield from (negate(test),) if _holds(statement.orelse, offset) else ()
                for inner in (statement.body, statement.orelse, *statement.inner):
                    yield from self._around(inner, offset, scope)
                return
            if statement.kind == "if" and statement.test is not None and leaves(statement.body):
                yield negate(self._lowered(*statement.test, (), scope))

    def _may_decide(self, scope: CodeScope) -> bool:
        short = not scope.parent and not scope.kernel and scope.close - scope.open < MAX_BODY
        return short and _DECIDED.search(self.text, scope.header, scope.open) is not None

    def _hangs(self, text: str, known: dict[str, Function]) -> bool:
        words = set(_WORD.findall(text))
        return any(map(_TARGET.match, words)) or not words.isdisjoint(known)

    def _constant(self, one: re.Match[str], known: dict[str, Function]) -> None:
        if self._hangs(one["value"], known):
            ways = [(self.found.path(one.start()), self._lowered(*one.span("value"), ()))]
            known[one["name"]] = self._macro(one["name"], (), ways, known, one.start())

    def _function(self, scope: CodeScope, known: dict[str, Function]) -> None:
        """A function that only returns: the first way out whose tests hold is the last that counts as a macro."""
        name = scope.name.rpartition("::")[2]
        if name in known or not self._hangs(self.code.text[scope.open : scope.close], known):
            return
        params = tuple(parameters(self.text, scope))
        ways = list(self._ways(statements(self.text, scope.open + 1, scope.close), params, ()))
        if ways:
            known[name] = self._macro(name, params, ways[::-1], known, scope.open)

    def _ways(self, body: tuple[Statement, ...], params: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Expr]]:
        for statement in body:
            if statement.kind == "return" and statement.test is not None:
                yield (*self.found.path(statement.start), *path), self._lowered(*statement.test, params)
            elif statement.kind == "block":
                yield from self._ways(statement.body, params, path)
            elif statement.kind == "if" and statement.test is not None and not params:
                test = self._lowered(*statement.test, params)
                yield from self._ways(statement.body, params, (*path, test))
                yield from self._ways(statement.orelse, params, (*path, negate(test)))

    def _macro(
        self, name: str, params: tuple[str, ...], ways: list[tuple[Path, Expr]], known: dict[str, Function], at: int
    ) -> Function:
        before = known[name].returns if name in known else ()
        free = tuple((path, _bound(value, name, params)._replace(at=None)) for path, value in ways)
        return Function(name, "macro", params, (), (*before, *free), self.code.span(at, at + 1))

    def _lowered(self, start: int, end: int, params: tuple[str, ...], scope: CodeScope | None = None) -> Expr:
        found: Expr = _as_macros(lower(self.code, start, end, self._resolver(scope, start)))
        return found

    def _resolver(self, scope: CodeScope | None, before: int) -> Resolve:
        """Names as macros; constants of the function around with what they are."""
        local = {
            one["name"]: one.span("value")
            for one in (_CONSTANT.finditer(self.text, scope.open, before) if scope is not None else ())
        }

        def resolve(name: str, at: Span) -> Expr:
            if name in local:
                return self._lowered(*local.pop(name), (), scope)
            return Expr("name", (name.rpartition("::")[2],), at)

        return resolve


def _holds(body: tuple[Statement, ...], offset: int) -> bool:
    return bool(body) and body[0].start <= offset < body[-1].end


def _as_macros(item: Any) -> Any:
    """Names and calls of names as the preprocessor has them."""
    if isinstance(item, tuple) and not isinstance(item, Expr):
        return tuple(map(_as_macros, item))
    if not isinstance(item, Expr):
        return item
    if item.op == "name":
        return Expr("macro", (item.args[0], ()), item.at)
    if item.op == "call" and item.args[0].op == "name":
        return Expr("macro", (item.args[0].args[0], _as_macros(item.args[1])), item.at)
    return item._replace(args=_as_macros(item.args))


def _bound(item: Any, owner: str, params: tuple[str, ...]) -> Any:
    """With the parameters of a function in the place of their names."""
    if isinstance(item, tuple) and not isinstance(item, Expr):
        return tuple(_bound(one, owner, params) for one in item)
    if not isinstance(item, Expr):
        return item
    if item.op == "macro" and item.args[0] in params:
        return Expr("param", (owner, item.args[0]), item.at)
    return item._replace(args=_bound(item.args, owner, params))
