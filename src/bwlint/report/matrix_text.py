"""A matrix for people: operations down, chips across, and for each row the gate of its first "no"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, groupby
from posixpath import commonpath
from textwrap import wrap

from bwlint.matrix.proved import counts
from bwlint.matrix.table import (
    CONFIRMED,
    FALLBACK,
    NO,
    REFUTED,
    UNKNOWN,
    YES,
    Cell,
    CellGate,
    CellProof,
    Matrix,
    MatrixRow,
)
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report import Setting, text
from bwlint.report.inspection_table import shortened
from bwlint.report.snippet import Paint, columns
from bwlint.report.words import to_look_at

MOST_ROOM = 56
"""Columns that names get at most."""

MOST_APART = 20
_FEW = 8
_LEAST_CODE = 24
_WORDS = {YES: "yes", NO: "no", FALLBACK: "other", UNKNOWN: "?"}
_STYLES = {YES: "good", FALLBACK: "fair", NO: "bad"}
_MARKS = {CONFIRMED: "+", REFUTED: "!"}
_MEANINGS = {
    YES: "its checks accept the chip",
    NO: "a check refuses it, or its code needs what the chip lacks",
    FALLBACK: "works, but by another code path than on the chips it is written for",
    UNKNOWN: "bwlint found no check that decides it",
    CONFIRMED: "a receipt confirms it on that chip",
    REFUTED: "a receipt refutes it there",
}


def render(matrix: Matrix, setting: Setting, verbose: bool = False) -> str:
    """The rows by module, and what the words mean; with `verbose` every gate of a row and what receipts say."""
    lines = [*(_lines(matrix, setting, verbose) if matrix.rows else _without_rows(matrix)), *_apart(matrix)]
    return "".join(f"{line}\n" for line in lines)


def summary(matrix: Matrix) -> str:
    """``31 rows, 12 public operations that no check decides, 2 files skipped``."""
    parts = [counted(len(matrix.rows), "row")]
    if matrix.unasked:
        parts.append(f"{counted(len(matrix.unasked), 'public operation')} that no check decides")
    if matrix.apart:
        parts.append(f"{counted(len(matrix.apart), 'C++ error')} outside these rows")
    if any(proved := counts(matrix)):
        parts.append(f"receipts confirm {counted(proved[0], 'cell')} and refute {proved[1]}")
    if matrix.left:
        parts.append(f"{to_look_at(len(matrix.left))} (bwlint audit)")
    if matrix.skipped:
        parts.append(f"{counted(len({file.path for file in matrix.skipped}), 'file')} skipped")
    return ", ".join(parts)


def _lines(matrix: Matrix, setting: Setting, verbose: bool) -> Iterator[str]:
    paint = text.painter(setting.color)
    folder = _folder(matrix)
    names = [visible(_name(row)) for row in matrix.rows]
    room = min(MOST_ROOM, max(map(columns, names)))
    widths = {chip: 2 + max(len(chip), *(len(_word(row.cells[chip])) for row in matrix.rows)) for chip in matrix.chips}
    places = 0 if verbose else max(columns(_reason(row, matrix, 0, folder)) for row in matrix.rows)
    every = matrix
    if setting.color and room + places + sum(widths.values()) > setting.width:
        room = min(room, setting.width * 2 // 5)
        matrix = replace(matrix, chips=_newest(matrix, widths, setting.width - room - places))
    heads = "".join(f"{chip:>{widths[chip]}}" for chip in matrix.chips)
    yield paint(" " * room + heads, "title")
    for module, group in groupby(zip(matrix.rows, names, strict=True), key=lambda pair: pair[0].module):
        yield paint(visible(module), "title")
        for row, name in group:
            cells = "".join(_painted(row.cells[chip], widths[chip], paint) for chip in matrix.chips)
            short = shortened(name, room, room * 2 // 3)
            line = short + " " * (room - columns(short)) + cells
            left = setting.width - room - sum(widths[chip] for chip in matrix.chips)
            yield line if verbose else line + _reason(row, matrix, left, folder)
            if verbose:
                yield from _gates(row, every, folder)
    yield ""
    dropped = [chip for chip in every.chips if chip not in matrix.chips]
    told = [f"No room for {', '.join(dropped)}. --target CHIP shows a chip."] if dropped else []
    told += [f"Paths are relative to {visible(folder)}."] if folder.strip("/") else []
    words = {word for row in matrix.rows for cell in row.cells.values() for word in (cell.word, cell.mark)}
    meanings = [f"{(_WORDS | _MARKS)[word]}: {meaning}" for word, meaning in _MEANINGS.items() if word in words]
    told += ["; ".join(meanings), *([_left(matrix)] if matrix.left else [])]
    for line in told:
        yield from wrap(line, setting.width, break_on_hyphens=False) if setting.color else [line]


def _without_rows(matrix: Matrix) -> Iterator[str]:
    """Why there is no table, and the first operations that a check could give a row."""
    if matrix.scanned:
        yield "No table: no public operation here has a check that treats these chips differently."
    if matrix.unasked:
        more = f" and {len(matrix.unasked) - _FEW:,} more" if matrix.unasked[_FEW:] else ""
        yield f"Operations without a check: {visible(', '.join(matrix.unasked[:_FEW]))}{more}"


def _newest(matrix: Matrix, widths: Mapping[str, int], room: int) -> tuple[str, ...]:
    """The chips that have `room` columns: those asked about in any case, then the newest."""
    first = [chip for chip in matrix.asked if chip in matrix.chips]
    order = [*first, *(chip for chip in reversed(matrix.chips) if chip not in first)]
    ends = zip(order, accumulate(widths[chip] for chip in order), strict=True)
    return tuple(chip for chip, end in ends if end <= room or chip in first)


def _apart(matrix: Matrix) -> Iterator[str]:
    """Errors of C++ by which some chips are turned away: what leads to them was not seen, and so is in no row."""
    if matrix.apart:
        yield "C++ errors for some of these chips. bwlint found no row that leads to them:"
        yield from (f"  {_place(gate, '')}  {visible(gate.text)}" for gate in matrix.apart[:MOST_APART])
    if len(matrix.apart) > MOST_APART:
        yield f"  and {len(matrix.apart) - MOST_APART} more"


def _left(matrix: Matrix) -> str:
    """How many checks of the tree nobody has decided: a table of yes and no is no all-clear."""
    fails = sum(row.kind == "fail" for row in matrix.left)
    inside = sum(row.left > 0 for row in matrix.rows)
    are = "is a finding" if fails == 1 else "are findings"
    found = f" ({fails} {are} of `bwlint check`)" if fails else ""
    where = f", in {inside} of these rows and elsewhere" if inside else ", outside these rows"
    return f"For {' and '.join(matrix.asked)}, {to_look_at(len(matrix.left))}{where}{found}. `bwlint audit` lists them."


def _name(row: MatrixRow) -> str:
    """The name as it is indented below its module; a backend below its operation."""
    if not row.backend:
        return f"  {row.name}"
    return f"    [{row.backend}]" if row.nested else f"  {row.name}[{row.backend}]"


def _word(cell: Cell) -> str:
    return _WORDS[cell.word] + _MARKS.get(cell.mark, "")


def _painted(cell: Cell, width: int, paint: Paint) -> str:
    word = _word(cell)
    style = _STYLES.get(cell.word)
    return " " * (width - len(word)) + (paint(word, style) if style else word)


def _reason(row: MatrixRow, matrix: Matrix, room: int, folder: str) -> str:
    """The gate of the first "no", or what the first chip falls back to; its code where there is room."""
    cells = [row.cells[chip] for chip in matrix.chips]
    first = next((cell for word in (NO, FALLBACK) for cell in cells if cell.word == word), None)
    if first is None or first.gate is None:
        return ""
    place = f"  {_place(first.gate, folder)}"
    code = _code(first)
    left = room - columns(place) - 2
    return f"{place}  {shortened(code, left, left)}" if left >= min(_LEAST_CODE, columns(code)) else place


def _place(gate: CellGate, folder: str) -> str:
    return f"{visible(gate.path.removeprefix(folder))}:{gate.line}"


def _folder(matrix: Matrix) -> str:
    """The folder that holds every gate, with its slash; "" where there is none to spare."""
    folders = {cell.gate.path.rpartition("/")[0] for row in matrix.rows for cell in row.cells.values() if cell.gate}
    try:
        common = commonpath(folders) if folders else ""
    except ValueError:  # some are absolute and some are not
        return ""
    return f"{common.rstrip('/')}/" if common else ""


def _code(cell: Cell) -> str:
    code = visible(cell.gate.text) if cell.gate else ""
    return f"{code} -> {visible(cell.arm)}" if cell.arm else code


def _gates(row: MatrixRow, matrix: Matrix, folder: str) -> Iterator[str]:
    """Every gate of a row with the chips that it decides, refusals first."""
    found: dict[tuple[str, CellGate, str], list[str]] = {}
    for chip, cell in ((chip, row.cells[chip]) for chip in matrix.chips):
        if cell.gate is not None:
            found.setdefault((cell.word, cell.gate, cell.arm), []).append(chip)
    order = (NO, FALLBACK, YES)
    for (word, gate, arm), chips in sorted(found.items(), key=lambda item: order.index(item[0][0])):
        yield f"      {_WORDS[word]} on {', '.join(chips)}: {_place(gate, folder)}  {_code(Cell(word, gate, arm))}"
    proved: dict[CellProof, list[str]] = {}
    for chip in matrix.chips:
        for proof in row.cells[chip].proofs:
            proved.setdefault(proof, []).append(chip)
    for proof, chips in proved.items():
        by = visible(f"{proof.rung} on {proof.device}" if proof.device else proof.rung)
        yield f"      {proof.outcome} on {', '.join(chips)} by {by}: {visible(proof.reason)} ({visible(proof.receipt)})"
