"""Values that a file assigns to names: constants, fields, parameters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bwlint.chips import EVERY, queries
from bwlint.model.expr import TAG, Expr, Span, const, unknown, walk
from bwlint.model.facts import Function
from bwlint.model.naming import spoken
from bwlint.readers.cuda.asking import is_device
from bwlint.readers.cuda.expressions import lower
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.scopes import CodeScope, Scopes

MAX_VALUES = 8
MAX_SITES = 60
_CONSTANT = re.compile(
    r"const(?<!\wconst)(?:expr)?\b[^;={}()]{0,80}?\b(?P<name>[A-Za-z_]\w*)\s*[={]\s*(?P<value>\d{1,9})[uUlL]*\s*\}?\s*;"
)
_NUMBERS = frozenset(number for chip in EVERY for number in (chip.joined, 10 * chip.joined))
_OLDEST = min(chip.joined for chip in EVERY)
_ENUM = re.compile(
    r"enum(?<!\wenum)\s+(?:(?:class|struct)\s+)?(?:\w+\s*)?(?::\s*[\w:]+\s*)?\{(?P<body>[^{}]{1,4000})\}"
)
_ENUMERATOR = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<value>-?\d{1,9})\s*)?")
_MEMBER = re.compile(r"\b(?P<name>[A-Za-z_]\w*)[ ]?(?:=(?!=)|\{)[ ]?(?P<value>[^\s;{}=][^;{}=\n]{0,200})\}?;")
_DECLARED = re.compile(rf"\b{queries.structures()}\b(?:\s*(?:\*|&|const\b))*\s*(?P<name>[A-Za-z_]\w*)\s*(?=[;,)={{]|$)")
_GIVES = re.compile(rf"\b{queries.structures()}\b(?:\s*(?:\*|&|const\b))*\s*(?:\w+::)*(?P<name>\w+)\s*\(")
_INITIALISERS = re.compile(r"\)\s{0,40}:(?!:)")
_INITIALISED = re.compile(r"[:,]\s*(?P<name>\w+)\s*[({]")
_ELEMENT = re.compile(r"\]\s*(?:\.|->)\s*(?P<name>[A-Za-z_]\w*)\s*==\s*[A-Za-z_][\w.]*(?![\w.]*\[)")
"""`rows[i].sm == sm`: a row is looked up by a field, which is that row's and no device's."""
_PARTS = re.compile(r"[()\[\]{},]")
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?$")
_UNSHARED = re.compile(r"\bstatic\b|^\s*#")
_NAMELESS = re.compile(r"\bnamespace\s*\{")


@dataclass(slots=True)
class Sites:
    """Where the functions that were walked say what names are given."""

    fields: dict[str, list[Expr]] = field(default_factory=lambda: defaultdict(list))
    wanted: dict[str, tuple[CodeScope, tuple[str, ...]]] = field(default_factory=dict)
    """Functions whose parameters are of interest, by their last names, with the parameters."""
    calls: dict[int, tuple[Expr, ...]] = field(default_factory=dict)
    """What calls of them hand over, by offset."""


def constants(text: str, scopes: Scopes | None = None) -> dict[str, Expr]:
    """The whole numbers that a file names outside of its functions; those called after the device for includers too."""
    found = [one for one in _CONSTANT.finditer(text) if scopes is None or scopes.function(one.start()) is None]
    numbers = {one["name"]: const(int(one["value"])) for one in found}
    members = {f".{spoken(name)}": value for name, value in numbers.items() if is_device(name)}
    return {**_enumerators(text), **members, **numbers}


def defined(macros: Mapping[str, Function]) -> dict[str, Expr]:
    """The macros that stand for the number of a chip, or are called after the device."""
    found = {name: {value.args for _, value in one.returns} for name, one in macros.items() if not one.params}
    numbers = {name: next(iter(values)) for name, values in found.items() if len(values) == 1}
    known = {name: value[0] for name, value in numbers.items() if isinstance(value[0], int)}
    return {name: const(value) for name, value in known.items() if value in _NUMBERS or is_device(name)}


def _enumerators(text: str) -> dict[str, Expr]:
    """The numbers behind the names of enumerations, where a name has one."""
    found: dict[str, set[int]] = defaultdict(set)
    for one in _ENUM.finditer(text):
        number, counted = -1, True
        for part in one["body"].split(","):
            named = _ENUMERATOR.fullmatch(part)
            if named is None:
                break  # what follows a value that is computed is not known
            number = int(named["value"] or number + 1)
            counted = counted and not int(named["value"] or 0)
            if counted and number >= _OLDEST:
                break  # the ninetieth of a long list is no Hopper
            found[named["name"]].add(number)
    return {name: const(min(numbers)) for name, numbers in found.items() if len(numbers) == 1}


def declared(text: str, start: int, end: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in a stretch that are declared as the properties of a device, and where."""
    if text.find("DeviceProp", start, end) >= 0:
        for one in _DECLARED.finditer(text, start, end):
            yield one["name"], one.span("name")


def gives_properties(text: str, scope: CodeScope) -> bool:
    """Whether a function is declared to return the properties of a device, wherever it keeps them."""
    return any(one["name"] == plain_name(scope) for one in _GIVES.finditer(text, scope.header, scope.open))


def properties(text: str, scopes: Scopes) -> dict[str, Expr]:
    """`.field` for each member or variable of a file that holds the properties of a device."""
    found = ((name, at) for name, (at, _) in declared(text, 0, len(text)) if scopes.function(at) is None)
    return {f".{spoken(name)}": Expr("source", ("properties",)) for name, _ in found}


