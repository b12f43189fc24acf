r"""Texts of C++ that look for a target of two digits: `std::regex("sm_(\\d\\d)")`; as `readers.python.fixed_digits`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips.digits import is_about, misread
from bwlint.evaluate.names import guess
from bwlint.evaluate.patterns import misread_by
from bwlint.model.details import MisreadDigits
from bwlint.model.facts import Operation
from bwlint.readers.cuda.lexer import Code

_PIECES = ("\\d", "[0-9]", "%1d", "%2d")
_CALL = re.compile(r"\b(?P<scans>sscanf)\s*\([^;]{0,80}$|\bw?regex\b[^;]{0,60}$")
_WAY_BACK = 120
_PLACE = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)(?:\[(?P<at>\d)\]\s*-\s*'"
    r"|\.substr\(\s*(?P<first>\d)\s*,\s*(?P<size>[12])\s*\))"
)
_NEAR = 400


def operations(code: Code) -> Iterator[Operation]:
    yield from _by_place(code)
    for literal in code.literals:
        text = code.content(literal)
        if ("m_" not in text and "compute" not in text) or not any(piece in text for piece in _PIECES):
            continue
        called = _CALL.search(code.text, max(0, literal.start - _WAY_BACK), literal.start)
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
        near = code.source[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        known = start == len("sm_") or guess(match["name"]) is not None
        wrong = misread(lambda text: text[start : start + size] or None)  # noqa: B023
        if known and wrong and is_about(near, match[0]):
            at, detail = code.span(*match.span()), MisreadDigits(wrong.says, wrong.chips.names)
            yield Operation("as-text", code.source[slice(*match.span())], at, detail=detail)
