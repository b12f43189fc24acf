"""Receipts as JSON, described by `receipts.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.receipt import Attempt, Receipt, Tried
from bwlint.report.encode import picked, plain, written


def render(receipts: Sequence[Receipt], machine: Machine) -> str:
    """All receipts of a run, with the machine that they were made on."""
    return written(machine.bwlint, machine=plain(machine), receipts=[_receipt(receipt) for receipt in receipts])


def _receipt(receipt: Receipt) -> dict[str, Any]:
    told = picked(receipt, "fingerprint", "rule", "path", "line", "outcome", "reason")
    return {**told, "claims": [of_claim(tried) for tried in receipt.tried]}


def of_claim(tried: Tried) -> dict[str, Any]:
    return {
        **picked(tried, "claim", "outcome", "reason"),
        "requested": [attempt.rung for attempt in tried.attempts if attempt.requested],
        "eligible": [attempt.rung for attempt in tried.attempts if attempt.eligible],
        "executed": [attempt.rung for attempt in tried.attempts if attempt.executed],
        "attempts": [of_attempt(attempt) for attempt in tried.attempts],
    }


def of_attempt(attempt: Attempt) -> dict[str, Any]:
    """One rung as plain values; its time in seconds."""
    return {**plain(attempt), "seconds": round(attempt.seconds, 3)}
