"""What the code needs of a device by name: instructions in inline assembly, atoms of template libraries.

The strings of inline assembly are what the preprocessor makes of them: literals side by side, macros, their arguments.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from bwlint.chips import atoms, instructions
from bwlint.model.facts import Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers import ptx
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.lexer import Code, between_commas, matching
from bwlint.readers.cuda.scopes import CutText

MAX_DEPTH = 5
MAX_ARGUMENTS = 2000
MAX_TEXT = 500_000
"""Characters of one file that are put together: a macro may name others over and over."""
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\(([^()]*)\))?")
NAME = r"[A-Za-z_]\w*(?:\s*##\s*\w+)*"
_PASTED = re.compile(rf'"|#\s*[A-Za-z_]\w*|{NAME}|[()]')
_SPACE = re.compile(r"(?:\s|\\\n)*")
UNKNOWN = " "
"""Stands for what is not known: no modifier goes on behind it."""


@dataclass(frozen=True, slots=True)
class MacroText:
    """One `#define`: where its body stands. `params` is None for a macro that takes no brackets."""

    name: str
    params: tuple[str, ...] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MacroArgument:
    """What is given for a parameter: as it is written, and the string that it is pasted as."""

    raw: str
    text: str


Given = Mapping[str, MacroArgument]


class Pasting:
    """The macros of a file, by the text of their bodies."""

    def __init__(self, code: Code, directives: tuple[tuple[int, int], ...]) -> None:
        self._code = code
        self._left = MAX_TEXT
        self._every: list[MacroText] = []
        self._by_name: dict[str, list[MacroText]] = {}
        for start, end in directives:
            if found := _DEFINE.match(code.text, start, end):
                listed = found[2]
                params = None if listed is None else tuple(word.strip() for word in listed.split(","))
                self._every.append(MacroText(found[1], params, found.end(), end))
                self._by_name.setdefault(found[1], []).append(self._every[-1])

    def around(self, offset: int) -> MacroText | None:
        """The macro in whose body an offset stands."""
        index = bisect.bisect_right(self._every, offset, key=lambda one: one.start) - 1
        return self._every[index] if index >= 0 and offset < self._every[index].end else None

    def word(self, name: str, end: int, given: Given, depth: int = 0) -> tuple[str, int]:
        """The string that a name stands for, and where the source goes on behind it and its brackets."""
        if "##" in name:
            parts = [part.strip() for part in name.split("##")]
            name = "".join(given[part].raw if part in given else part for part in parts)
            given = {}
        if name in given:
            return given[name].text, end
        found = self._by_name.get(name, [])
        close = self._closing(end)
        after = end if close < 0 or (found and found[0].params is None) else close + 1
        if len(found) != 1 or depth >= MAX_DEPTH:
            return UNKNOWN, after
        inner = self.arguments(found[0], end, given, depth)
        return self.text(found[0].start, found[0].end, inner, depth + 1), after

    def text(self, start: int, end: int, given: Given, depth: int = 0) -> str:
        """The string that a stretch of the source is."""
        code, parts, at = self._code, [], start
        while self._left > 0 and (match := _PASTED.search(code.text, at, end)) is not None:
            at = match.end()
            self._left -= 1
            if match[0] == '"':
                literal = code.literal_at(match.start())
                if literal is None:
                    break
                parts.append(code.content(literal))
                self._left -= len(parts[-1])
                at = literal.end + 1
            elif match[0][0] == "#":
                argument = given.get(match[0][1:].strip())
                parts.append(UNKNOWN if argument is None else argument.raw)
            elif match[0] not in "()":
                text, at = self.word(match[0], at, given, depth)
                parts.append(text)
        return "".join(parts)

    def arguments(self, definition: MacroText, end: int, given: Given, depth: int = 0) -> dict[str, MacroArgument]:
        """What is given to a macro whose name ends at an offset."""
        close = self._closing(end)
        if not definition.params or close < 0:
            return {}
        opening = self._code.text.index("(", end)
        spans = between_commas(self._code.text, opening + 1, close)
        found = [self._argument(start, stop, given, depth) for start, stop in spans]
        return dict(zip(definition.params, found, strict=False))

    def _argument(self, start: int, end: int, given: Given, depth: int) -> MacroArgument:
        raw = self._code.source[start:end].strip()
        raw = given[raw].raw if raw in given else raw
        return MacroArgument(self._value(raw) if depth else raw, self.text(start, end, given, depth))

    def _value(self, raw: str) -> str:
        """What a macro without brackets is called by: what is handed on is put in first."""
        found = self._by_name.get(raw, [])
        if len(found) != 1 or found[0].params is not None:
            return raw
        return self._code.source[found[0].start : found[0].end].strip()

    def _closing(self, end: int) -> int:
        """Where the bracket closes that opens right behind a name, or -1."""
        text = self._code.text
        space = _SPACE.match(text, end)
        at = space.end() if space else end
        return matching(text, at, MAX_ARGUMENTS) if text.startswith("(", at) else -1


MAX_OPERATIONS = 3000
MAX_TEMPLATE = 60_000
MAX_EXPANDED = 2_000_000
"""Characters of macros that are read again where they are named."""
ASM = re.compile(r"(?:asm(?<!\wasm)|__asm(?<!\w__asm)(?:__)?)\s*(?:(?:volatile|__volatile__|inline|goto)\s*)*\(")
_KEYWORDS = frozenset({"asm", "__asm__", "__asm"})
_PIECE = re.compile(rf'"|:(?!:)|#\s*[A-Za-z_]\w*|{NAME}|[(){{}}\[\]]')
_NUMBERED = re.compile(r"::%\d+(?![\w%])")
"""An operand in the place of a modifier's number; any of them does."""
_DECLARES = re.compile(r"\b(?:struct|class|using\s+\w+\s*=|namespace)\b")
_COMPARES = re.compile(r"\bis_(?:same|base_of)(?:_v)?\s*<")


