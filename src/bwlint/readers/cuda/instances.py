"""Templates with the arguments that they are given: which definition is meant, and what is decided in its body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from bwlint.chips.spelling import IN_NAMES
from bwlint.model.expr import Expr, Span, const, unknown
from bwlint.readers.cuda.expressions import Resolve, lower, number
from bwlint.readers.cuda.lexer import Code, arguments
from bwlint.readers.cuda.scopes import CodeScope
from bwlint.readers.cuda.statements import Statement

MAX_GIVEN = 300
MAX_NAMES = 40
"""Constants of a body that are followed."""
Decide = Callable[[Expr], bool | None]
"""Says whether a test holds, where that is sure."""
Given = tuple[str, ...]
_TEMPLATE = re.compile(r"\btemplate\s*(?=<)")
_NAME = re.compile(r"(?:\.\.\.\s*|\s|^)(?P<name>[A-Za-z_]\w*)\s*(?:=(?P<default>[^=].*))?$", re.DOTALL)
_PLAIN = re.compile(r"-?\w+(?:::\w+)*$")
_LAST_PART = re.compile(r"(?:\w+::)*(\w+)$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SAME = re.compile(r"(?:std::)?is_same(?:_v)?<(?P<one>[\w:]+),(?P<other>[\w:]+)>(?:::value)?$")
_LOCAL = re.compile(r"\bconstexpr\s+(?:static\s+)?[\w:]+\s+(?P<name>\w+)\s*=(?!=)\s*(?P<value>[^;{}]{1,200});")
_CHOICE = re.compile(r"\b(?:\w+::){0,4}conditional(?:_t)?\s*(?=<)")
_MEMBER = re.compile(r"\s*::\s*(?:template\s+)?(?P<name>[A-Za-z_]\w*)(?=\s*\()")
_TAG = re.compile(rf"using(?<!\wusing)\s+(?P<name>\w+)\s*=\s*(?P<tag>(?:\w+::){{0,4}}{IN_NAMES}\d{{2,3}}\w?)\s*;")
_ALIAS = re.compile(r"\busing\s+(?P<name>\w+)\s*=\s*(?:typename\s+)?$")


def given(text: str, end: int) -> tuple[Given, int]:
    """The arguments of a template behind a name that ends at an offset, and where they end; none where it is none."""
    if not text.startswith("<", end) or text.startswith(("<<", "<=", "< "), end):
        return (), end
    parts = arguments(text, end, MAX_GIVEN)
    if not parts:
        return (), end
    return tuple(" ".join(text[start:stop].split()) for start, stop in parts), parts[-1][1] + 1


def member_of(text: str, end: int) -> str:
    """The function of a template class that is called behind its arguments: `Kernel<90>::run(`; "" where none is."""
    found = _MEMBER.match(text, end)
    return found["name"] if found is not None else ""


@dataclass(frozen=True, slots=True)
class GivenTemplate:
    code: Code
    values: Mapping[str, str] = field(default_factory=dict)
    decide: Decide = lambda test: None

    def settled(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Statements with the side that is taken in the place of a test that is decided."""
        return tuple(map(self._settled, body)) if self.values else body

    def _settled(self, statement: Statement) -> Statement:
        body, orelse = self.settled(statement.body), self.settled(statement.orelse)
        holds = self.holds(*statement.test) if statement.kind == "if" and statement.test is not None else None
        if holds is None:
            return replace(statement, body=body, orelse=orelse)
        return Statement("block", statement.start, statement.end, body=body if holds else orelse)

    def holds(self, start: int, end: int) -> bool | None:
        return self.decide(lower(self.code, start, end, self._resolve))

    def with_tags(self, text: str, stretches: Iterable[tuple[int, int]]) -> GivenTemplate:
        """With what stretches call a chip's tag: `using ArchTag = arch::Sm100;`."""
        tags = {one["name"]: one["tag"] for stretch in stretches for one in _TAG.finditer(text, *stretch)}
        return replace(self, values={**self.values, **tags}) if tags else self

    def inside(self, text: str, scope: CodeScope) -> GivenTemplate:
        """With what the body of a definition names: its constants, and the types that it chooses."""
        if not self.values:
            return self
        found = dict(self.values)
        here = replace(self, values=found)
        for local in list(_LOCAL.finditer(text, scope.open, scope.close))[:MAX_NAMES]:
            value = here.holds(*local.span("value"))
            if value is not None:
                found[local["name"]] = str(value).lower()
        for choice in here.choices(text, scope.open, scope.close):
            alias = _ALIAS.search(text, scope.open, choice.start)
            taken = " ".join(text[slice(*choice.taken)].split())
            if alias is not None and _PLAIN.match(taken):
                found[alias["name"]] = taken
        return here

    def choices(self, text: str, start: int, end: int) -> Iterator[TypeChoice]:
        """The `std::conditional`s of a stretch whose test is decided."""
        for match in _CHOICE.finditer(text, start, end) if self.values else ():
            parts = arguments(text, match.end(), MAX_GIVEN)
            holds = self.holds(*parts[0]) if parts and len(parts) == 3 else None
            if parts and holds is not None:
                yield TypeChoice(match.start(), parts[1 if holds else 2], parts[2 if holds else 1])

    def written(self, arguments: Given) -> Given:
        """Arguments with what the parameters in them stand for."""
        return tuple(_WORD.sub(lambda word: self.values.get(word[0], word[0]), one) for one in arguments)

    def named(self, dotted: str) -> str:
        """A name of which the first part may be a type that is given."""
        first, dot, rest = dotted.partition(".")
        return f"{self.values[first].replace('::', '.')}{dot}{rest}" if dot and first in self.values else dotted

    def _resolve(self, name: str, at: Span) -> Expr:
        same = _SAME.match(name)
        if same is not None:
            one, other = (_LAST_PART.sub(r"\1", self.values.get(side, side)) for side in (same["one"], same["other"]))
            return const(one == other, at)
        value = self.values.get(name)
        if value in ("true", "false"):
            return const(value == "true", at)
        found = number(value) if value is not None and value.isdigit() else None
        return const(found, at) if found is not None else self._member(name, at)

    def _member(self, name: str, at: Span) -> Expr:
        """`Traits<Sm>::value` with what is given."""
        found = asked(self.written((name,))[0], at, self._resolve) if "<" in name else None
        return Expr("macro", found, at) if found is not None else unknown(name, at)


