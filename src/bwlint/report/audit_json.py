"""The JSON of a ledger: an API, described by `audit.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.model.ledger import Ledger, Row
from bwlint.report import Setting
from bwlint.report.encode import dumps


def render(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as JSON. Keys keep their order: in a table the asked chips come first."""
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "targets": list(ledger.targets),
            "rows": [row_json(row) for row in ledger.rows],
            "skipped": [asdict(file) for file in ledger.skipped],
            "stats": dict(ledger.stats),
            "stale_decisions": [asdict(decision) for decision in ledger.stale],
        },
        sort_keys=False,
    )


def row_json(row: Row) -> dict[str, Any]:
    """A row of a ledger as other reports show it, too."""
    return {**asdict(row), "verdicts": dict(row.verdicts), "table": dict(row.table)}