def names(sites: Sites, code: Code, text: str, scopes: Scopes) -> dict[str, Expr]:
    """`.field` and `f(parameter)`, each with all that is given to it."""
    for start, end in scopes.between(len(text)):
        for one in _MEMBER.finditer(text, start, end):
            value = lower(code, *one.span("value"), global_name)
            sites.fields[spoken(one["name"])].append(value)
    for scope in scopes.functions:
        for start, end, name in initialised(text, scope):
            sites.fields[spoken(name)].append(lower(code, start, end, global_name))
    fields = {f".{name}": joined(values) for name, values in sites.fields.items()}
    found = {name: value for name, value in fields.items() if _says(value)}
    keys = {spoken(one["name"]) for one in _ELEMENT.finditer(text)}
    found |= {f".{name}": unknown(TAG) for name in keys & sites.fields.keys() if not _is_copy(name, sites.fields[name])}
    unnamed = _NAMELESS.search(text)
    nameless = unnamed.start() if unnamed is not None else -1
    handed: dict[str, list[Expr]] = {}
    for name, (scope, params) in sites.wanted.items():
        rows = list(_handed(sites, code, text, scopes, scope, name))
        own = scope.header > nameless >= 0 or _UNSHARED.search(text, scope.header, scope.open) is not None
        for position, param in enumerate(params):
            column = [row[position] for row in rows if position < len(row)]
            if column and (own or not is_tag(joined(column))):
                handed[f"{scope.qualname}({param})"] = column
    return found | {name: joined(_told(column, handed)) for name, column in handed.items()}


def _is_copy(name: str, values: Sequence[Expr]) -> bool:
    """Whether a field repeats that of the same name: a record of a device, and no key by which rows are looked up."""
    return any(node.op == "attr" and spoken(node.args[1]) == name for value in values for node in walk(value))


def _told(column: Sequence[Expr], handed: Mapping[str, object]) -> Sequence[Expr]:
    """What calls hand over, but for what a function for other files only passes on: they are to say what that is."""
    told = [one for one in column if one.op != "param" or "{}({})".format(*one.args) in handed]
    return told if any(not _is_number(one) for one in told) else column


def initialised(text: str, scope: CodeScope) -> Iterator[tuple[int, int, str]]:
    """What a constructor gives to its members in front of its body: where that stands, and the member."""
    begun = _INITIALISERS.search(text, scope.header, scope.open)
    for one in _INITIALISED.finditer(text, begun.end() - 1, scope.open) if begun is not None else ():
        end = matching(text, one.end() - 1, scope.open - one.end() + 1)
        if end >= 0:
            yield one.end(), end, one["name"]


def global_name(name: str, at: Span) -> Expr:
    return Expr("name", (name.rpartition("::")[2],), at)


def _handed(sites: Sites, code: Code, text: str, scopes: Scopes, scope: CodeScope, name: str) -> list[tuple[Expr, ...]]:
    """The arguments of each call of a function in the bodies of others."""
    rows: list[tuple[Expr, ...]] = []
    if text.count(name) < 2:  # its own definition
        return rows
    word = re.escape(name)
    for mention in re.finditer(rf"{word}(?<!\w{word})\s*(?:<[^<>;()]{{0,80}}>)?\s*\(", text):
        around = scopes.function(mention.start())
        if around is None or around == scope or mention.start() < around.open or len(rows) > MAX_SITES:
            continue
        close = matching(text, mention.end() - 1, 4000)
        if close >= 0:
            parts = arguments(text, mention.end(), close)
            rows.append(sites.calls.get(mention.start()) or tuple(lower(code, *part, global_name) for part in parts))
    return rows


def joined(values: Sequence[Expr]) -> Expr:
    """One of several values; different numbers are a tag, and beside anything else no more than a beginning."""
    others = [value for value in values if not _is_number(value)]
    if not others:
        return values[0] if len({value.args for value in values}) == 1 else unknown(TAG)
    found = others[0]
    for value in others[1:MAX_VALUES]:
        found = Expr("if", (unknown("which"), value, found))
    return found


def _says(value: Expr) -> bool:
    """Whether what a file gives to a field is more than a beginning, or one of several: other files may set it too."""
    return value.op == "const" and isinstance(value.args[0], int) and value.args[0] > 1 if is_tag(value) else True


def is_tag(value: Expr) -> bool:
    return _is_number(value) or (value.op == "unknown" and value.args[0] == TAG)


def _is_number(value: Expr) -> bool:
    return value.op == "const" or (value.op == "neg" and value.args[0].op == "const")


def arguments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The offsets of the arguments between two brackets."""
    found: list[tuple[int, int]] = []
    depth, begin = 0, start
    for mark in _PARTS.finditer(text, start, end):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
        elif depth == 0:
            found.append((begin, mark.start()))
            begin = mark.end()
    found.append((begin, end))
    return found


def plain_name(scope: CodeScope) -> str:
    """How others call a function or a macro."""
    return scope.name.rpartition("::")[2].partition("#")[0].removesuffix("()")


def parameters(text: str, scope: CodeScope) -> list[str]:
    """The names of a function's parameters, as far as they are plain."""
    opening = text.find(plain_name(scope), scope.header, scope.open)
    opening = text.find("(", opening, scope.open) if opening >= 0 else -1
    close = matching(text, opening, scope.open - opening + 1) if opening >= 0 else -1
    if close < 0:
        return []
    names = [_PARAMETER.search(text[begin:end]) for begin, end in arguments(text, opening + 1, close)]
    return [found[1] if found else "" for found in names] if text[opening + 1 : close].strip() else []
