"""What the code needs of a device by name: instructions in inline assembly, atoms of template libraries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import atoms, instructions
from bwlint.model.facts import Function, Operation, OperationKind
from bwlint.readers import ptx
from bwlint.readers.cuda.compiletime import CompileTime
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import Scopes

MAX_OPERATIONS = 3000
MAX_TEMPLATE = 60_000
MAX_ARGUMENTS = 2000
ASM = re.compile(r"(?:asm(?<!\wasm)|__asm(?<!\w__asm)(?:__)?)\s*(?:(?:volatile|__volatile__|inline|goto)\s*)*\(")
_KEYWORDS = frozenset({"asm", "__asm__", "__asm"})
_PIECE = re.compile(r'"|:(?!:)|[A-Za-z_]\w*|[(){}\[\]]')
_DECLARES = re.compile(r"\b(?:struct|class|using\s+\w+\s*=|namespace)\b")
_COMPARES = re.compile(r"\bis_(?:same|base_of)(?:_v)?\s*<")


def operations(
    code: Code, text: str, found: Directives, places: Scopes, decided: CompileTime | None = None
) -> tuple[Operation, ...]:
    """Instructions and atoms in the order of the file, with the tests that are `decided` around them.

    `text` is the blanked text without directives.
    """
    result: list[Operation] = []
    for kind, name, start, end in _needs(code, text, found.macros):
        if len(result) >= MAX_OPERATIONS:
            break
        result.append(
            Operation(
                kind,
                name,
                code.span(start, end),
                path=found.path(start),
                tests=decided.tests(start) if decided is not None else (),
                qualname=places.qualname(start),
                given=decided is not None and decided.is_given(start),
            )
        )
    return tuple(sorted(result, key=lambda one: one.at))


def _needs(code: Code, text: str, macros: dict[str, Function]) -> Iterator[tuple[OperationKind, str, int, int]]:
    for match in ASM.finditer(code.text):
        for instruction, start, end in _instructions(code, match.end(), macros):
            if instructions.find(instruction) is not None:
                yield "instruction", instruction, start, end
    for name, start, end in atoms.find(text):
        before = text[statement_start(text, start) : start]
        if not _DECLARES.search(before) and not _is_compared(before):
            yield "atom", name, start, end


def _is_compared(before: str) -> bool:
    """Whether a name behind `before` stands in the brackets of is_same<...>: a question about a type uses nothing."""
    ends = (match.end() for match in _COMPARES.finditer(before))
    return any(before.count("<", end) >= before.count(">", end) for end in ends)


def statement_start(text: str, at: int) -> int:
    """Where the statement around an offset begins, looked for among the 500 characters in front of it."""
    low = max(0, at - 500)
    return max(low, *(text.rfind(mark, low, at) + 1 for mark in ";{}"))


def _instructions(code: Code, start: int, macros: dict[str, Function]) -> Iterator[tuple[str, int, int]]:
    """The statements of the template that opens behind `asm(`, with their places in the source."""
    template, places = _template(code, start, macros)
    for instruction, begin, end in ptx.statements(template):
        yield instruction[:300], *_source(places, begin, end)


def _template(code: Code, start: int, macros: dict[str, Function]) -> tuple[str, list[tuple[int, int, bool]]]:
    """The joined strings of a template, and where each begins: offset in it, in the source, and whether it is there.

    A macro whose body is a string stands for that string; any other word is a blank.
    """
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
        elif mark[0].isalpha() or mark[0] == "_":
            piece = _text_of(macros.get(mark))
            places.append((length, match.start(), False))
        elif mark in ":)":
            break
        else:
            if mark == "(":
                close = matching(code.text, match.start(), min(MAX_ARGUMENTS, stop - match.start()))
                at = close + 1 if close >= 0 else stop
            continue
        pieces.append(f"{piece} ")
        length += len(piece) + 1
    return "".join(pieces), places


def _text_of(macro: Function | None) -> str:
    if macro is None or not macro.returns:
        return ""
    value = macro.returns[0][1]
    return str(value.args[0]) if value.op == "const" else ""


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
