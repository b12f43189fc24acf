r"""Texts of C++ that look for a target of two digits: `std::regex("sm_(\\d\\d)")`, `sscanf(name, "sm_%2d", &cc)`.

Each comes out as an operation of kind as-text, as those of Python do (`readers.python.fixed_digits`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.evaluate.patterns import misread_by
from bwlint.model.expr import const
from bwlint.model.facts import Operation
from bwlint.readers.cuda.lexer import Code

_PIECES = ("\\d", "[0-9]", "%1d", "%2d")
_CALL = re.compile(r"\b(?P<scans>sscanf)\s*\([^;]{0,80}$|\bw?regex\b[^;]{0,60}$")
_WAY_BACK = 120


def operations(code: Code) -> Iterator[Operation]:
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
            yield Operation("as-text", text, at, amounts=(const(wrong.says), const(wrong.chips.names)))
