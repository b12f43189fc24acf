"""Two GPUs that are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest

from bwlint.confirm.probes import DONE, GIVEN_UP
from bwlint.confirm.rungs import peer

TWO = [fake_gpu.device(), fake_gpu.device()]


def kernels(*, arrived: bool = True, wrong: int = 0, counted: int = 256_000) -> dict[str, Any]:
    return {
        "poll_flag": {"results": [DONE, wrong, 17 if arrived else GIVEN_UP, 0]},
        "count_up": {"results": [counted]},
    }


@pytest.mark.parametrize(
    ("subject", "scene", "outcome", "reason"),
    [
        ("peer-store", {}, "refuted", "flag 0 to 1: the flag arrives, 0 words behind it wrong"),
        ("peer-store", {"kernels": kernels(arrived=False)}, "confirmed", "flag 0 to 1: the flag never arrives"),
        ("peer-store", {"kernels": kernels(wrong=1)}, "confirmed", "the flag arrives, 1 word behind it wrong"),
        ("peer-store", {"peer": {"moves": 0}}, "confirmed", "copy 0 to 1: 1024 words wrong"),
        ("peer-store", {"peer": {"can": 0}}, "confirmed", "the driver gives these GPUs no access"),
        ("remote-atomic", {}, "refuted", "counter 0 to 1: 256000 of 256000 additions"),
        ("remote-atomic", {"kernels": kernels(counted=3)}, "confirmed", "counter 0 to 1: 3 of 256000 additions"),
        ("remote-atomic", {"peer": {"NATIVE_ATOMIC_SUPPORTED": 0}}, "confirmed", "not support all native atomics"),
        ("multicast", {}, "inconclusive", "have NVLink multicast; bwlint does not use them"),
        (
            "multicast",
            {"devices": [fake_gpu.device(MULTICAST_SUPPORTED=0)] * 2},
            "confirmed",
            "not both GPUs have NVLink",
        ),
        ("fabric", {}, "inconclusive", "the driver does not say whether these GPUs have fabric handles"),
        ("peer-store", {"calls": {"cuLaunchKernel": [46]}}, "inconclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
        ("peer-store", {"calls": {"cuMemcpyPeer": ["die"]}}, "inconclusive", "ended by SIGKILL"),
    ],
)
def test_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subject: str, scene: dict[str, Any], outcome: str, reason: str
) -> None:
    # What the claim is not about takes a child a piece, and time.
    wanted = ("counter",) if subject == "remote-atomic" else ("flag", "copy")
    sizes = {**peer._TESTS, "copy": {"bytes": 4096, "repeat": 2}}
    monkeypatch.setattr(peer, "_TESTS", {name: sizes[name] for name in wanted})
    fake_gpu.install(tmp_path, monkeypatch, **{"devices": TWO, "kernels": kernels(), **scene})
    found = peer.attempt(gpu_claims.subject("peer", subject=subject), gpu_claims.world(tmp_path))
    assert reason in found.reason
    assert (found.executed, found.outcome) == (True, outcome)


@pytest.mark.parametrize(
    ("devices", "chips", "reason"),
    [
        (TWO[:1], ("9.0",), "a peer test needs two GPUs, and this machine has one"),
        (TWO, ("12.0",), "the devices are 9.0, and the claim is about 12.0"),
        (TWO, (), "the devices are 9.0, and the claim is about no chip"),
        ([TWO[0], fake_gpu.device(COMPUTE_CAPABILITY_MAJOR=8)], ("9.0",), "the devices are 9.0 and 8.0, and the claim"),
        ([], ("9.0",), "the driver shows no GPU"),
    ],
)
def test_not_eligible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: list[Any], chips: tuple[str, ...], reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, devices=devices)
    found = peer.attempt(gpu_claims.subject("peer", subject="peer-store", chips=chips), gpu_claims.world(tmp_path))
    assert (found.requested, found.eligible, found.executed, found.outcome) == (True, False, False, None)
    assert found.reason.startswith(reason)


def test_everything_is_tried_and_what_the_claim_is_about_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, devices=TWO, kernels=kernels(counted=3))
    monkeypatch.setitem(peer._TESTS, "copy", {"bytes": 4096, "repeat": 2})
    found = peer.attempt(gpu_claims.subject("peer", subject="peer-store"), gpu_claims.world(tmp_path))
    assert found.outcome == "refuted"
    assert found.details["counter 0 to 1"] == {"error": 0, "value": 3, "expected": 256_000}
    assert {"flag 1 to 0", "counter 1 to 0", "copy 1 to 0"} <= set(found.details)


def test_multicast_is_never_made() -> None:
    room = Path(peer.__file__).parents[1]
    assert not [path for path in room.rglob("*.py") if "cuMulticastCreate" in path.read_text()]
