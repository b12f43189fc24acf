"""A matrix as a table for a README: the operations down, the cards asked about across."""

from __future__ import annotations

from collections.abc import Sequence

from bwlint.chips import chip as chip_of
from bwlint.chips.cards import card
from bwlint.matrix.changes import CellChange
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Cell, Matrix, MatrixRow
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.markdown import code, table

MOST_ROWS = 40
"""Beyond so many, operations that work on every card are counted, and of the others the first are shown."""

NOTHING = "No public operation with a check of the chip was found: nothing is answered.\n"
"""An empty page would look like an all-clear."""
WORDS = {YES: "yes", NO: "no", FALLBACK: "by another path", UNKNOWN: "no check decides"}


def render(matrix: Matrix, setting: Setting, said: Sequence[str] = ()) -> str:
    """`said` are the chips as the user wrote them; a sentence where there is no row."""
    rows = operations(matrix)
    if not rows:
        return NOTHING
    chips = asked(matrix)
    cards = [card(chip_of(chip), said) for chip in chips]
    told = [row for row in rows if len(rows) <= MOST_ROWS or not all(works(row, chip) for chip in chips)]
    body = ((code(name(row)), *(_word(row.cells[chip]) for chip in chips)) for row in told[:MOST_ROWS])
    lines = [*table(("operation", *cards), *body)] if told else []
    if told[MOST_ROWS:]:
        lines.append(f"{counted(len(told) - MOST_ROWS, 'more operation')} do not work on all of these cards.")
    if len(told) < len(rows):
        lines.append(f"{counted(len(rows) - len(told), 'more operation')} work on all of these cards.")
    counts = (f"{supported(matrix, chip)} of {len(rows)} on {one}" for chip, one in zip(chips, cards, strict=True))
    lines.append(f"Operations with a check of the chip that work, as bwlint reads the code: {', '.join(counts)}.")
    return "".join(f"{line}\n" for line in lines)


def _word(cell: Cell) -> str:
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
