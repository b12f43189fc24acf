"""The finished matrix, as data for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
