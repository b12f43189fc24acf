"""The tables that `bwlint chips` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from bwlint.chips.devices import Chip, all_chips, hypothetical_chips
from bwlint.chips.targets import chip_named

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_KIB = 1024


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a table; `marked` says that it needs the reader's eye (here: the chips differ)."""

    cells: tuple[str, ...]
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of equal length, all text."""

    header: tuple[str, ...]
    rows: tuple[TableRow, ...]


_COLUMNS: tuple[tuple[str, Callable[[Chip], str]], ...] = (
    ("generation", lambda chip: chip.generation),
    ("family", lambda chip: chip.family or "-"),
    ("targets", lambda chip: _targets(chip)),
    ("smem/block", lambda chip: _size(chip.smem_per_block_optin)),
    ("default", lambda chip: _size(chip.smem_per_block_default)),
    ("smem/SM", lambda chip: _size(chip.smem_per_sm)),
    ("reserved", lambda chip: _size(chip.smem_reserved)),
    ("threads/SM", lambda chip: _number(chip.max_threads_per_sm)),
    ("warps/SM", lambda chip: _number(chip.max_warps_per_sm)),
    ("blocks/SM", lambda chip: _number(chip.max_blocks_per_sm)),
    ("cluster", lambda chip: _cluster(chip)),
    ("TMEM/SM", lambda chip: _size(chip.tmem_per_sm)),
    ("CUDA", lambda chip: chip.min_cuda or "?"),
    ("products", lambda chip: ", ".join(chip.products) or "-"),
)


def overview() -> Table:
    """One row a chip, the hypothetical ones last and marked as such."""
    chips = (*all_chips(), *hypothetical_chips())
    rows = tuple(TableRow((_title(chip), *(cell(chip) for _, cell in _COLUMNS))) for chip in chips)
    return Table(("chip", *(title for title, _ in _COLUMNS)), rows)


def comparison(chips: Sequence[Chip]) -> Table:
    """One column a chip; the rows in which the chips differ are marked."""
    rows = []
    for title, cell in _COLUMNS:
        cells = tuple(cell(chip) for chip in chips)
        rows.append(TableRow((title, *cells), marked=len(set(cells)) > 1))
    return Table(("", *(_title(chip) for chip in chips)), tuple(rows))


def named(names: Iterable[str]) -> tuple[Chip, ...]:
    """The chips of the names, hypothetical ones included ("12.0", "spark", "13.0"); raises `ValueError`."""
    imagined = {chip.name: chip for chip in hypothetical_chips()}
    return tuple(imagined[name] if name in imagined else chip_named(name) for name in names)


def show(table: Table, stream: TextIO) -> None:
    """Print the table: with rich on a terminal, as plain aligned text elsewhere."""
    if stream.isatty():
        _show_rich(table, stream)
    else:
        stream.write(plain(table))


def plain(table: Table) -> str:
    """The table as aligned text, a line a row; marked rows end in " *"."""
    lines = [table.header, *(row.cells for row in table.rows)]
    marks = [False, *(row.marked for row in table.rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    text = ""
    for cells, mark in zip(lines, marks, strict=True):
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        text += (f"{line}  *" if mark else line).rstrip() + "\n"
    return text


def _show_rich(table: Table, stream: TextIO) -> None:
    from rich.console import Console

    console = Console(file=stream)
    parts = _parts(table, console.width) if not table.header[0] else [_fitting(table, console.width)]
    for shown in parts:
        if shown is not parts[0]:
            console.print()
        console.print(_pretty(table, shown))
    if left := [name for column, name in enumerate(table.header) if not any(column in part for part in parts)]:
        hint = f"{console.width} columns are too few for: {', '.join(left)}. `bwlint chips 12.0 12.1` compares all."
        console.print(hint, highlight=False)


def _pretty(table: Table, shown: Sequence[int]) -> RichTable:
    from rich.table import Table as RichTable

    pretty = RichTable(box=None, header_style="bold")
    for column in shown:
        pretty.add_column(table.header[column], overflow="fold")
    for row in table.rows:
        pretty.add_row(*(row.cells[column] for column in shown), style="bold yellow" if row.marked else None)
    return pretty


def _parts(table: Table, width: int) -> list[list[int]]:
    """The columns of a comparison, as many chips at a time as a terminal has room for without breaking a word."""
    word = max(len(word) for cells in _cells(table) for cell in cells for word in cell.split())
    needed = [min(word, max(map(len, cells))) + _PADDING for cells in _cells(table)]
    parts = [[0]]
    for column in range(1, len(needed)):
        if parts[-1] != [0] and sum(needed[other] for other in (*parts[-1], column)) > width:
            parts.append([0])
        parts[-1].append(column)
    return parts


def _fitting(table: Table, width: int) -> list[int]:
    """The columns of a table that a terminal has room for: the least needed give way first."""
    widths = [max(map(len, cells)) + _PADDING for cells in _cells(table)]
    shown = list(range(len(widths)))
    for name in _LEAST_NEEDED:
        if sum(widths[column] for column in shown) > width and name in table.header:
            shown.remove(table.header.index(name))
    return shown


def _cells(table: Table) -> Iterable[tuple[str, ...]]:
    """What each column of a table holds, its head first."""
    return zip(table.header, *(row.cells for row in table.rows), strict=True)


_PADDING = 2
_LEAST_NEEDED = ("reserved", "default", "blocks/SM", "warps/SM", "threads/SM", "smem/SM", "targets", "generation")


def _title(chip: Chip) -> str:
    return f"{chip.name} (hypothetical)" if chip.hypothetical else chip.name


def _targets(chip: Chip) -> str:
    if chip.hypothetical:
        return "?"
    return " ".join(f"{chip.joined}{suffix}" for suffix in ("", *chip.suffixes))


def _size(size: int | None) -> str:
    if size is None:
        return "?"
    return f"{size // _KIB} KiB" if size else "none"


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)


def _cluster(chip: Chip) -> str:
    """The largest cluster, portable and with opt-in."""
    if chip.cluster_portable == 0:
        return "none"
    return f"{_number(chip.cluster_portable)} / {_number(chip.cluster_optin)}"
