"""The receipt of a self-test as JSON, described by `selftest.schema.json`, and its lines for people."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.selftest.run import Result, SelfTest
from bwlint.report.encode import dumps
from bwlint.report.receipts import of_attempt, of_machine


def render(test: SelfTest, machine: Machine) -> str:
    """All cases with bwlint's verdict and the device's."""
    return dumps(document(test, machine))


def document(test: SelfTest, machine: Machine) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": machine.bwlint},
        "started": test.started,
        "machine": of_machine(machine),
        "device": test.device.ordinal,
        "bundle": {
            "chip": test.bundle.chip,
            "machine": test.bundle.machine or platform.machine(),
            "toolkit": dict(test.bundle.toolkit),
            "left_out": dict(test.bundle.left_out),
        },
        "counts": {
            "cases": len(test.cases),
            "agreed": test.agreed,
            "refuted": len(test.refuted),
            "undecided": len(test.undecided),
            "hazards": test.hazards,
        },
        "cases": [_row(result) for result in test.cases],
        "observations": [_row(result) for result in test.results if result.is_observation],
    }


def _row(result: Result) -> dict[str, Any]:
    return {
        "name": result.name,
        "rule": result.rule,
        "question": result.question,
        "static": {**asdict(result.static), "reasons": list(result.static.reasons), "rules": list(result.static.rules)},
        "hardware": result.hardware,
        "agrees": result.agrees,
        "attempt": of_attempt(result.attempt),
    }


def line(result: Result) -> str:
    """``agrees  cubin-for-100a  bwlint fails, the GPU fails: cuModuleLoadDataEx: ... (209)``."""
    mark = {True: "agrees", False: "REFUTED", None: "undecided"}[result.agrees]
    said = f"bwlint {result.static.verdict}, the GPU {result.hardware}"
    return f"{mark:10}{result.name:40} {said}: {result.attempt.reason}"


def summary(test: SelfTest) -> str:
    """One line for the end of a run."""
    return (
        f"{test.device.name} ({test.device.capability}), driver {test.kernel_module}: {test.agreed} of"
        f" {len(test.cases)} cases agree, {test.hazards} fail on the GPU, {len(test.refuted)} refuted,"
        f" {len(test.undecided)} undecided"
    )
