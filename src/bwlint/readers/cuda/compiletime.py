"""What the compiler decides in C++ itself: constants and functions that hang on the target, tests around a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bwlint.model.expr import Expr, Span, const, mapped, negate, unknown, walk
from bwlint.model.facts import Function, Path
from bwlint.readers.cuda import instances
from bwlint.readers.cuda.expressions import Resolve, lower
from bwlint.readers.cuda.given import parameters
from bwlint.readers.cuda.layout import size_of
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives, bare_macro, macro
from bwlint.readers.cuda.program import tags
from bwlint.readers.cuda.scopes import CodeScope, Scopes, aliases
from bwlint.readers.cuda.statements import Statement, statements, tests_around

MAX_BODY = 1500
MAX_FOUND = 200
_TARGET = re.compile(r"\b\w*(?:CUDA_ARCH|ARCH_FEAT)\w*")
_CONSTANT = re.compile(
    r"constexpr(?<!\wconstexpr)\b[^;={}()]{0,80}?\b(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<value>[^;{}]{1,300});"
)
_NEXT = re.compile(r",\s*(?P<name>[A-Za-z_]\w*)\s*=(?!=)")
"""What begins another constant of the same declaration."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_DECIDES = re.compile(r"\b(?:constexpr|consteval|__device__|template\s*<[^>]{1,200}>\s*(?:inline\s+|static\s+)*bool)\b")


