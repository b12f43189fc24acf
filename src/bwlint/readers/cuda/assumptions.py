"""What host code assumes: numbers of multiprocessors, NVML's answer on memory, two digits of a target."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips.digits import is_about, misread
from bwlint.chips.products import memory_queries
from bwlint.evaluate.names import guess
from bwlint.evaluate.patterns import misread_by
from bwlint.model.details import MisreadDigits, Multiprocessors
from bwlint.model.facts import Operation
from bwlint.readers.counted import asks, counts, waits
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.scopes import CodeScope, CutText
from bwlint.readers.cuda.statements import FAILS, statements

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


def multiprocessors(file: CutText) -> Iterator[Operation]:
    """The numbers of a file; of a constant outside of functions, those of the functions that use it decide."""
    code, places = file.code, file.places
    words: dict[CodeScope, frozenset[str]] = {}
    for number, (name, begin, end) in enumerate(_numbers(code)):
        if number >= MAX_FOUND:
            return
        around = places.function(begin)
        named = (one for one in places.functions if name in code.text[one.header : one.close])
        using = [around] if around is not None else list(named)
        for scope in using:
            if scope not in words:
                words[scope] = frozenset(_WORD.findall(code.text[scope.header : scope.close]))
        if not using or any(asks(word) for scope in using for word in words[scope] if word != name):
            continue
        how = "resident" if any(waits(word) for scope in using for word in words[scope]) else "fixed"
        detail = Multiprocessors(int(code.text[begin:end]), name)
        yield file.operation("multiprocessors", how, begin, end, detail=detail)


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


_NAMES = sorted(memory_queries("call"), reverse=True)
_CALL = re.compile(rf"\b(?P<name>{'|'.join(_NAMES)})\s*\(")
_POINTER = re.compile(rf"\b(?P<kept>[A-Za-z_]\w*)\s*=\s*&?\s*(?P<name>{'|'.join(_NAMES)})\s*[;,]")
_LOOKED_UP = re.compile(r"\b(?P<kept>[A-Za-z_]\w*)\s*=[^=;{}]{0,120}\"$")
_EXPECTS = re.compile(r"(?i)NOT_?SUPPORTED")
_BY_NUMBER = re.compile(r"[!=]=\s*3\b|\bcase\s+3\b")
"""NVML_ERROR_NOT_SUPPORTED is 3: so who takes the function from a library says it, which has no header."""
_TESTED = re.compile(r"\bif\s*\((?:[^;{}]*!=\s*)?\s*$")
_CHECKED = re.compile(r"\w*(?i:check|try|safe|assert|ensure|verify|call)\w*\s*\(\s*(?:[^;{}()]*(?:==|,)\s*)?$")
_KEPT = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*$")
(_TABLE,) = memory_queries("table")
_ASKED = re.compile(r"nvidia-smi(?:\b.*--query-gpu=(?:(?:name|uuid),)*(?P<name>memory\.\w+)\b.*)?")
_READ = re.compile(r"\bsto(?:i|u?ll?|f|d)\s*\(|\b(?P<scans>s?f?scanf)\s*\(")
_UNKNOWN = re.compile(r"(?i)N/A|not.?supported|unified|gb10")
_NEAR = 400
"""Characters between a question and the test of what came back."""


def memory_questions(file: CutText) -> Iterator[Operation]:
    """The questions of a file that names no refusal anywhere."""
    text = file.code.text
    for name, match in _calls(file.code):
        scope = file.places.function(match.start())
        if scope is None or _EXPECTS.search(text) or not _ends(text, match, scope):
            continue
        if not _BY_NUMBER.search(text, scope.open, scope.close):
            yield file.operation("memory-query", name, *match.span("name"), checked=False)
    yield from _read_as_numbers(file)


def _read_as_numbers(file: CutText) -> Iterator[Operation]:
    """The runs of nvidia-smi of whose answer `stoi` makes a number, or a `sscanf` without which nothing goes on."""
    code, text = file.code, file.code.text
    for literal in code.literals:
        asked = _ASKED.fullmatch(code.content(literal))
        scope = file.places.function(literal.start) if asked else None
        if asked is None or scope is None:
            continue
        begun = text.rfind(";", 0, literal.start) + 1
        if not (read := _READ.search(text, begun, scope.close)) or "catch" in text[scope.open : scope.close]:
            continue
        said = [code.content(one) for one in code.literals_in(scope.open, scope.close)]
        is_meant = asked["name"] is not None or any("MiB" in one for one in said)
        ends = read["scans"] is None or FAILS.search(text, read.start(), scope.close) is not None
        if is_meant and ends and not any(_UNKNOWN.search(one) for one in said):
            name = asked["name"] or _TABLE
            yield file.operation("memory-query", name, literal.start, literal.end, checked=False)


def _calls(code: Code) -> Iterator[tuple[str, re.Match[str]]]:
    """The calls of such functions, by their name or through a pointer."""
    yield from ((match["name"], match) for match in _CALL.finditer(code.text))
    kept = {match["kept"]: match["name"] for match in _POINTER.finditer(code.text)}
    for literal in code.literals:
        name = code.content(literal)
        if name in _NAMES and (match := _LOOKED_UP.search(code.text, max(0, literal.start - _NEAR), literal.start)):
            kept[match["kept"]] = name
    for pointer, name in kept.items():
        yield from (
            (name, match) for match in re.finditer(rf"(?:\b\w+(?:\.|->))?\b(?P<name>{pointer})\s*\(", code.text)
        )


def _ends(text: str, call: re.Match[str], scope: CodeScope) -> bool:
    """Whether what is not NVML_SUCCESS ends in an error, or `main` in a return."""
    begun = max(text.rfind(mark, scope.open, call.start()) for mark in ";{}") + 1
    before = text[begun : call.start()]
    close = matching(text, call.end() - 1, _NEAR)
    if close < 0:
        return False
    if _CHECKED.search(before) is not None:
        return True
    kept = _KEPT.search(before)
    if kept is None:
        return _TESTED.search(before) is not None and _fails(text, begun + before.find("if"), scope)
    asks = re.compile(rf"(?P<test>\bif\s*\([^;{{}}=]*)?\b{kept['name']}\b(?!\s*(?:=[^=]|==))")
    tested = asks.search(text, close, min(scope.close, close + _NEAR))
    if tested is None:
        return False
    checked = _CHECKED.search(text[close : tested.end() - len(kept["name"])]) is not None
    return checked or (tested["test"] is not None and _fails(text, tested.start(), scope))


def _fails(text: str, start: int, scope: CodeScope) -> bool:
    """Whether the branch of an `if` ends in an error."""
    found = statements(text, start, scope.close)
    body = found[0].body if found and found[0].kind == "if" else ()
    stretch = text[body[0].start : body[-1].end] if body else ""
    return FAILS.search(stretch) is not None or (scope.name == "main" and re.search(r"\breturn\b", stretch) is not None)


_PIECES = ("\\d", "[0-9]", "%1d", "%2d")
_LOOKS = re.compile(r"\b(?P<scans>sscanf)\s*\([^;]{0,80}$|\bw?regex\b[^;]{0,60}$")
_PLACE = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)(?:\[(?P<at>\d)\]\s*-\s*'"
    r"|\.substr\(\s*(?P<first>\d)\s*,\s*(?P<size>[12])\s*\))"
)
_ABOUT = 400


def fixed_digits(code: Code) -> Iterator[Operation]:
    r"""Texts that look for a target of two digits: `std::regex("sm_(\\d\\d)")`; as `readers.python.fixed_digits`."""
    yield from _by_place(code)
    for literal in code.literals:
        text = code.content(literal)
        if ("m_" not in text and "compute" not in text) or not any(piece in text for piece in _PIECES):
            continue
        called = _LOOKS.search(code.text, max(0, literal.start - _WAY_BACK), literal.start)
        if called is None:
            continue
        pattern = text.replace("\\\\", "\\")
        if called["scans"]:
            pattern = re.sub(r"%([12])d", r"(\\d{1,\1})", pattern.replace("%d", r"(\d+)"))
        if wrong := misread_by(pattern):
            at = code.span(literal.start, literal.end)
            yield Operation("as-text", text, at, detail=MisreadDigits(wrong.says, wrong.chips.names))


def _by_place(code: Code) -> Iterator[Operation]:
    """`name[3] - '0'`, `name.substr(3, 2)`: characters of "sm_86", or of what is called like a capability."""
    for match in _PLACE.finditer(code.text) if "sm_" in code.source or "compute" in code.source else ():
        start, size = int(match["at"] or match["first"]), int(match["size"] or 1)
        near = code.source[max(0, match.start() - _ABOUT) : match.end() + _ABOUT]
        known = start == len("sm_") or guess(match["name"]) is not None
        wrong = misread(lambda text: text[start : start + size] or None)  # noqa: B023
        if known and wrong and is_about(near, match[0]):
            at, detail = code.span(*match.span()), MisreadDigits(wrong.says, wrong.chips.names)
            yield Operation("as-text", code.source[slice(*match.span())], at, detail=detail)
