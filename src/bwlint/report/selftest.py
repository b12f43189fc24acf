"""The receipt of a self-test as JSON, described by `selftest.schema.json`, and its lines for people."""

from __future__ import annotations

import platform
from typing import Any

from bwlint.confirm.machine import Machine
from bwlint.confirm.selftest.run import Result, SelfTest
from bwlint.report.encode import picked, plain, written
from bwlint.report.receipts import of_attempt


def render(test: SelfTest, machine: Machine) -> str:
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
        cases=[_row(result) for result in test.cases],
        observations=[_row(result) for result in test.results if result.is_observation],
    )


def _row(result: Result) -> dict[str, Any]:
    told = picked(result, "name", "rule", "question", "static", "hardware", "agrees")
    return {**told, "attempt": of_attempt(result.attempt)}


def line(result: Result) -> str:
    """``agrees  cubin-for-100a  bwlint fails, the GPU fails: cuModuleLoadDataEx: ... (209)``."""
    mark = {True: "agrees", False: "REFUTED", None: "undecided"}[result.agrees]
    said = f"bwlint {result.static.verdict}, the GPU {result.hardware}"
    return f"{mark:10}{result.name:40} {said}: {result.attempt.reason}"


def summary(test: SelfTest) -> str:
    return (
        f"{test.device.name} ({test.device.capability}), driver {test.kernel_module}: {test.agreed} of"
        f" {len(test.cases)} cases agree, {test.hazards} fail on the GPU, {len(test.refuted)} refuted,"
        f" {len(test.undecided)} undecided"
    )
