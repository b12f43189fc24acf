"""The JSON of a ledger: an API, described by `audit.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.model.ledger import Ledger, Row
from bwlint.report import Setting
from bwlint.report.encode import plain, written


def render(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as JSON. Keys keep their order: in a table the asked chips come first."""
    return written(
        setting.version,
        sort_keys=False,
        targets=ledger.targets,
        rows=[row_json(row) for row in ledger.rows],
        skipped=plain(ledger.skipped),
        stats=dict(ledger.stats),
        stale_decisions=plain(ledger.stale),
    )


def row_json(row: Row) -> dict[str, Any]:
    """A row of a ledger as other reports show it, too."""
    return {**plain(row), "verdicts": dict(row.verdicts), "table": dict(row.table)}
