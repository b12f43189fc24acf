"""The finished matrix, as data for reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bwlint.model.findings import Skipped
from bwlint.model.ledger import Row

YES, NO, FALLBACK, UNKNOWN = "yes", "no", "fallback", "unknown"
CONFIRMED, REFUTED = "confirmed", "refuted"


@dataclass(frozen=True, slots=True)
class CellGate:
    """Where a cell is decided: `path` as reported, 1-based `line` and `column`, the code there in one line."""

    path: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class CellProof:
    """A test that speaks of a cell on its chip: `outcome` is confirmed or refuted, `rung` that of `bwlint confirm`,
    `device` the GPU, "" where none was needed, `receipt` the file that tells it."""

    outcome: str
    rung: str
    reason: str
    device: str
    receipt: str


@dataclass(frozen=True, slots=True)
class Cell:
    """`word` is yes, no, fallback or unknown. `gate` decides it, None where it is unknown; `arm` is what a chip falls
    back to; `proofs` are what receipts say of it."""

    word: str
    gate: CellGate | None = None
    arm: str = ""
    proofs: tuple[CellProof, ...] = ()

    @property
    def mark(self) -> str:
        """confirmed, refuted where one proof says so, or "" where none speaks."""
        if not self.proofs:
            return ""
        return REFUTED if any(proof.outcome == REFUTED for proof in self.proofs) else CONFIRMED


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """An operation of `module`, or with `backend` one of its backends. `cells` are by chip, `path` and `line` where it
    is declared. `nested` says that a row of the operation itself stands above, `left` how many questions of the ledger
    about the chips of the run stand in it and are left to decide."""

    module: str
    name: str
    backend: str
    path: str
    line: int
    cells: Mapping[str, Cell]
    nested: bool = False
    left: int = 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """`unasked` are the public operations that no gate decides, `scanned` the files that were read. `apart` are
    errors of C++ for some of the chips that no row meets. `left` are rows of the ledger of the whole tree that are left
    to decide for the chips `asked`."""

    chips: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    unasked: tuple[str, ...] = ()
    scanned: int = 0
    skipped: tuple[Skipped, ...] = ()
    asked: tuple[str, ...] = ()
    left: tuple[Row, ...] = ()
    apart: tuple[CellGate, ...] = ()


ChangeKind = Literal["worse", "better", "other", "new", "gone"]
KINDS: tuple[ChangeKind, ...] = ("worse", "better", "other", "new", "gone")
"""other: to or from what no check decides. new, gone: the operation."""

_RANKS = {NO: 0, FALLBACK: 1, YES: 2, UNKNOWN: 2}


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell with what stood there before and what stands there after; None where there is no such operation."""

    module: str
    name: str
    backend: str
    chip: str
    before: Cell | None
    after: Cell | None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        words = (self.before.word, self.after.word)
        if UNKNOWN in words and NO not in words:
            return "other"
        return "worse" if _RANKS[words[1]] < _RANKS[words[0]] else "better"


@dataclass(frozen=True, slots=True)
class MatrixChanges:
    """`before` and `after` name the revisions; `rows` counts the operations and backends that are in either. `changes`
    stand by kind, then by name, then by chip; `skipped` was not read in one of the trees. `asked` are the chips that
    the user asks about, of those shown."""

    before: str
    after: str
    chips: tuple[str, ...]
    changes: tuple[CellChange, ...]
    rows: int
    skipped: tuple[Skipped, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def has_lost(self) -> bool:
        """Whether one of the chips asked about has lost an operation."""
        return any(change.kind == "worse" and change.chip in self.asked for change in self.changes)


def compared(before: Matrix, after: Matrix, names: tuple[str, str]) -> MatrixChanges:
    """The cells that differ between two matrices, which are of revisions of these names. A tree without files has no
    chips."""
    old, new, chips = _by_name(before), _by_name(after), after.chips or before.chips
    keys = sorted({*old, *new})
    found = (change for key in keys for change in _of_row(key, old.get(key), new.get(key), chips))
    ordered = sorted(found, key=lambda change: KINDS.index(change.kind))
    skipped = dict.fromkeys((*before.skipped, *after.skipped))
    return MatrixChanges(*names, chips, tuple(ordered), len(keys), tuple(skipped), after.asked or before.asked)


def _by_name(matrix: Matrix) -> dict[tuple[str, str, str], MatrixRow]:
    return {(row.module, row.name, row.backend): row for row in matrix.rows}


def _of_row(
    key: tuple[str, str, str], old: MatrixRow | None, new: MatrixRow | None, chips: tuple[str, ...]
) -> Iterator[CellChange]:
    alone = old or new if old is None or new is None else None
    if alone is not None and len({cell.word for cell in alone.cells.values()}) == 1:
        return  # it tells no chips apart
    for chip in chips:
        before, after = old.cells[chip] if old else None, new.cells[chip] if new else None
        if before is None or after is None or before.word != after.word:
            yield CellChange(*key, chip, before, after)
