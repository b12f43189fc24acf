"""Receipts, and that of a self-test: as JSON (described by `receipts.schema.json` and `selftest.schema.json`; version 1
gains keys but loses none), and for people."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.receipt import RUNGS, Attempt, Receipt, Tried
from bwlint.confirm.selftest.run import Result, SelfTest
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.report.write import picked, plain, written


def as_json(receipts: Sequence[Receipt], machine: Machine) -> str:
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


def as_text(receipts: Sequence[Receipt]) -> str:
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


def selftest_as_json(test: SelfTest, machine: Machine) -> str:
    """All cases with bwlint's verdict and the device's."""
    bundle = picked(test.bundle, "chip", "toolkit", "left_out")
    counts = {name: len(getattr(test, name)) for name in ("cases", "refuted", "undecided")}
    return written(
        machine.bwlint,
        started=test.started,
        machine=plain(machine),
        device=test.device.ordinal,
        bundle={**bundle, "machine": test.bundle.machine or platform.machine()},
        counts={**counts, **picked(test, "agreed", "hazards")},
        cases=[_case(result) for result in test.cases],
        observations=[_case(result) for result in test.results if result.is_observation],
    )


def _case(result: Result) -> dict[str, Any]:
    told = picked(result, "name", "rule", "question", "static", "hardware", "agrees")
    return {**told, "attempt": of_attempt(result.attempt)}


def selftest_line(result: Result) -> str:
    """``agrees  cubin-for-100a  bwlint fails, the GPU fails: cuModuleLoadDataEx: ... (209)``."""
    mark = {True: "agrees", False: "REFUTED", None: "undecided"}[result.agrees]
    said = f"bwlint {result.static.verdict}, the GPU {result.hardware}"
    return f"{mark:10}{result.name:40} {said}: {result.attempt.reason}"


def selftest_summary(test: SelfTest) -> str:
    return (
        f"{test.device.name} ({test.device.capability}), driver {test.kernel_module}: {test.agreed} of"
        f" {len(test.cases)} cases agree, {test.hazards} fail on the GPU, {len(test.refuted)} refuted,"
        f" {len(test.undecided)} undecided"
    )
