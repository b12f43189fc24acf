"""The table of an inspection: files down, chips across."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from bwlint.binaries.needs import dotted
from bwlint.binaries.shipments import PARTIAL, DeviceLibrary, Shipment, Tally
from bwlint.model.escape import visible
from bwlint.report.snippet import Paint, columns

MOST_ROWS = 40
"""Rows beyond these are merged where they are alike, then counted."""

_CUT = "..."
_MODULE_TAG = re.compile(r"\.(?:cpython-\w{1,12}(?:-\w{1,20}){1,4}|abi3)(?=\.so$)")
# Names get so many columns before chips are told in parts, and so many before counts lose their "/118".
_LEAST_ROOM = 24
_GOOD_ROOM = 40
_FILE, _CUDA, _CONTAINERS = "file", "CUDA", "containers"

_STYLES = {"all": "good", "jit": "fair", "link": "fair", PARTIAL: "fair", "none": "bad"}
_MEANINGS = {
    "all": "every container has a cubin for the chip",
    "jit": "all run, some after the driver has compiled their PTX",
    "link": "all run, some after the driver has compiled and linked their PTX",
    "none": "no container runs",
    "-": "no container",
    "?": "not judged",
}


@dataclass(frozen=True, slots=True)
class InspectionCell:
    """What one chip makes of one file: a word of `_MEANINGS`, or `PARTIAL` with its numbers."""

    word: str
    served: int = 0
    total: int = 0

    @classmethod
    def of(cls, tally: Tally | None) -> InspectionCell:
        if tally is None:
            return cls("?")
        if not tally.total:
            return cls("-")
        if tally.word == PARTIAL:
            return cls(PARTIAL, tally.served, tally.total)
        if tally.none:
            return cls("none")
        if tally.link:
            return cls("link")
        return cls("jit" if tally.jit else "all")

    def text(self, compact: bool) -> str:
        if self.word != PARTIAL:
            return self.word
        return str(self.served) if compact else f"{self.served}/{self.total}"


@dataclass(frozen=True, slots=True)
class InspectionRow:
    """One file, or many that are alike; `total` is the number of containers in each."""

    names: tuple[str, ...]
    toolkit: str
    total: int
    cells: tuple[InspectionCell, ...]


@dataclass(frozen=True, slots=True)
class _TableLayout:
    """How a table is drawn: some of the chips at a time, and the columns that names may take."""

    compact: bool
    parts: tuple[range, ...]
    room: int


def draw(shipment: Shipment, chips: Sequence[str], width: int, paint: Paint, needed: int = 0) -> Iterator[str]:
    """The lines of the table and its legend, at most `width` columns if that can be done at all. Of the chips only the
    first `needed` must be there (0: all): what has no room beside them is named below."""
    shown = len(chips)
    rows, left = _rows(shipment, chips)
    layout = _layout(rows, chips, width)
    while layout.parts != (range(shown),) and shown > (needed or len(chips)):
        shown -= 1
        rows, left = _rows(shipment, chips[:shown])
        layout = _layout(rows, chips[:shown], width)
    chips, without = chips[:shown], chips[shown:]
    names = _shown_names(rows, layout.room)
    for part in layout.parts:
        if part.start:
            yield ""
        yield from _part(rows, names, chips, part, layout, paint)
    if left:
        yield f"and {left:,} more: --format json lists them"
    legend = _legend(rows, layout.compact)
    if without:
        legend += f"; --target shows {', '.join(without)} too"
    yield from textwrap.wrap(legend, max(width, _LEAST_ROOM), break_on_hyphens=False)


def relative(path: str, shipment: Shipment) -> str:
    """The path of a file from the shipment on, fit for a terminal."""
    name = shipment.name.rstrip("/")
    if path.startswith(f"{name}/"):
        return visible(path[len(name) + 1 :])
    return visible(path.rpartition("/")[2] if path == shipment.name else path)


def shortened(text: str, room: int, head: int) -> str:
    """`text` in at most `room` columns, cut after its first `head` ones where it is too long."""
    # The first test spares measuring what a hostile archive calls a name.
    if len(text) <= 4 * room and columns(text) <= room:
        return text
    first = _fitting(text[:room], min(head, room - len(_CUT)))
    last = _fitting(text[: -room - 1 : -1], room - len(_CUT) - columns(first))
    return first + _CUT + last[::-1]


def _fitting(text: str, room: int) -> str:
    """The longest beginning of `text` that takes at most `room` columns."""
    end = max(0, min(len(text), room))
    while columns(text[:end]) > room:
        end -= 1
    return text[:end]


def _rows(shipment: Shipment, chips: Sequence[str]) -> tuple[list[InspectionRow], int]:
    """The rows by path, and the number of files that they leave out."""
    libraries = sorted(shipment.libraries, key=lambda library: library.path)
    rows = [_row(library, shipment, chips) for library in libraries]
    if len(rows) > MOST_ROWS:
        rows = _merged(rows)
    return rows[:MOST_ROWS], sum(len(row.names) for row in rows[MOST_ROWS:])


def _row(library: DeviceLibrary, shipment: Shipment, chips: Sequence[str]) -> InspectionRow:
    toolkit = "" if library.toolkit is None else dotted(library.toolkit)
    cells = tuple(InspectionCell.of(library.tallies.get(chip)) for chip in chips)
    return InspectionRow((relative(library.path, shipment),), toolkit, len(library.units), cells)


def _merged(rows: Iterable[InspectionRow]) -> list[InspectionRow]:
    alike: dict[tuple[str, int, tuple[InspectionCell, ...]], list[str]] = {}
    for row in rows:
        alike.setdefault((row.toolkit, row.total, row.cells), []).extend(row.names)
    return [InspectionRow(tuple(names), *key) for key, names in alike.items()]


def _layout(rows: Sequence[InspectionRow], chips: Sequence[str], width: int) -> _TableLayout:
    """The widest layout that leaves room for the names: all chips at once, compact, then fewer at a time."""
    longest = max(columns(row.names[0][: width + 1]) + len(_more(row)) for row in rows)
    longest = max(longest, len(_FILE))
    least = min(longest, _LEAST_ROOM)
    ways = [(False, 1), (True, 1), *((False, number) for number in range(2, len(chips) + 1))]
    layout = _TableLayout(False, (), least)
    for compact, number in ways:
        parts = _parts(len(chips), number)
        room = width - max(_taken(rows, chips, part, compact) for part in parts)
        layout = _TableLayout(compact, parts, max(room, least))
        enough = min(longest, _GOOD_ROOM) if (compact, number) == (False, 1) else least
        if room >= enough:
            break
    return layout


def _parts(count: int, number: int) -> tuple[range, ...]:
    """`count` chips in `number` parts of nearly equal length."""
    edges = [count * place // number for place in range(number + 1)]
    return tuple(range(first, last) for first, last in pairwise(edges))


def _taken(rows: Sequence[InspectionRow], chips: Sequence[str], part: range, compact: bool) -> int:
    """The columns that a table takes beside the names."""
    cuda = max(len(row.toolkit) for row in rows)
    widths = _widths(rows, chips, part, compact)
    gaps = sum(widths) + _gap(compact) * len(widths)
    return gaps + 2 + len(_CONTAINERS) + (2 + max(cuda, len(_CUDA)) if cuda else 0)


def _widths(rows: Sequence[InspectionRow], chips: Sequence[str], part: range, compact: bool) -> list[int]:
    return [max(len(chips[at]), *(len(row.cells[at].text(compact)) for row in rows)) for at in part]


def _gap(compact: bool) -> int:
    return 1 if compact else 2


def _more(row: InspectionRow) -> str:
    return f" and {len(row.names) - 1:,} more" if len(row.names) > 1 else ""


def _shown_names(rows: Sequence[InspectionRow], room: int) -> list[str]:
    """The names in `room` columns, cut at a place that keeps them apart if there is one."""
    found: list[str] = []
    for tags, head in product((False, True), (room // 3, 0, room // 2, room * 2 // 3, room)):
        shown = [_shown_name(row, room, head, tags=tags) for row in rows]
        if len(set(shown)) == len(rows):
            return [name + _more(row) for name, row in zip(shown, rows, strict=True)]
        found = found or [name + _more(row) for name, row in zip(shown, rows, strict=True)]
    return found


def _shown_name(row: InspectionRow, room: int, head: int, *, tags: bool) -> str:
    """Where there is no room for all, the tag that extension modules end with is the first to go."""
    name, room = row.names[0], room - len(_more(row))
    short = name if tags or len(name) <= room else _MODULE_TAG.sub(".*", name)
    return shortened(short, room, head)


def _part(
    rows: Sequence[InspectionRow],
    names: Sequence[str],
    chips: Sequence[str],
    part: range,
    layout: _TableLayout,
    paint: Paint,
) -> Iterator[str]:
    """The lines of a table with some of the chips."""
    widths = _widths(rows, chips, part, layout.compact)
    gap = " " * _gap(layout.compact)
    first = max(len(_FILE), *map(columns, names))
    cuda = max(len(row.toolkit) for row in rows)
    cuda = max(cuda, len(_CUDA)) if cuda else 0
    head = [_FILE.ljust(first), *([_CUDA.rjust(cuda)] if cuda else []), _CONTAINERS]
    titles = "".join(gap + chips[at].rjust(width) for at, width in zip(part, widths, strict=True))
    yield paint("  ".join(head) + titles, "title")
    for name, row in zip(names, rows, strict=True):
        fields = [name + " " * (first - columns(name)), *([row.toolkit.rjust(cuda)] if cuda else [])]
        fields.append(f"{row.total}".rjust(len(_CONTAINERS)))
        cells = (_painted(row.cells[at], width, layout.compact, paint) for at, width in zip(part, widths, strict=True))
        yield "  ".join(fields) + "".join(gap + cell for cell in cells)


def _painted(cell: InspectionCell, width: int, compact: bool, paint: Paint) -> str:
    text = cell.text(compact)
    style = _STYLES.get(cell.word)
    return " " * (width - len(text)) + (paint(text, style) if style else text)


def _legend(rows: Sequence[InspectionRow], compact: bool) -> str:
    """What the words in the table mean, those that occur in it."""
    cells = [cell for row in rows for cell in row.cells]
    found = {cell.word for cell in cells}
    parts = [f"{word}: {meaning}" for word, meaning in _MEANINGS.items() if word in found]
    sample = next((cell for cell in cells if cell.word == PARTIAL), None)
    if sample and compact:
        parts.append("a number: that many of the containers run")
    elif sample:
        parts.append(f"{sample.text(compact)}: {sample.served} of {sample.total} containers run")
    return "; ".join([*parts, "container: the kernels of one source file"])