@dataclass(frozen=True)
class CompileTime:
    """The compile-time side of one file. `text` is the blanked text without directives."""

    code: Code
    text: str
    scopes: Scopes
    found: Directives
    _bodies: dict[int, tuple[Statement, ...]] = field(default_factory=dict)
    _locals: dict[int, list[re.Match[str]]] = field(default_factory=dict)
    _tests: dict[tuple[int, int], Expr] = field(default_factory=dict)

    def definitions(self) -> dict[str, Function]:
        """The constants and the short functions of a file that hang on the target, under their last names."""
        known: dict[str, Function] = {}
        constants = (one for one in _CONSTANT.finditer(self.text) if self.scopes.outside(one.start()))
        steps = [(one.start(), partial(self._constant, one)) for one in constants]
        steps += [(one.header, partial(self._function, one)) for one in self.scopes.functions if self._may_decide(one)]
        types = (*(one for one in self.scopes.all if one.kind == "class"), *aliases(self.text, self.scopes))
        steps += [(one.header, partial(self._class, one)) for one in types]
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
        found = tests_around(self._bodies[scope.open], offset)
        return tuple(test if holds else negate(test) for at, holds in found for test in (self._test(at, scope),))

    def is_given(self, offset: int, tests: Path) -> bool:
        """Whether the `tests` around a place in a function that others call ask for one of its parameters."""
        asked = {node.args[0] for test in tests for node in walk(test) if node.op == "macro"}
        scope = self.scopes.function(offset) if asked else None
        if scope is None or scope.kernel:
            return False
        return not asked.isdisjoint(filter(None, parameters(self.text, scope)))

    def _test(self, at: tuple[int, int], scope: CodeScope) -> Expr:
        if at not in self._tests:
            found = self.lowered(*at, (), scope)
            members = self.text.find("::", *at) >= 0
            self._tests[at] = _of_any(found, tags(self.text, self.scopes, scope)) if members else found
        return self._tests[at]

    def _may_decide(self, scope: CodeScope) -> bool:
        if scope.parent or scope.kernel or scope.close - scope.open > MAX_BODY:
            return False
        return _DECIDES.search(self.text, scope.header, scope.open) is not None

    def _hangs(self, text: str, known: dict[str, Function]) -> bool:
        words = set(_WORD.findall(text))
        return any(map(_TARGET.match, words)) or not words.isdisjoint(known)

    def _names_a_macro(self, text: str) -> bool:
        return any(word in self.found.macros for word in _WORD.findall(text))

    def _constant(self, one: re.Match[str], known: dict[str, Function]) -> None:
        if self._hangs(one["value"], known):
            ways = [(self.found.path(one.start()), self.lowered(*one.span("value"), ()))]
            known[one["name"]] = self._macro(one["name"], (), ways, known, one.start())

    def _function(self, scope: CodeScope, known: dict[str, Function]) -> None:
        """A function that only returns: the first way out whose tests hold is the last that counts as a macro."""
        name = scope.name.rpartition("::")[2]
        head = instances.template(self.text, scope, name)
        name = f"{name}<>" if head.params else name
        if name in known or not (head.params or self._hangs(self.code.text[scope.open : scope.close], known)):
            return
        params = (*head.params, *parameters(self.text, scope))
        ways = list(self._ways(statements(self.text, scope.open + 1, scope.close), params, ()))
        if ways:
            known[name] = self._macro(name, params, ways[::-1], known, scope.open)

    def _class(self, scope: CodeScope, known: dict[str, Function]) -> None:
        """The static members of a class that is a template or made of one; of another those that hang on the target."""
        head = instances.template(self.text, scope, scope.name)
        made_of = instances.base(self.text, scope)
        for key in [one for one in known if made_of is not None and one.startswith(f"{made_of[0]}::")]:
            self._inherited(scope, key, known, made_of[1] if made_of is not None else ())
        of_template = bool(head.params or head.special)
        if not of_template and self.text.find("constexpr", scope.open, scope.close) < 0:
            return
        inside = [one for one in self.scopes.functions if scope.open < one.open < scope.close and of_template]
        for method in inside:
            short = method.close - method.open < MAX_BODY
            if short and re.search(r"\bstatic\b", self.text[method.header : method.open]):
                params = tuple(parameters(self.text, method))
                body = statements(self.text, method.open + 1, method.close)
                self._static(scope, method.name, head, list(self._ways(body, params, ())), params, known)
        for start, end in self.scopes.members(scope):
            for name, low, high in self._constants(start, end):
                value = self.text[low:high]
                if of_template or self._hangs(value, known) or self._names_a_macro(value):
                    self._static(scope, name, head, [((), self.lowered(low, high, ()))], (), known)

    def _constants(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """The constants of a stretch: their names, and where their values stand."""
        for one in _CONSTANT.finditer(self.text, start, end):
            name, low = one["name"], one.start("value")
            for more in _NEXT.finditer(self.text, *one.span("value")):
                yield name, low, more.start()
                name, low = more["name"], more.end()
            yield name, low, one.end("value")

    def _static(
        self,
        scope: CodeScope,
        name: str,
        head: instances.Template,
        ways: list[tuple[Path, Expr]],
        params: tuple[str, ...],
        known: dict[str, Function],
    ) -> None:
        """A member that has one value; one of a specialisation goes before what there was."""
        key = f"{scope.name}::{name}"
        before = known.get(key)
        if len(ways) != 1 or (before is None) == bool(head.special):
            return
        owner = before.params[: len(head.special)] if before is not None else head.params
        value = _bound(_beside(ways[0][1], scope.name, owner, known), key, (*owner, *params))
        if before is not None:
            meant = zip(owner, head.special, strict=False)
            at = value.at or Span(1, 0, 1, 0)
            tests = [
                Expr("cmp", ("==", (_param(key, one), instances.argument(of, at, bare_macro)))) for one, of in meant
            ]
            value = Expr("if", (Expr("and", (tuple(tests),)), value, before.returns[-1][1]))
        at_name = self.code.span(scope.open, scope.open + 1)
        known[key] = macro(key, (*owner, *params), (((), value._replace(at=None)),), at_name)

    def _inherited(self, scope: CodeScope, key: str, known: dict[str, Function], given_: tuple[str, ...]) -> None:
        own, rest = f"{scope.name}::{key.partition('::')[2]}", known[key].params[len(given_) :]
        at = self.code.span(scope.open, scope.open + 1)
        arguments = (*(instances.argument(one, at, bare_macro) for one in given_), *(_param(own, one) for one in rest))
        known[own] = macro(own, rest, (((), Expr("macro", (key, arguments))),), at)

    def _ways(self, body: tuple[Statement, ...], params: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Expr]]:
        for statement in body:
            if statement.kind == "return" and statement.test is not None:
                yield (*self.found.path(statement.start), *path), self.lowered(*statement.test, params)
            elif statement.kind == "block":
                yield from self._ways(statement.body, params, path)
            elif statement.kind == "if" and statement.test is not None and not params:
                test = self.lowered(*statement.test, params)
                yield from self._ways(statement.body, params, (*path, test))
                yield from self._ways(statement.orelse, params, (*path, negate(test)))

    def _macro(
        self, name: str, params: tuple[str, ...], ways: list[tuple[Path, Expr]], known: dict[str, Function], at: int
    ) -> Function:
        before = known[name].returns if name in known else ()
        free = tuple((path, _bound(value, name, params)._replace(at=None)) for path, value in ways)
        return macro(name, params, (*before, *free), self.code.span(at, at + 1))

    def lowered(self, start: int, end: int, params: tuple[str, ...], scope: CodeScope | None = None) -> Expr:
        found: Expr = _as_macros(lower(self.code, start, end, self._resolver(scope, start)))
        return found

    def _resolver(self, scope: CodeScope | None, before: int) -> Resolve:
        """Names as macros; constants of the function around with what they are."""
        if scope is not None and scope.open not in self._locals:
            self._locals[scope.open] = list(_CONSTANT.finditer(self.text, scope.open, scope.close))
        constants = self._locals[scope.open] if scope is not None else ()
        local = {one["name"]: one.span("value") for one in constants if one.end() <= before}

        return _Names(self, scope, local).resolve


