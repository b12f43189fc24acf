"""Kernels that do harm and devices that go away in a run with other findings: it ends, and those have verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest
import small_binaries

from bwlint.confirm import gpu
from bwlint.confirm.ladder import FindingPlace, receipts
from bwlint.confirm.receipt import Attempt, Receipt
from bwlint.model.findings import Finding

HARM: dict[str, Any] = {
    "forever": "hang",
    "fault": 700,
    "prints": {"print": 100_000_000},
    "dies": "die",
    "vanishes": 46,
    "fine": 0,
}


def library(folder: Path, kernel: str) -> Path:
    path = folder / f"{kernel}.so"
    path.write_bytes(
        small_binaries.shared_object(
            small_binaries.container(small_binaries.entry(small_binaries.ptx(90, kernels=(kernel,)), 90))
        )
    )
    return path


def finding(folder: Path, kernel: str) -> Finding:
    """Of a library: that no image of it loads, which is wrong."""
    made = gpu_claims.subject("image", library(folder, kernel), subject=kernel)
    return replace(made.finding, claims=(made.claim,))


def of_shared() -> Finding:
    made = gpu_claims.subject("shared", subject="dynamic", amounts=(232449,))
    return replace(made.finding, claims=(made.claim,))


def launched(receipt: Receipt) -> Attempt:
    return next(attempt for attempt in receipt.tried[0].attempts if attempt.rung == "launch")


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, kernels={name: {"then": what} for name, what in HARM.items()})
    findings = [*(finding(tmp_path, name) for name in HARM), of_shared()]
    ask = gpu.ask
    # Only what never ends is waited for in vain: the others have time to start on a slow machine.
    monkeypatch.setattr(
        gpu, "ask", lambda job, **more: ask(job, **{**more, "limit": 1.0 if "forever" in str(job) else 20.0})
    )
    world = gpu_claims.world(tmp_path, may_launch=True)
    *found, shared = receipts(findings, lambda path: FindingPlace(path, str(tmp_path)), world)
    seen = {name: launched(receipt) for name, receipt in zip(HARM, found, strict=True)}
    assert {name: attempt.outcome for name, attempt in seen.items()} == {
        "forever": "inconclusive",
        "fault": "refuted",
        "prints": "inconclusive",
        "dies": "inconclusive",
        "vanishes": "inconclusive",
        "fine": "refuted",
    }
    reasons = {
        "forever": "was not done after 1 s",
        "fault": "the kernel fault starts; cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        "prints": "it wrote more than 64 MiB",
        "dies": "was ended by SIGKILL",
        "vanishes": "CUDA_ERROR_DEVICE_UNAVAILABLE (46)",
        "fine": "it runs to its end",
    }
    for name, reason in reasons.items():
        assert reason in seen[name].reason
    assert shared.outcome == "confirmed"


@pytest.mark.parametrize("scene", [{"driver": "missing"}, {"calls": {"cuInit": [100]}}, {"devices": []}])
def test_without_a_device_nothing_is_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scene: dict[str, Any]
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **{"devices": [], **scene})
    world = gpu_claims.world(tmp_path, may_launch=True)
    found = list(receipts([finding(tmp_path, "fine"), of_shared()], lambda path: FindingPlace(path, ""), world))
    assert [(receipt.executed, receipt.outcome) for receipt in found] == [(False, "inconclusive")] * 2
    assert all(world.no_device in receipt.reason for receipt in found)
