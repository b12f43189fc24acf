"""Times, by a driver that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest

from bwlint.confirm.rungs import bench


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("cp.async.bulk.shared::cluster.global", "bulk_load takes 20.0 us and fallback_load takes 5.0 us"),
        ("cp.async.bulk.multicast::cluster", "bulk_multicast takes 20.0 us and bulk_load takes 5.0 us"),
    ],
)
def test_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subject: str, reason: str) -> None:
    fake_gpu.install(tmp_path, monkeypatch, milliseconds=[4.0, 1.0])
    found = bench.attempt(gpu_claims.subject("slow", subject=subject), gpu_claims.world(tmp_path, bench=True))
    assert (found.executed, found.outcome) == (True, "inconclusive")
    assert reason in found.reason


@pytest.mark.parametrize(
    ("claim", "asked", "scene", "requested"),
    [
        ({}, False, {}, False),
        ({"chips": ("12.0",)}, True, {}, True),
        ({}, True, {"devices": [fake_gpu.device(CLUSTER_LAUNCH=0)]}, True),
        ({}, True, {"calls": {"cuEventSynchronize": [719]}}, True),
    ],
)
def test_no_times(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    claim: dict[str, Any],
    asked: bool,
    scene: dict[str, Any],
    requested: bool,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **scene)
    found = bench.attempt(gpu_claims.subject("slow", **claim), gpu_claims.world(tmp_path, bench=asked))
    assert (found.requested, found.executed, found.outcome) == (requested, False, None)
