"""What the code needs of a device by name: instructions in inline assembly, atoms of template libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bwlint.chips import atoms, instructions
from bwlint.model.facts import Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.readers import ptx
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.pasting import MAX_ARGUMENTS, NAME, UNKNOWN, Given, MacroText, Pasting
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import Scopes

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


def operations(
    code: Code, text: str, found: Directives, places: Scopes, decided: CompileTime | None = None
) -> tuple[Operation, ...]:
    """Instructions and atoms in order, with the tests `decided` around them; `text` is blanked, without directives."""
    result: list[Operation] = []
    for kind, name, start, end, defined in _needs(code, text, found):
        if len(result) >= MAX_OPERATIONS:
            break
        tests = decided.tests(start) if decided is not None else ()
        result.append(
            Operation(
                kind,
                name,
                code.span(start, end),
                path=(*defined, *found.path(start)),
                tests=tests,
                qualname=places.qualname(start),
                given=decided is not None and decided.is_given(start, tests),
            )
        )
    return tuple(sorted(result, key=lambda one: one.at))


_Need = tuple[OperationKind, str, int, int, Path]
"""What is needed, from where to where, and under which tests the macro is defined that it comes from."""


def _needs(code: Code, text: str, found: Directives) -> Iterator[_Need]:
    for instruction, start, end, defined in _Templates(code, text, found).instructions():
        if instructions.find(instruction) is not None:
            yield "instruction", instruction, start, end, defined
    for name, start, end in atoms.find(text):
        before = text[statement_start(text, start) : start]
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

    def __init__(self, code: Code, text: str, found: Directives) -> None:
        self._code = code
        self._text = text
        self._found = found
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
