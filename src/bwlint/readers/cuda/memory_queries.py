"""C and C++ calls of NVML memory queries whose failure ends the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips.products import memory_queries
from bwlint.model.facts import Operation
from bwlint.readers.cuda.failures import FAILS
from bwlint.readers.cuda.lexer import Code, matching
from bwlint.readers.cuda.preprocessor import Directives
from bwlint.readers.cuda.scopes import CodeScope, Scopes
from bwlint.readers.cuda.statements import statements

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


def operations(code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    """The questions of a file that names no refusal anywhere."""
    for name, match in _calls(code):
        scope = places.function(match.start())
        if scope is None or _EXPECTS.search(code.text) or not _ends(code.text, match, scope):
            continue
        if _BY_NUMBER.search(code.text, scope.open, scope.close):
            continue
        at = code.span(*match.span("name"))
        path = directives.path(match.start())
        yield Operation("memory-query", name, at, path=path, qualname=scope.qualname, checked=False)
    yield from _read_as_numbers(code, directives, places)


def _read_as_numbers(code: Code, directives: Directives, places: Scopes) -> Iterator[Operation]:
    """The runs of nvidia-smi of whose answer `stoi` makes a number, or a `sscanf` without which nothing goes on."""
    for literal in code.literals:
        asked = _ASKED.fullmatch(code.content(literal))
        scope = places.function(literal.start) if asked else None
        if asked is None or scope is None:
            continue
        begun = code.text.rfind(";", 0, literal.start) + 1
        if not (read := _READ.search(code.text, begun, scope.close)) or "catch" in code.text[scope.open : scope.close]:
            continue
        said = [code.content(one) for one in code.literals_in(scope.open, scope.close)]
        is_meant = asked["name"] is not None or any("MiB" in one for one in said)
        ends = read["scans"] is None or FAILS.search(code.text, read.start(), scope.close) is not None
        if is_meant and ends and not any(_UNKNOWN.search(one) for one in said):
            at, path = code.span(literal.start, literal.end), directives.path(literal.start)
            name = asked["name"] or _TABLE
            yield Operation("memory-query", name, at, path=path, qualname=scope.qualname, checked=False)


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
