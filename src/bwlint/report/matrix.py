"""A matrix, operations down and chips across: for people, for a README (a table, a badge), and as JSON, an API
(described by `matrix.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from posixpath import commonpath
from typing import Any
from xml.sax.saxutils import escape

from bwlint.chips import chip as chip_of
from bwlint.chips.products import card, product
from bwlint.matrix.proved import counts
from bwlint.matrix.table import (
    CONFIRMED,
    FALLBACK,
    NO,
    REFUTED,
    UNKNOWN,
    YES,
    Cell,
    CellChange,
    CellGate,
    CellProof,
    Matrix,
    MatrixRow,
)
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.audit import row_json
from bwlint.report.inspection_table import shortened
from bwlint.report.snippet import Paint, columns
from bwlint.report.text import folded, painter
from bwlint.report.words import code, table, to_look_at
from bwlint.report.write import picked, plain, written

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


def as_text(matrix: Matrix, setting: Setting, verbose: bool = False) -> str:
    """The rows by module, and what the words mean; with `verbose` every gate of a row and what receipts say."""
    rows = _lines(matrix, setting, verbose) if matrix.rows else folded(_without_rows(matrix), setting)
    lines = [*rows, *folded(_apart(matrix), setting)]
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
    paint = painter(setting.color)
    folder = _folder(matrix)
    names = [visible(_name(row)) for row in matrix.rows]
    room = min(MOST_ROOM, max(map(columns, names)))
    widths = {chip: 2 + max(len(chip), *(len(_word(row.cells[chip])) for row in matrix.rows)) for chip in matrix.chips}
    places = 0 if verbose else max(columns(_reason(row, matrix, 0, folder)) for row in matrix.rows)
    every = matrix
    if setting.folds and room + places + sum(widths.values()) > setting.width:
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
            told = [line, *_gates(row, every, folder)] if verbose else [line + _reason(row, matrix, left, folder)]
            yield from folded(told, setting)
    yield ""
    dropped = [chip for chip in every.chips if chip not in matrix.chips]
    told = [f"No room for {', '.join(dropped)}. --target CHIP shows a chip."] if dropped else []
    told += [f"Paths are relative to {visible(folder)}."] if folder.strip("/") else []
    words = {word for row in matrix.rows for cell in row.cells.values() for word in (cell.word, cell.mark)}
    meanings = [f"{(_WORDS | _MARKS)[word]}: {meaning}" for word, meaning in _MEANINGS.items() if word in words]
    told += ["; ".join(meanings), *([_left(matrix)] if matrix.left else [])]
    yield from folded(told, setting)


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


def as_json(matrix: Matrix, setting: Setting) -> str:
    return written(
        setting.version,
        targets=matrix.chips,
        rows=[_row_json(row) for row in matrix.rows],
        ungated=len(matrix.unasked),
        left=[row_json(row) for row in matrix.left],
        **picked(matrix, "apart", "asked", "skipped"),
    )


def _row_json(row: MatrixRow) -> dict[str, Any]:
    return {
        **picked(row, "module", "name", "path", "line", "left"),
        "backend": row.backend or None,
        "chips": {chip: cell_json(cell) for chip, cell in row.cells.items()},
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    receipts = {"receipts": plain(cell.proofs)} if cell.proofs else {}
    return {"support": cell.word, "fallback": cell.arm or None, "gate": plain(cell.gate), **receipts}


MOST_ROWS = 40
"""Beyond so many, operations that work on every card are counted, and of the others the first are shown."""

NOTHING = "No public operation with a check of the chip was found: nothing is answered.\n"
"""An empty page would look like an all-clear."""
WORDS = {YES: "yes", NO: "no", FALLBACK: "by another path", UNKNOWN: "no check decides"}


def as_markdown(matrix: Matrix, setting: Setting, said: Sequence[str] = ()) -> str:
    """`said` are the chips as the user wrote them; a sentence where there is no row."""
    rows = operations(matrix)
    if not rows:
        return NOTHING
    chips = asked(matrix)
    cards = [card(chip_of(chip), said) for chip in chips]
    told = [row for row in rows if len(rows) <= MOST_ROWS or not all(works(row, chip) for chip in chips)]
    body = ((code(name(row)), *(_markdown_word(row.cells[chip]) for chip in chips)) for row in told[:MOST_ROWS])
    lines = [*table(("operation", *cards), *body)] if told else []
    if told[MOST_ROWS:]:
        lines.append(f"{counted(len(told) - MOST_ROWS, 'more operation')} do not work on all of these cards.")
    if len(told) < len(rows):
        lines.append(f"{counted(len(rows) - len(told), 'more operation')} work on all of these cards.")
    counts = (f"{supported(matrix, chip)} of {len(rows)} on {one}" for chip, one in zip(chips, cards, strict=True))
    lines.append(f"Operations with a check of the chip that work, as bwlint reads the code: {', '.join(counts)}.")
    return "".join(f"{line}\n" for line in lines)


def _markdown_word(cell: Cell) -> str:
    return WORDS[cell.word] + (f" ({cell.mark})" if cell.mark else "")


def operations(matrix: Matrix) -> tuple[MatrixRow, ...]:
    """The rows of operations, without those of their backends."""
    return tuple(row for row in matrix.rows if not row.nested)


def asked(matrix: Matrix) -> tuple[str, ...]:
    """The chips asked about, as far as the matrix has them; else all of it."""
    return tuple(chip for chip in matrix.asked if chip in matrix.chips) or matrix.chips


def works(row: MatrixRow, chip: str) -> bool:
    return row.cells[chip].word in (YES, FALLBACK)


def supported(matrix: Matrix, chip: str) -> int:
    """How many operations work on a chip, by whichever path."""
    return sum(works(row, chip) for row in operations(matrix))


def name(row: MatrixRow | CellChange) -> str:
    """The operation with its module, and the backend where it is a row of a registry."""
    return f"{row.module}.{row.name}" + (f"[{row.backend}]" if row.backend else "")


INK, LABEL = "#ffffff", "#444444"
FULL, PARTIAL, EMPTY, UNASKED = "#1f7a33", "#8a5a00", "#b3261e", "#5a5a5a"
"""Behind the number: all, some or none of the operations work, or none checks the chip. Each with `INK` on it has the
contrast that WCAG 2.2 asks of small text (4.5 to 1)."""

_LETTER, _ROOM, _HEIGHT = 6.6, 12, 20
"""Pixels: a letter of 11 px on average, what is left of the text and right of it together, the badge."""


def as_badge(matrix: Matrix, setting: Setting, said: Sequence[str] = ()) -> str:
    """The badge for the chips asked about; `said` are these as the user wrote them."""
    chips = asked(matrix)
    total, counts = len(operations(matrix)), [supported(matrix, chip) for chip in chips]
    label = " | ".join(product(chip_of(chip), said) or chip for chip in chips)
    numbers = [counts[0]] if len(set(counts)) == 1 else counts
    value = f"{' | '.join(f'{count}/{total}' for count in numbers)} operations" if total else "no check of the chip"
    color = UNASKED if not total else FULL if min(counts) == total else PARTIAL if any(counts) else EMPTY
    return _badge(label, value, color)


def _badge(label: str, value: str, color: str) -> str:
    left, right = _badge_width(label), _badge_width(value)
    told = escape(f"{label}: {value}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" '
        f'role="img" aria-label="{told}">\n'
        f"<title>{told}</title>\n"
        f'<rect width="{left}" height="{_HEIGHT}" fill="{LABEL}"/>\n'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{color}"/>\n'
        f'<g fill="{INK}" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_badge_text(label, 0, left)}{_badge_text(value, left, right)}</g>\n</svg>\n"
    )


def _badge_text(text: str, x: int, width: int) -> str:
    """A text in its field; whatever font there is, it fills it."""
    return f'<text x="{x + _ROOM // 2}" y="14" textLength="{width - _ROOM}">{escape(text)}</text>\n'


def _badge_width(text: str) -> int:
    return round(len(text) * _LETTER) + _ROOM