@dataclass(slots=True)
class _Names:
    """What names mean in a function: `local` are its constants that have not been asked for, by their places."""

    decided: CompileTime
    scope: CodeScope | None
    local: dict[str, tuple[int, int]]

    def resolve(self, name: str, at: Span) -> Expr:
        if name in self.local:
            return self.decided.lowered(*self.local.pop(name), (), self.scope)
        found = instances.asked(name, at, self.resolve)
        short = name.partition("<")[0].rpartition("::")[2]
        return Expr("static", (*found, short), at) if found is not None else Expr("name", (short,), at)


def _param(owner: str, name: str) -> Expr:
    return Expr("param", (owner, name))


def _as_macros(item: Any) -> Any:
    """Names and calls of names as the preprocessor has them."""
    if not isinstance(item, Expr):
        return mapped(item, _as_macros)
    if item.op == "name":
        return bare_macro(item.args[0], item.at)
    if item.op == "static":
        return Expr("macro", (item.args[0], _as_macros(item.args[1])), item.at)
    if item.op == "call" and item.args[0].op == "name" and item.args[0].args[0] == "sizeof":
        size = size_of(" ".join(one.args[0] for one in item.args[1] if one.op == "name"))
        return const(size, item.at) if size is not None else unknown("sizeof", item.at)
    if item.op == "call" and item.args[0].op == "static":
        key, given_, _ = item.args[0].args
        return Expr("macro", (key, _as_macros((*given_, *item.args[1]))), item.at)
    if item.op == "call" and item.args[0].op == "name":
        return Expr("macro", (item.args[0].args[0], _as_macros(item.args[1])), item.at)
    return item._replace(args=_as_macros(item.args))


def _changed(item: Any, change: Callable[[Expr], Expr | None]) -> Any:
    """With what `change` gives for macros; what it gives nothing for is as it was."""
    if not isinstance(item, Expr):
        return mapped(item, lambda one: _changed(one, change))
    made = change(item) if item.op == "macro" else None
    return made if made is not None else item._replace(args=_changed(item.args, change))


def _of_any(item: Any, tags: frozenset[str]) -> Any:
    """With `::member` in the place of a member of a type that a template is given."""

    def change(one: Expr) -> Expr | None:
        of = one.args[0].partition("::")[0]
        return bare_macro(one.args[0].removeprefix(of), one.at) if of in tags else None

    return _changed(item, change)


def _beside(item: Any, owner: str, params: tuple[str, ...], known: Mapping[str, Function]) -> Any:
    """With what members of a class are that another member of it names."""

    def change(one: Expr) -> Expr | None:
        key = f"{owner}::{one.args[0]}"
        return Expr("macro", (key, tuple(bare_macro(of, one.at) for of in params)), one.at) if key in known else None

    return _changed(item, change)


def _bound(item: Any, owner: str, params: tuple[str, ...]) -> Any:
    """With the parameters of a function in the place of their names."""
    plain = {one.removesuffix("...") for one in params}

    def change(one: Expr) -> Expr | None:
        of, _, name = one.args[0].partition("::")
        if of not in plain:
            return None
        return (
            Expr("member", (_param(owner, of), name, _changed(one.args[1], change)), one.at)
            if name
            else _param(owner, of)
        )

    return _changed(item, change)
