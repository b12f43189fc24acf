"""Macros that a build sets for a library's helpers (chips/macros.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bwlint.chips.switches import macros
from bwlint.model.expr import Span
from bwlint.model.facts import Operation

ANCHORS = tuple(name.encode() for name in macros())
_SET = re.compile(rf"\b(?:-?D)?(?P<name>{'|'.join(macros())})\b(?![ \t]*=[ \t]*0\b)")
_LONGEST_LINE = 400
_MOST = 40


def may_hold(data: bytes) -> bool:
    return any(name in data for name in ANCHORS)


def operations(source: str) -> tuple[Operation, ...]:
    """Each place outside of a comment that sets one of them. Never raises."""
    if not any(name in source for name in macros()):
        return ()
    return tuple(islice(_in_lines(source), _MOST))


def _in_lines(source: str) -> Iterator[Operation]:
    for number, line in enumerate(re.split("\r\n|\r|\n", source), 1):
        code = line.partition("#")[0]
        for match in _SET.finditer(code) if len(line) <= _LONGEST_LINE else ():
            start, end = (len(line[:place].encode("utf-8", "surrogatepass")) for place in match.span("name"))
            yield Operation("switched-on", match["name"], Span(number, start, number, end))