def operations(file: CutText, decided: CompileTime | None = None) -> tuple[Operation, ...]:
    """Instructions and atoms in order, with the tests `decided` around them."""
    result: list[Operation] = []
    for kind, name, start, end, defined in _needs(file):
        if len(result) >= MAX_OPERATIONS:
            break
        tests = decided.tests(start) if decided is not None else ()
        given = decided is not None and decided.is_given(start, tests)
        one = file.operation(kind, name, start, end, tests=tests, given=given)
        result.append(replace(one, path=(*defined, *one.path)) if defined else one)
    return tuple(sorted(result, key=lambda one: one.at))


_Need = tuple[OperationKind, str, int, int, Path]
"""What is needed, from where to where, and under which tests the macro is defined that it comes from."""


def _needs(file: CutText) -> Iterator[_Need]:
    for instruction, start, end, defined in _Templates(file).instructions():
        if instructions.find(instruction) is not None:
            yield "instruction", instruction, start, end, defined
    for name, start, end in atoms.find(file.text):
        before = file.text[statement_start(file.text, start) : start]
        if not _DECLARES.search(before) and not _is_compared(before):
            yield "atom", name, start, end, ()


def _is_compared(before: str) -> bool:
    """Whether a name behind `before` stands in the brackets of is_same<...>: a question about a type uses nothing."""
    ends = (match.end() for match in _COMPARES.finditer(before))
    return any(before.count("<", end) >= before.count(">", end) for end in ends)


def statement_start(text: str, at: int) -> int:
    """Where the statement around an offset begins, looked for among the 500 characters in front of it."""
    low = max(0, at - 500)
    return max(low, *(text.rfind(mark, low, at) + 1 for mark in ";{}"))


