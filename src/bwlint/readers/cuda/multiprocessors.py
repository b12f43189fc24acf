"""Hard-coded multiprocessor counts in C++."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.model.details import Multiprocessors
from bwlint.model.facts import Operation
from bwlint.readers.counted import asks, counts, waits
from bwlint.readers.cuda.lexer import Code
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes

MAX_FOUND = 40
_NUMBER = re.compile(r"(?<![\w.])(?P<number>\d{2,3})(?![\w.])")
_DECLARED = re.compile(
    r"\b(?:int|unsigned|auto|size_t|u?int\d\d_t|long|short|constexpr|const)\b[\s&*]{1,8}(?P<name>[A-Za-z_]\w{2,59})\s{0,8}[={(]\s{0,8}$"
)
_DEFINED = re.compile(r"#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w{2,59})[ \t]+\(?$")
_GRID = re.compile(
    r"\bdim3\s{1,8}(?P<name>\w{0,40}(?i:grid|blocks|ctas)\w{0,40})\s{0,8}[({]\s{0,8}(?P<number>\d{2,3})\s{0,8}[,)}]"
    r"|<<<\s{0,8}(?P<launched>\d{2,3})\s{0,8},"
)
_ROUND = 8
"""Grids of a multiple are sized by the work, whatever product has that many."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_WAY_BACK = 120
_MARKED = re.compile(r"[sS][mM]|rocessor")
_MARKS = re.compile(r"[sS][mM][sS]?\w{0,10}|[pP]rocessor\w{0,10}")


def operations(code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    """The numbers of a file; of a constant outside of functions, those of the functions that use it decide."""
    words: dict[CodeScope, frozenset[str]] = {}
    for number, (name, begin, end) in enumerate(_numbers(code)):
        if number >= MAX_FOUND:
            return
        around = places.function(begin)
        using = (
            [around]
            if around is not None
            else [one for one in places.functions if name in code.text[one.header : one.close]]
        )
        for scope in using:
            if scope not in words:
                words[scope] = frozenset(_WORD.findall(code.text[scope.header : scope.close]))
        if not using or any(asks(word) for scope in using for word in words[scope] if word != name):
            continue
        at = code.span(begin, end)
        yield Operation(
            "multiprocessors",
            "resident" if any(waits(word) for scope in using for word in words[scope]) else "fixed",
            at,
            detail=Multiprocessors(int(code.text[begin:end]), name),
            path=directives.path(begin),
            qualname=places.qualname(begin),
        )


def _numbers(code: Code) -> Iterator[tuple[str, int, int]]:
    """Declared numbers of multiprocessors and numbers of blocks in launches, each with its name and its place."""
    text = code.text
    for grid in _GRID.finditer(text) if "<<<" in text or "dim3" in text else ():
        group = "number" if grid["number"] else "launched"
        if int(grid[group]) % _ROUND:
            yield grid["name"] or "gridDim.x", *grid.span(group)
    for marked in _MARKS.finditer(text) if any(map(counts, code.words_with(_MARKED))) else ():
        match = _NUMBER.search(text, marked.end(), marked.end() + 12)
        if match is None:
            continue
        before = text[max(0, match.start() - _WAY_BACK) : match.start()]
        declared = _DECLARED.search(before) or _DEFINED.search(before)
        if declared is not None and counts(declared["name"]):
            yield declared["name"], match.start(), match.end()
