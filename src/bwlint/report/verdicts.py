"""The results of `confirm`, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bwlint.confirm.receipt import RUNGS, Receipt
from bwlint.model.escape import visible
from bwlint.model.naming import counted


def render(receipts: Sequence[Receipt]) -> str:
    """A line for each finding."""
    told = (f"{one.path}:{one.line}: {one.outcome} [{one.rule}] {one.reason}" for one in receipts)
    return "".join(f"{visible(line)}\n" for line in told)


def summary(receipts: Sequence[Receipt]) -> str:
    """``3 findings: 2 confirmed, 1 inconclusive; executed: assemble 2, load 1``."""
    outcomes = Counter(receipt.outcome for receipt in receipts)
    parts = [
        f"{outcomes[outcome]} {outcome}" for outcome in ("confirmed", "refuted", "inconclusive") if outcomes[outcome]
    ]
    ran = Counter(
        attempt.rung
        for receipt in receipts
        for tried in receipt.tried
        for attempt in tried.attempts
        if attempt.executed
    )
    rungs = ", ".join(f"{rung} {ran[rung]}" for rung in RUNGS if ran[rung])
    return f"{counted(len(receipts), 'finding')}: {', '.join(parts)}{f'; executed: {rungs}' if rungs else ''}"
