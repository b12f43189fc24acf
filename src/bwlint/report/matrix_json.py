"""The JSON of a matrix: an API, described by `matrix.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.matrix.table import Cell, Matrix, MatrixRow
from bwlint.report import Setting
from bwlint.report.audit_json import row_json
from bwlint.report.encode import dumps


def render(matrix: Matrix, setting: Setting) -> str:
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "targets": list(matrix.chips),
            "rows": [_row(row) for row in matrix.rows],
            "ungated": matrix.unasked,
            "apart": [asdict(gate) for gate in matrix.apart],
            "asked": list(matrix.asked),
            "left": [row_json(row) for row in matrix.left],
            "skipped": [{"path": file.path, "reason": file.reason} for file in matrix.skipped],
        }
    )


def _row(row: MatrixRow) -> dict[str, Any]:
    return {
        "module": row.module,
        "name": row.name,
        "backend": row.backend or None,
        "path": row.path,
        "line": row.line,
        "left": row.left,
        "chips": {chip: _cell(cell) for chip, cell in row.cells.items()},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {
        "support": cell.word,
        "fallback": cell.arm or None,
        "gate": None if cell.gate is None else asdict(cell.gate),
    }
    return {**found, "receipts": [asdict(proof) for proof in cell.proofs]} if cell.proofs else found