class _Templates:
    """The templates of inline assembly of a file. One in the body of a macro counts where the macro is used."""

    def __init__(self, file: CutText) -> None:
        code, found = file.code, file.found
        self._code, self._text, self._found = code, file.text, found
        self._asm = [(match.start(), match.end()) for match in ASM.finditer(code.text)] if "asm" in code.text else []
        self._pasting = Pasting(code, found.lines if self._asm else ())

    def instructions(self) -> Iterator[tuple[str, int, int, Path]]:
        """Each with its place, and with the tests under which the macro is defined that holds it."""
        held: dict[MacroText, list[int]] = {}
        for start, end in self._asm:
            definition = self._pasting.around(start) if self._found.holds(start) else None
            if definition is not None:
                held.setdefault(definition, []).append(end)
                continue
            for instruction, begin, stop in self._statements(end, {}):
                yield instruction, begin, stop, ()
        named: set[str] = set()
        left = MAX_EXPANDED
        for one, start, end in _uses(self._text, held):
            named.add(one.name)
            left -= one.end - one.start
            if left < 0:
                break
            given = self._pasting.arguments(one, end, {})
            for at in held[one]:
                for instruction, _, _ in self._statements(at, given):
                    yield instruction, start, end, self._found.path(one.start)
        for at in (end for one, ends in held.items() if one.name not in named for end in ends):
            for instruction, begin, stop in self._statements(at, {}):  # in a header: it is for those who include it
                yield instruction, begin, stop, ()

    def _statements(self, start: int, given: Given) -> Iterator[tuple[str, int, int]]:
        """The statements of the template that opens behind `asm(`, with their places in the source."""
        template, places = self._template(start, given)
        for instruction, begin, end in ptx.statements(template):
            yield _NUMBERED.sub("::1", instruction[:300]), *_source(places, begin, end)

    def _template(self, start: int, given: Given) -> tuple[str, list[tuple[int, int, bool]]]:
        """The joined strings of a template, macros for strings too: offset in it, in the source, is it there."""
        code = self._code
        pieces: list[str] = []
        places: list[tuple[int, int, bool]] = []
        length = 0
        at, stop = start, min(len(code.text), start + MAX_TEMPLATE)
        while (match := _PIECE.search(code.text, at, stop)) is not None:
            at = match.end()
            mark = match[0]
            if mark == '"':
                literal = code.literal_at(match.start())
                if literal is None:
                    break
                piece = code.content(literal)
                places.append((length, literal.start, True))
                at = literal.end + 1
            elif mark in _KEYWORDS:
                break
            elif mark[0] == "#":
                argument = given.get(mark[1:].strip())
                piece = UNKNOWN if argument is None else argument.raw
                places.append((length, match.start(), False))
            elif mark[0].isalpha() or mark[0] == "_":
                piece, at = self._pasting.word(mark, at, given)
                places.append((length, match.start(), False))
            elif mark in ":)":
                break
            else:
                close = matching(code.text, match.start(), min(MAX_ARGUMENTS, stop - at)) if mark == "(" else -1
                at = close + 1 if close >= 0 else at
                continue
            pieces.append(piece)
            length += len(piece)
        return "".join(pieces), places


def _uses(text: str, held: Iterable[MacroText]) -> Iterator[tuple[MacroText, int, int]]:
    """Where macros are named in a text without directives."""
    by_name: dict[str, list[MacroText]] = {}
    for one in held:
        by_name.setdefault(one.name, []).append(one)
    names = "|".join(by_name)
    for match in re.finditer(rf"(?:{names})(?!\w)", text) if names else ():
        if not re.match(r"\w", text[match.start() - 1 : match.start()]):
            yield from ((one, *match.span()) for one in by_name[match[0]])


def _source(places: list[tuple[int, int, bool]], start: int, end: int) -> tuple[int, int]:
    """Where a stretch of the template stands in the source; inside a macro's text, where its name does."""
    return _offset(places, start), max(_offset(places, max(start, end - 1)) + 1, _offset(places, start) + 1)


def _offset(places: list[tuple[int, int, bool]], at: int) -> int:
    first, begin, there = places[0]
    for place in places:
        if place[0] > at:
            break
        first, begin, there = place
    return begin + at - first if there else begin
