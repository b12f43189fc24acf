"""A C++ file in layers: its text without directives, and which function, class or kernel each brace of it opens."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from bwlint.chips import frameworks
from bwlint.model.facts import Operation
from bwlint.model.kinds import OperationKind
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.readers.cuda.preprocessor import Directives, directives

_ROUND = re.compile(r"[()]")
_MARK = re.compile(r"[{};]")
_TYPE = re.compile(r"\b(?:class|struct|union|enum)\b")
_ATTRIBUTE = re.compile(r"\s*(?:\w+\s*\([^()]*\)|\[\[[^\]]*\]\])")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FUNCTION = re.compile(
    r"((?:[A-Za-z_]\w*\s*::\s*){0,6}(?:~?[A-Za-z_]\w*|operator\s*(?:\(\s*\)|[^\s(]{1,3})))\s*(?:<[^<>;{}]*>\s*)?$"
)
_TAIL = re.compile(
    r"\)\s*(?:(?:const|noexcept|override|final|mutable|volatile|&&?)\s*)*(?:->\s*[^{;()]+)?(?::(?!:)[^;{}]*)?$"
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "defined"})
_NOTHING = re.compile(r"(?:\s+|\#\s*(?:pragma|line|ident|warning)\b(?:[^\\\n]+|\\.)*)*", re.DOTALL)
"""What may stand in front of a declaration: `#pragma once` is no part of it, though guards of the file may follow."""
_NAMESPACE = re.compile(r"\bnamespace\b")
_KERNEL = re.compile(r"\b__global__\b")
_TEST = re.compile(rf"(?:^|\s){frameworks.piece('tests')}\s*\(\s*(?P<suite>\w+)\s*,\s*(?P<name>\w+)\s*\)\s*$")
_ALIAS = re.compile(r"using(?<!\wusing)\s+(?P<name>[A-Za-z_]\w*)\s*=")
_LONGEST_ALIAS = 4000
_LONGEST_HEADER = 4000
_LONGEST_NAME = 1000


@dataclass(frozen=True, slots=True)
class CodeScope:
    """A function, class or test; `header` is where its declaration begins, `open` and `close` its braces."""

    kind: str
    name: str
    header: int
    open: int
    close: int
    parent: str = ""
    kernel: bool = False
    test: bool = False
    namespace: str = ""
    """The innermost one around."""

    @property
    def qualname(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name


class Scopes:
    """The functions and classes of a file, in order of their opening braces."""

    def __init__(self, found: list[CodeScope]) -> None:
        self.all = sorted(found, key=lambda scope: scope.open)

    @cached_property
    def _starts(self) -> list[int]:
        return [scope.header for scope in self.functions]

    @cached_property
    def functions(self) -> list[CodeScope]:
        """Functions that stand in no other function."""
        outer: list[CodeScope] = []
        for scope in self.all:
            if scope.kind == "function" and not (outer and scope.open < outer[-1].close):
                outer.append(scope)
        return outer

    def function(self, offset: int) -> CodeScope | None:
        """The function whose header or body holds an offset."""
        index = bisect.bisect_right(self._starts, offset) - 1
        if index < 0:
            return None
        found = self.functions[index]
        return found if offset <= found.close else None

    def between(self, end: int) -> Iterator[tuple[int, int]]:
        """The stretches of a text of that length which stand in no function."""
        start = 0
        for function in self.functions:
            yield start, function.header
            start = function.close + 1
        yield start, end

    @cached_property
    def _outermost(self) -> list[CodeScope]:
        found: list[CodeScope] = []
        for scope in self.all:
            if not found or scope.header > found[-1].close:
                found.append(scope)
        return found

    @cached_property
    def _opens(self) -> list[int]:
        return [scope.open for scope in self.all]

    def outside(self, offset: int) -> bool:
        """Whether an offset stands in no function and no class."""
        index = bisect.bisect_right(self._outermost, offset, key=lambda scope: scope.header) - 1
        return index < 0 or self._outermost[index].close < offset

    def members(self, owner: CodeScope) -> Iterator[tuple[int, int]]:
        """The stretches of a class that belong to none of its methods and classes."""
        start = owner.open
        index = bisect.bisect_right(self._opens, owner.open)
        while index < len(self.all) and self.all[index].open < owner.close:
            scope = self.all[index]
            if start <= scope.header:
                yield start, scope.header
                start = scope.close
            index = bisect.bisect_right(self._opens, scope.close)
        yield start, owner.close

    def owner(self, offset: int) -> str:
        """The class around an offset, or "" where there is none."""
        around = [one for one in self.all if one.kind == "class" and one.open < offset < one.close]
        return around[-1].qualname if around else ""

    def qualname(self, offset: int) -> str:
        found = self.function(offset)
        return found.qualname if found else "<file>"


@dataclass(frozen=True, slots=True)
class _Open:
    """A brace that is not closed yet, and the one around it; `classes` are the names of the classes around it."""

    outer: _Open | None
    kind: str
    name: str
    header: int
    open: int
    classes: str = ""
    kernel: bool = False
    test: bool = False
    in_function: bool = False
    namespace: str = ""


def aliases(text: str, places: Scopes) -> Iterator[CodeScope]:
    """The types that a file names outside of everything, `using Gemm = Kernel<half>;`, as classes of their own."""
    for match in _ALIAS.finditer(text):
        end = text.find(";", match.end(), match.end() + _LONGEST_ALIAS)
        if end >= 0 and places.outside(match.start()):
            yield CodeScope("class", match["name"], match.start(), match.end() - 1, end)


def scopes(text: str, directives: Directives) -> Scopes:
    """Pair the braces of a text without directives; each arm of an `#if` begins where the `#if` stood."""
    found: list[CodeScope] = []
    innermost: _Open | None = None
    saved: list[_Open | None] = []
    last = 0
    for offset, mark in _marks(text, directives):
        if mark == "if":
            saved.append(innermost)
        elif mark == "el" and saved:
            innermost = saved[-1]
        elif mark == "endif" and saved:
            saved.pop()
        elif mark == "{":
            around = innermost.namespace if innermost is not None else ""
            innermost = _opened(text, last, offset, innermost)
            if around and not (innermost.namespace or innermost.in_function):
                innermost = replace(innermost, namespace=around)
        elif mark == "}" and innermost is not None:
            closed, innermost = innermost, innermost.outer
            if closed.kind != "block":
                names = closed.classes, closed.kernel, closed.test, closed.namespace
                found.append(CodeScope(closed.kind, closed.name, closed.header, closed.open, offset, *names))
        if mark in "{};":
            last = offset + 1
    return Scopes(found)


def _marks(text: str, directives: Directives) -> list[tuple[int, str]]:
    """Braces, semicolons and the words of conditionals, in order."""
    marks = [(match.start(), match[0]) for match in _MARK.finditer(text)]
    marks += [(start, name) for (start, _), name in zip(directives.lines, directives.words, strict=True) if name]
    return sorted(marks)


def _opened(text: str, start: int, brace: int, outer: _Open | None) -> _Open:
    """What the brace at an offset opens, by the words in front of it."""
    if outer is not None and (outer.in_function or outer.kind == "function"):
        return _Open(outer, "block", "", brace, brace, in_function=True)
    classes = _classes(outer)
    low = max(start, brace - _LONGEST_HEADER)
    first = _NOTHING.match(text, low, brace)
    begin = first.end() if first is not None else low
    header = text[begin:brace]
    if (found := _NAMESPACE.search(header)) is not None or not header.strip():
        names = _NAME.findall(header, found.end()) if found is not None else []
        return _Open(outer, "block", "", begin, brace, classes, namespace=names[-1] if names else "")
    declared = _declared_type(header)
    if declared:
        return _Open(outer, "class", declared, begin, brace, classes)
    test = _TEST.search(header)
    if test is not None:
        return _Open(outer, "function", test["name"], begin, brace, test["suite"], test=True)
    tail = _TAIL.search(header)
    name = _name_before(header, tail.start()) if tail else None
    if name is None:
        return _Open(outer, "block", "", begin, brace, classes)
    return _Open(outer, "function", name, begin, brace, classes, _KERNEL.search(header) is not None)


def _classes(around: _Open | None) -> str:
    """The names of the classes that hold what is opened next."""
    if around is None:
        return ""
    if around.kind != "class" or len(around.classes) > _LONGEST_NAME:
        return around.classes
    return f"{around.classes}.{around.name}" if around.classes else around.name


def _declared_type(header: str) -> str:
    """The name of the class that a header declares, or "" where it declares none."""
    keywords = list(_TYPE.finditer(header))
    if not keywords:
        return ""
    rest = header[keywords[-1].end() :]
    attribute = _ATTRIBUTE.match(rest)
    rest = rest[attribute.end() :] if attribute else rest
    if "(" in rest or ")" in rest or "=" in rest:
        return ""
    names = [name for name in _NAME.findall(re.split(r"(?<!:):(?!:)|<", rest)[0]) if name != "final"]
    return names[-1] if names else ""


def _name_before(header: str, closing: int) -> str | None:
    """The name in front of the parameter list that ends at `closing`."""
    depth = 0
    for at in reversed([mark.start() for mark in _ROUND.finditer(header, 0, closing + 1)]):
        depth += 1 if header[at] == ")" else -1
        if depth == 0:
            found = _FUNCTION.search(header, max(0, at - 300), at)
            if found is None:
                return None
            name = re.sub(r"\s+", "", found[1])
            return None if name.rpartition("::")[2] in _CONTROL else name
    return None


def without_directives(text: str, directives: Directives) -> str:
    """The text with its directives blanked, and what is spliced in between them, offsets as they were."""
    pieces: list[str] = []
    end = 0
    for start, stop in sorted((*directives.lines, *directives.spliced)):
        start = max(start, end)
        stop = max(stop, end)
        pieces += (text[end:start], re.sub(r"[^\n]", " ", text[start:stop]))
        end = stop
    pieces.append(text[end:])
    return "".join(pieces)


MOST_KEPT = 48
"""Files that are cut up at a time: who asks for one mostly asks again soon, and all of them are as long as the tree."""


@dataclass(frozen=True, slots=True)
class CutText:
    """`text` is the blanked text without directives."""

    code: Code
    text: str
    found: Directives
    places: Scopes

    def operation(self, kind: OperationKind, name: str, start: int, end: int, **more: Any) -> Operation:
        """An operation between two offsets, with the preprocessor's tests and the function around it."""
        around: dict[str, Any] = {"path": self.found.path(start), "qualname": self.places.qualname(start), **more}
        return Operation(kind, name, self.code.span(start, end), **around)


@lru_cache(maxsize=MOST_KEPT)
def cut(source: str) -> CutText:
    """A source cut up. Never raises."""
    code = clean(source)
    found = directives(code)
    text = without_directives(code.text, found)
    return CutText(code, text, found, scopes(text, found))
