"""Source lines with underlined spans.

A line is laid out as cells, one a character, each with what the terminal is to show for it and how many
columns that takes: so tabs, wide characters and escaped controls keep the underlines below what they mean.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bwlint.model.escape import HIDDEN, visible
from bwlint.model.findings import Region

Paint = Callable[[str, str], str]
"""Paints a text in a style of `text.STYLES`."""

_TAB = 4
_SHORT = 3
"""So many lines below its first a span may end and be shown whole; of a longer one the first line is."""
_CUT = "..."
# A line longer than this (a data blob) is cut before it is laid out, which takes time for each character.
_LONG = 4000


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to underline: with ``^`` in `style`, or with ``-`` where it is secondary."""

    region: Region
    label: str
    style: str
    primary: bool


@dataclass(frozen=True, slots=True)
class _Stroke:
    """The part of a mark on one line, from code point `start` up to `end`."""

    line: int
    start: int
    end: int
    label: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class _Cell:
    shown: str
    width: int


def last_line(marks: Sequence[Mark]) -> int:
    """The greatest line number that drawing `marks` can print."""
    regions = [mark.region for mark in marks]
    return max(region.line if _is_long(region) else region.end_line for region in regions)


def _is_long(region: Region) -> bool:
    return region.end_line - region.line > _SHORT


def reaches(lines: Sequence[str], mark: Mark) -> bool:
    return 0 < mark.region.line <= mark.region.end_line <= len(lines)


def draw(lines: Sequence[str], marks: Sequence[Mark], gutter: int, width: int, paint: Paint) -> Iterator[str]:
    """The lines that `marks` touch, in order, each mark below its line; ``...`` where lines are left out. `lines`
    reaches every mark; `gutter` is the width of line numbers, `width` that of the source."""
    strokes = [stroke for mark in marks for stroke in _strokes(mark, lines)]
    strokes.sort(key=lambda stroke: (stroke.line, not stroke.mark.primary, stroke.start))
    previous = 0
    for number, group in groupby(strokes, key=lambda stroke: stroke.line):
        if previous and number > previous + 1:
            yield paint(_CUT, "gutter")
        previous = number
        yield from _line(lines[number - 1].rstrip("\r\n"), list(group), gutter, width, paint)


def code_point(line: str, column: int) -> int:
    """The index in `line` of the character at 1-based UTF-16 `column`, no further than its end."""
    if line.isascii() or max(line) <= "\uffff":
        return min(column - 1, len(line))
    return len(line.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)].decode("utf-16-le", "replace"))


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return len(text) if text.isascii() else _columns(_cells(text))


def _strokes(mark: Mark, lines: Sequence[str]) -> Iterator[_Stroke]:
    region = mark.region
    first = lines[region.line - 1].rstrip()
    last = lines[region.end_line - 1].rstrip("\r\n")
    start, end = code_point(first, region.column), code_point(last, region.end_column)
    if region.line == region.end_line:
        yield _Stroke(region.line, start, end, mark.label, mark)
        return
    if _is_long(region):
        yield _Stroke(region.line, start, max(len(first), start + 1), mark.label, mark)
        return
    yield _Stroke(region.line, start, len(first), "", mark)
    for number in range(region.line + 1, region.end_line):
        text = lines[number - 1].rstrip()
        yield _Stroke(number, len(text) - len(text.lstrip()), len(text), "", mark)
    indent = min(len(last) - len(last.lstrip()), end)
    yield _Stroke(region.end_line, indent, end, mark.label, mark)


def _line(text: str, strokes: list[_Stroke], gutter: int, width: int, paint: Paint) -> Iterator[str]:
    number = paint(f"{strokes[0].line:>{gutter}} |", "gutter")
    blank = paint(f"{'':>{gutter}} |", "gutter")
    fits = len(text) <= _LONG and _columns(_cells(text)) <= width
    # Marks far apart on a long line do not fit into one stretch of it: each gets its own.
    for group in [strokes] if fits else [[stroke] for stroke in strokes]:
        cells, offset, shown = _stretch(text, group[0], width)
        yield f"{number} {shown}".rstrip()
        for stroke in group:
            yield f"{blank} {_underline(cells, stroke, offset, paint)}"


def _stretch(text: str, stroke: _Stroke, width: int) -> tuple[list[_Cell], int, str]:
    """The cells to show around a stroke, the code point that the first stands for, and their text. The cells begin with
    one for the mark of a cut, if the line is cut there."""
    base = max(0, stroke.start - _LONG // 2) if len(text) > _LONG else 0
    cells = _cells(text[base : base + _LONG])
    first, last = _window(cells, stroke.start - base, stroke.end - base, width)
    head = _CUT if base + first else ""
    tail = _CUT if base + last < len(text) else ""
    kept = ([_Cell(head, len(head))] if head else []) + cells[first:last]
    return kept, base + first - bool(head), "".join(cell.shown for cell in kept) + tail


def _window(cells: list[_Cell], start: int, end: int, width: int) -> tuple[int, int]:
    """The stretch of `cells` to show: all of them, or what fits around the span from `start` to `end`."""
    if _columns(cells) <= width:
        return 0, len(cells)
    room = width - 2 * len(_CUT)
    span = _columns(cells[start:end])
    before = max(room // 4, (room - span) // 2) if span < room else room // 4
    first, last = min(start, len(cells)), min(start, len(cells))
    used = 0
    while first and used + cells[first - 1].width <= before:
        first -= 1
        used += cells[first].width
    while last < len(cells) and used + cells[last].width <= room:
        used += cells[last].width
        last += 1
    while first and used + cells[first - 1].width <= room:
        first -= 1
        used += cells[first].width
    return first, last


def _underline(cells: list[_Cell], stroke: _Stroke, offset: int, paint: Paint) -> str:
    start, end = max(0, stroke.start - offset), stroke.end - offset
    sign = "^" if stroke.mark.primary else "-"
    drawn = sign * max(1, _columns(cells[start:end]))
    label = f" {visible(stroke.label)}" if stroke.label else ""
    return " " * _columns(cells[:start]) + paint(drawn + label, stroke.mark.style)


def _cells(text: str) -> list[_Cell]:
    cells: list[_Cell] = []
    column = 0
    for char in text:
        cell = _cell(char, column)
        cells.append(cell)
        column += cell.width
    return cells


def _cell(char: str, column: int) -> _Cell:
    if char == "\t":
        width = _TAB - column % _TAB
        return _Cell(" " * width, width)
    if char.isascii() and char.isprintable():
        return _Cell(char, 1)
    if HIDDEN.match(char):
        shown = visible(char)
        return _Cell(shown, len(shown))
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return _Cell(char, 0)
    return _Cell(char, 2 if unicodedata.east_asian_width(char) in "WF" else 1)


def _columns(cells: Sequence[_Cell]) -> int:
    return sum(cell.width for cell in cells)
