"""A ledger for a spreadsheet: one line a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from bwlint.model.escape import visible
from bwlint.model.ledger import Ledger, Row
from bwlint.report import Setting

_FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula, which may run programs."""


def render(ledger: Ledger, setting: Setting) -> str:
    """`ledger` as CSV with a header; a column for the verdict of each asked chip."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = ("score", "form", "group", "subject", "question", "path", "line", "places", "why")
    writer.writerow(("rank", "kind", *ledger.targets, *heads, "fingerprint", "decision", "reason"))
    for rank, row in enumerate(ledger.rows, 1):
        writer.writerow(_harmless(cell) for cell in _cells(rank, row, ledger.targets))
    return text.getvalue()


def _cells(rank: int, row: Row, targets: tuple[str, ...]) -> Iterator[str | int]:
    verdicts, first = dict(row.verdicts), row.places[0]
    yield from (rank, row.kind, *(verdicts.get(chip, "") for chip in targets))
    yield from (row.score, row.form, row.group, row.subject, row.question, first.path, first.line)
    yield from (len(row.places), row.why, row.fingerprint)
    yield from ("", "") if row.decision is None else (row.decision.said, row.decision.reason)


def _harmless(cell: str | int) -> str | int:
    if isinstance(cell, int):
        return cell
    text = visible(cell)
    return f"'{text}" if text.startswith(_FORMULA) else text
