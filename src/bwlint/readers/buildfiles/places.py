"""Offsets of a source as spans: line from 1, byte column from 0."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from bwlint.model.expr import Span

_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Places:
    source: str
    _starts: list[int] = field(init=False)
    _ascii: bool = field(init=False)
    _last: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(self.source))]
        self._ascii = self.source.isascii()

    def span(self, start: int, end: int) -> Span:
        return Span(*self._place(start), *self._place(end))

    def line(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)

    def line_start(self, offset: int) -> int:
        return self._starts[self.line(offset) - 1]

    def _place(self, offset: int) -> tuple[int, int]:
        start = self.line_start(offset)
        if self._ascii:
            return self.line(offset), offset - start
        # A long line with many places: count on from the last one instead of from the start.
        known, column = self._last if start <= self._last[0] <= offset else (start, 0)
        column += len(self.source[known:offset].encode("utf-8", "surrogatepass"))
        self._last = (offset, column)
        return self.line(offset), column