@dataclass(frozen=True, slots=True)
class TypeChoice:
    """A choice between two types, with the stretches of the one that is taken and of the other."""

    start: int
    taken: tuple[int, int]
    left: tuple[int, int]


def instance(
    code: Code, text: str, scope: CodeScope, name: str, arguments: Given, decide: Decide
) -> GivenTemplate | None:
    """The parameters of a template at these arguments; None where it is not for them."""
    if not all(map(_PLAIN.match, arguments)):
        return None
    head = template_head(text, scope)
    names = template_parameters(text, head) if head is not None else None
    if names is None:
        return None
    special = special_arguments(text, scope, name)
    wanted = special or tuple(names)
    if len(arguments) > len(wanted) or (special and len(arguments) != len(special)):
        return None
    bound = {one: default for one, default in names.items() if default and _PLAIN.match(default)}
    for pattern, argument in zip(wanted, arguments, strict=False):
        if pattern in names:
            bound[pattern] = argument
        elif _LAST_PART.sub(r"\1", pattern) != _LAST_PART.sub(r"\1", argument):
            return None
    return GivenTemplate(code, bound, decide)


def special_arguments(text: str, scope: CodeScope, name: str) -> Given:
    """The arguments of a template that a definition is for alone; none of a plain one."""
    return given(text, max(text.rfind(name, scope.header, scope.open), scope.header) + len(name))[0]


def template_head(text: str, scope: CodeScope) -> int | None:
    """Where the parameters of the last template in front of a definition open, passing by template parameters."""
    found, end = None, scope.header
    while (head := _TEMPLATE.search(text, end, scope.open)) is not None:
        found = head.end()
        parts = arguments(text, found, MAX_GIVEN * 4)
        end = parts[-1][1] if parts else found
    return found


def template_parameters(text: str, opening: int) -> dict[str, str] | None:
    """The names of the parameters of a template in order, each with its default or nothing."""
    found: dict[str, str] = {}
    for start, end in arguments(text, opening, MAX_GIVEN * 4) or ():
        match = _NAME.search(text[start:end])
        if match is None:
            return None
        found[match["name"]] = " ".join((match["default"] or "").split())
    return found


_STATIC = re.compile(r"(?:\w+::)*(?P<owner>[A-Z]\w*)(?P<given><.*>)?::(?P<name>[A-Za-z_]\w*)$")
_GIVEN = re.compile(r"(?:\w+::)*(?P<name>[a-z_]\w*)(?P<given><.*>)$")
_TYPE = re.compile(r"(?:\w+::)*[A-Z]\w*[a-z]\w*(?:<.*>)?$|.*>$")
_BASE = re.compile(r"(?::(?!:)\s*(?:public\s+)?|=\s*)(?:\w+::)*(?P<name>[A-Z]\w*)\s*(?=<)")


@dataclass(frozen=True, slots=True)
class Template:
    """The parameters of a template, a pack with its dots, and the arguments that it is written for alone."""

    params: tuple[str, ...] = ()
    special: tuple[str, ...] = ()


def template(text: str, scope: CodeScope, name: str) -> Template:
    """What stands in front of a definition."""
    opening = template_head(text, scope)
    named = template_parameters(text, opening) if opening is not None else None
    head = text[opening : scope.open] if opening is not None else ""
    params = tuple(f"{one}..." if re.search(rf"\.\.\.\s*{one}\b", head) else one for one in named or ())
    special = special_arguments(text, scope, name)
    return Template(params, special)


def base(text: str, scope: CodeScope) -> tuple[str, tuple[str, ...]] | None:
    """The template that a class is made of, with its arguments."""
    found = _BASE.search(text, scope.header, scope.close if text.startswith("=", scope.open) else scope.open)
    return (found["name"], given(text, found.end())[0]) if found is not None else None


def asked(name: str, at: Span, resolve: Resolve) -> tuple[str, tuple[Expr, ...]] | None:
    """The key of a static member or of a function template, and the arguments of the template."""
    member = _STATIC.match(name)
    found = member or _GIVEN.match(name)
    if found is None:
        return None
    key = f"{member['owner']}::{member['name']}" if member is not None else f"{found['name']}<>"
    return key, tuple(argument(one, at, resolve) for one in given(found["given"] or "", 0)[0])


def argument(text: str, at: Span, resolve: Resolve) -> Expr:
    """An argument of a template: a number, a type, or the name of a number."""
    value = number(text) if text.isdigit() else None
    if value is not None or _TYPE.match(text):
        return const(text if value is None else value, at)
    return resolve(text, at)
