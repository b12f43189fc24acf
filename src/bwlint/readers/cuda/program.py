"""The host functions, macros and regions of a file that the reader walks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bwlint.model.expr import Expr
from bwlint.readers.cuda import containers, given
from bwlint.readers.cuda.expressions import kept_as, outside
from bwlint.readers.cuda.given import ANY_COMPARISON, asking, device_words, may_ask
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, CutText, Scopes
from bwlint.readers.cuda.statements import FAILS
from bwlint.readers.cuda.walk import HostProgram, HostWalk, last
from bwlint.readers.reads import Reads
from bwlint.readers.spans import any_within

_SHORT = 1500
_LONGEST_MACRO = 4000
_TEMPLATE = re.compile(r"\btemplate\s*<")
_TEMPLATE_PARAMETER = re.compile(r"\b(?:typename|class|int|unsigned|bool|auto|size_t|\w+_t)\b[\s.]*(\w+)\s*(?=[,>=])")
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<params>\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class _Either:
    """The names that a file has by now, and those that it was brought."""

    own: Mapping[str, Expr]
    brought: frozenset[str]

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.brought


def program(file: CutText, brought: frozenset[str] = frozenset()) -> HostProgram:
    """The gates and helpers of a file; `brought` are others' functions that ask."""
    code, text, scopes, directives = file.code, file.text, file.places, file.found
    found = HostProgram()
    outer = [scope for scope in scopes.functions if not scope.kernel]
    everything = sorted((*_macros(code, directives), *outer), key=lambda scope: scope.header)
    seen = {"function": text, "macro": code.text.replace("\\\n", " \n")}
    words = device_words(code)
    places = {kind: asking(words, body) for kind, body in seen.items()}
    open_to = {scope.open for scope in everything if any_within(places[scope.kind], scope.header, scope.close)}
    for scope in outer:
        if scope.open in open_to and _answers(text, scope):
            found.names[last(scope.name)] = Expr("function", (scope.qualname,))
    reads = Reads(found.slots, _Either(found.names, brought))
    found.carriers |= found.names.keys() | brought
    found.names |= {**given.constants(text, scopes), **given.defined(directives.macros)}
    found.names |= given.properties(text, scopes)
    if open_to or containers.has_tables(text):
        kept = containers.outside(code, text, scopes, given.global_name)
        found.names |= kept
        found.containers |= {("name", name) for name, value in kept.items() if value.op != "tuple"}
    params: dict[str, list[int]] = {}
    for scope in everything:
        body = seen[scope.kind]
        asks = scope.open in open_to or ANY_COMPARISON.search(body, scope.open, scope.close) is not None
        starts = directives.starts
        may_fail = scope.kind == "macro" or bisect_right(starts, scope.open) < bisect_left(starts, scope.close)
        asks = asks or (may_fail and FAILS.search(body, scope.open, scope.close) is not None)
        if asks or found.uses_carrier(body, scope.header, scope.close) or given.gives_properties(body, scope):
            one = _apart(scope, len(given.parameters(body, scope)), params)
            HostWalk(file, body, one, found, reads, tags(text, scopes, scope)).run()
    for start, end in outside(text, lambda offset: scopes.function(offset) is None):
        if may_ask(text, start, end) or found.uses_carrier(text, start, end):
            scope = CodeScope("function", "", start, start, end, scopes.owner(start) or "<module>")
            HostWalk(file, text, scope, found, reads, frozenset()).outside(kept_as(text, 0, start))
    for name in _of_several_classes(found):
        del found.names[name]
    if found.gates or found.carriers:
        found.names |= given.names(found.sites, code, text, scopes)
    return found


def _of_several_classes(found: HostProgram) -> list[str]:
    """The methods that more than one class has: which of them an object is asked for nobody knows."""
    owners: dict[str, set[str]] = {}
    for qualname in found.functions:
        owner, _, name = qualname.partition("#")[0].rpartition(".")
        owners.setdefault(name, set()).add(owner)
    return [name for name, of in owners.items() if len(of) > 1 and "" not in of and name in found.names]


def _apart(scope: CodeScope, params: int, taken: dict[str, list[int]]) -> CodeScope:
    """A function under a name of its own where another takes another number of arguments: `f#2`."""
    known = taken.setdefault(scope.qualname, [])
    if params not in known:
        known.append(params)
    number = known.index(params)
    return replace(scope, name=f"{scope.name}#{number + 1}") if number else scope


def tags(text: str, scopes: Scopes, scope: CodeScope) -> frozenset[str]:
    """The template parameters of a function and of the classes around it."""
    around = [one for one in scopes.all if one.kind == "class" and one.open < scope.open < one.close]
    found: set[str] = set()
    for one in (*around, scope) if scope.kind == "function" else ():
        for template in _TEMPLATE.finditer(text, one.header, one.open):
            found |= set(_TEMPLATE_PARAMETER.findall(text[template.end() : one.open].partition("(")[0]))
    return frozenset(found)


def _macros(code: Code, directives: Directives) -> Iterator[CodeScope]:
    """Macros as functions: their names end in brackets, that none is taken for a function of the file."""
    for (start, end), word in zip(directives.lines, directives.words, strict=True):
        define = None if word else _DEFINE.match(code.text, start, end)
        if define is not None and 0 < end - define.end() < _LONGEST_MACRO:
            yield CodeScope("macro", f"{define['name']}()", start, define.end() - 1, end)


def _answers(text: str, scope: CodeScope) -> bool:
    """A short function whose value is a condition: its name reads the device where it is called."""
    short = scope.close - scope.open < _SHORT
    return short and re.search(r"\bbool\b", text[scope.header : scope.open].partition("(")[0]) is not None
