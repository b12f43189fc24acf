"""What probes leave behind, by a driver that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest

from bwlint.confirm.probes import DONE, UNTOUCHED
from bwlint.confirm.rungs import check

BYTES = 200000
SHARED: dict[str, Any] = {"subject": "dynamic", "amounts": (BYTES,)}
PAIR: dict[str, Any] = {"amounts": (2, 1, 1)}


def left(wrong: int = 0, read: int = BYTES, done: int | None = DONE) -> list[int | None]:
    return [done, (UNTOUCHED + wrong) & 0xFFFFFFFF, (UNTOUCHED + read) & 0xFFFFFFFF, 3]


def exchanged(*wrong: int) -> list[int]:
    return [word for rank, each in enumerate(wrong) for word in (DONE, UNTOUCHED + each, rank, len(wrong))]


def scene(name: str, results: list[int | None] | list[int] | None = None, **rest: Any) -> dict[str, Any]:
    return {"kernels": {name: {} if results is None else {"results": results}}, **rest}


@pytest.mark.parametrize(
    ("kind", "claim", "made_up", "outcome", "reason"),
    [
        ("shared", SHARED, scene("shared_pattern", left()), "refuted", "all bytes hold what is written"),
        ("unchecked", {"amounts": (BYTES,)}, scene("shared_pattern", left()), "refuted", "all bytes hold"),
        ("shared", SHARED, scene("shared_pattern", left(7)), "confirmed", "7 bytes are wrong without an error"),
        ("shared", {**SHARED, "amounts": (232449,)}, {}, "confirmed", "does not start (cuLaunchKernelEx: CUDA_ERROR_"),
        ("unchecked", {"amounts": (232449,)}, {}, "confirmed", "no error shows and old results stay"),
        # It says that it ran, and has not looked at all bytes.
        (
            "shared",
            SHARED,
            scene("shared_pattern", left(read=4)),
            "inconclusive",
            "is stopped: not all bytes were read",
        ),
        ("shared", SHARED, scene("shared_pattern", left(done=None)), "inconclusive", "is stopped: a block did not end"),
        # Launched without an error, and nothing was done.
        ("shared", SHARED, scene("shared_pattern"), "inconclusive", "is not started: nothing says why"),
        ("shared", SHARED, {"calls": {"cuLaunchKernelEx": [46]}}, "inconclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE"),
        ("shared", SHARED, {"calls": {"cuCtxSynchronize": [700]}}, "inconclusive", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        (
            "shared",
            {"subject": "static", "amounts": (40000,)},
            scene("shared_pattern", left(read=40000)),
            "refuted",
            "40000 bytes of static shared memory runs",
        ),
        ("shared", {"subject": "default", "amounts": (49153,)}, {}, "confirmed", "and no opt-in does not start"),
        ("cluster", PAIR, scene("cluster_exchange", exchanged(0, 0)), "refuted", "a cluster of 2 blocks runs"),
        (
            "cluster",
            PAIR,
            scene("cluster_exchange", exchanged(0, 1)),
            "confirmed",
            "1 words that it exchanges are wrong",
        ),
        (
            "cluster",
            {"amounts": (16, 1, 1)},
            scene("cluster_exchange", exchanged(*[0] * 16)),
            "confirmed",
            "does not start (cuLaunchKernelEx: CUDA_ERROR_INVALID_CLUSTER_SIZE (912)); with the opt-in: ran right",
        ),
        ("cluster", {"amounts": (17, 1, 1)}, {}, "confirmed", "(912)); with the opt-in: not started"),
        ("cluster", PAIR, {"calls": {"cuCtxSynchronize": [719]}}, "inconclusive", "CUDA_ERROR_LAUNCH_FAILED"),
        ("cluster", PAIR, {}, "inconclusive", "is not started: nothing says why"),
    ],
)
def test_claims(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    claim: dict[str, Any],
    made_up: dict[str, Any],
    outcome: str,
    reason: str,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **made_up)
    found = check.attempt(gpu_claims.subject(kind, **claim), gpu_claims.world(tmp_path))
    assert reason in found.reason
    assert (found.executed, found.outcome) == (True, outcome)


@pytest.mark.parametrize(
    ("kind", "claim", "eligible", "reason"),
    [
        ("shared", {**SHARED, "chips": ("12.1",)}, False, "the device is 9.0, the claim is about 12.1"),
        ("shared", {"subject": "dynamic"}, False, "the claim names no amount"),
        ("shared", {"subject": "tensor", "amounts": (1,)}, False, "'tensor' is not a kind of shared memory"),
        ("cluster", {"amounts": (0,)}, False, "0 blocks make no cluster"),
        ("shared", {"subject": "static", "amounts": (90000,)}, True, "CUDA_ERROR_INVALID_PTX (218)"),
    ],
)
def test_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, claim: dict[str, Any], eligible: bool, reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    found = check.attempt(gpu_claims.subject(kind, **claim), gpu_claims.world(tmp_path))
    assert (found.eligible, found.executed, found.outcome) == (eligible, False, None)
    assert reason in found.reason


@pytest.mark.parametrize(("what", "reason"), [("hang", "not done after 1 s"), ("die", "ended by SIGKILL")])
def test_a_probe_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, reason: str) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuCtxSynchronize": [what]})
    world = gpu_claims.world(tmp_path, limit=gpu_claims.limit(what))
    found = check.attempt(gpu_claims.subject("shared", **SHARED), world)
    assert found.outcome is None
    assert reason in found.reason
