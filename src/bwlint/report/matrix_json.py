"""The JSON of a matrix: an API, described by `matrix.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.matrix.table import Cell, Matrix, MatrixRow
from bwlint.report import Setting
from bwlint.report.audit_json import row_json
from bwlint.report.encode import picked, plain, written


def render(matrix: Matrix, setting: Setting) -> str:
    return written(
        setting.version,
        targets=matrix.chips,
        rows=[_row(row) for row in matrix.rows],
        ungated=len(matrix.unasked),
        left=[row_json(row) for row in matrix.left],
        **picked(matrix, "apart", "asked", "skipped"),
    )


def _row(row: MatrixRow) -> dict[str, Any]:
    return {
        **picked(row, "module", "name", "path", "line", "left"),
        "backend": row.backend or None,
        "chips": {chip: cell_json(cell) for chip, cell in row.cells.items()},
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    receipts = {"receipts": plain(cell.proofs)} if cell.proofs else {}
    return {"support": cell.word, "fallback": cell.arm or None, "gate": plain(cell.gate), **receipts}
