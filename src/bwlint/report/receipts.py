"""Receipts as JSON, described by `receipts.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.receipt import Attempt, Receipt, Tried
from bwlint.report.encode import dumps


def render(receipts: Sequence[Receipt], machine: Machine) -> str:
    """All receipts of a run, with the machine that they were made on."""
    return dumps(document(receipts, machine))


def document(receipts: Sequence[Receipt], machine: Machine) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": machine.bwlint},
        "machine": of_machine(machine),
        "receipts": [_receipt(receipt) for receipt in receipts],
    }


def of_machine(machine: Machine) -> dict[str, Any]:
    """A machine as plain values."""
    return {key: plain(value) for key, value in asdict(machine).items()}


def _receipt(receipt: Receipt) -> dict[str, Any]:
    return {
        "fingerprint": receipt.fingerprint,
        "rule": receipt.rule,
        "path": receipt.path,
        "line": receipt.line,
        "outcome": receipt.outcome,
        "reason": receipt.reason,
        "claims": [of_claim(tried) for tried in receipt.tried],
    }


def of_claim(tried: Tried) -> dict[str, Any]:
    """A tried claim as plain values."""
    return {
        "claim": asdict(tried.claim),
        "outcome": tried.outcome,
        "reason": tried.reason,
        "requested": [attempt.rung for attempt in tried.attempts if attempt.requested],
        "eligible": [attempt.rung for attempt in tried.attempts if attempt.eligible],
        "executed": [attempt.rung for attempt in tried.attempts if attempt.executed],
        "attempts": [of_attempt(attempt) for attempt in tried.attempts],
    }


def of_attempt(attempt: Attempt) -> dict[str, Any]:
    """One rung as plain values; its time in seconds."""
    told = {key: plain(value) for key, value in asdict(attempt).items()}
    return {**told, "seconds": round(attempt.seconds, 3)}


def plain(value: Any) -> Any:
    """A value with its paths as texts."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
