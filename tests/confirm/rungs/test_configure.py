"""What a driver that is made up, with the limits of an H100, grants a probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest
import small_binaries

from bwlint.confirm.rungs import configure

MOST = 232448


@pytest.mark.parametrize(
    ("kind", "claim", "outcome", "reason"),
    [
        ("shared", {"subject": "dynamic", "amounts": (MOST + 1,)}, "confirmed", "232448 are the most"),
        ("shared", {"subject": "dynamic", "amounts": (MOST,)}, "refuted", "grants a block 232448 bytes"),
        ("shared", {"subject": "dynamic", "amounts": (MOST + 1, 240000)}, "confirmed", "refuses 240000 bytes"),
        ("shared", {"subject": "dynamic", "amounts": (MOST + 1, 1024)}, "inconclusive", "grants a block 1024 bytes"),
        ("unchecked", {"amounts": (300000,)}, "confirmed", "refuses 300000 bytes"),
        ("unchecked", {"amounts": (101377,)}, "refuted", "grants a block 101377 bytes"),
        ("shared", {"subject": "static", "amounts": (MOST + 1,)}, "confirmed", "made for sm_90a: 232448 at most"),
        ("shared", {"subject": "static", "amounts": (MOST,)}, "refuted", "for sm_90a with 232448 bytes"),
        ("shared", {"subject": "default", "amounts": (49153,)}, "confirmed", "a kernel may have 49152 bytes"),
        ("shared", {"subject": "default", "amounts": (49152,)}, "refuted", "a kernel may have 49152 bytes"),
        ("cluster", {"amounts": (16, 1, 1)}, "confirmed", "no cluster of 16 blocks"),
        ("cluster", {"amounts": (4, 4, 1)}, "confirmed", "with the opt-in 8 at a time"),
        (
            "cluster",
            {"amounts": (17, 1, 1)},
            "confirmed",
            "(912); with the opt-in at most 16",
        ),
        ("cluster", {"amounts": (8, 1, 1)}, "refuted", "clusters of 8 blocks fit without an opt-in: 16 at a time"),
        ("cluster", {"amounts": (2,)}, "refuted", "clusters of 2 blocks fit"),
        ("bounds", {"amounts": (1024, 3)}, "confirmed", "2 blocks of 1024 threads"),
        ("bounds", {"amounts": (1024, 2)}, "refuted", "2 blocks of 1024 threads"),
        ("bounds", {"amounts": (32, 33)}, "confirmed", "32 blocks of 32 threads"),
    ],
)
def test_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, claim: dict[str, Any], outcome: str, reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, static=MOST)
    found = configure.attempt(gpu_claims.subject(kind, **claim), gpu_claims.world(tmp_path))
    assert (found.executed, found.outcome) == (True, outcome)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("kind", "claim", "reason"),
    [
        ("shared", {"amounts": (1,), "chips": ("12.0",)}, "the device is 9.0, the claim is about 12.0"),
        ("shared", {"amounts": ()}, "the claim names no amount"),
        (
            "shared",
            {"subject": "tensor", "amounts": (1,)},
            "'tensor' is not a kind of shared memory that bwlint can test",
        ),
        ("cluster", {"amounts": (0, 1, 1)}, "0 blocks make no cluster"),
        ("cluster", {"amounts": (1 << 20, 1, 1)}, "1048576 blocks make no cluster"),
        ("bounds", {"amounts": (2048, 1)}, "the claim does not name threads and blocks"),
        ("bounds", {"amounts": (256,)}, "the claim does not name threads and blocks"),
    ],
)
def test_not_eligible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, claim: dict[str, Any], reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    found = configure.attempt(gpu_claims.subject(kind, **claim), gpu_claims.world(tmp_path))
    assert (found.eligible, found.executed, found.outcome, found.reason) == (False, False, None, reason)


@pytest.mark.parametrize(
    ("calls", "executed", "reason"),
    [
        ({"cuModuleLoadDataEx": [222]}, False, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"),
        ({"cuFuncSetAttribute": [999]}, False, "cuFuncSetAttribute: CUDA_ERROR_UNKNOWN (999)"),
        ({"cuFuncSetAttribute": [719]}, False, "CUDA_ERROR_LAUNCH_FAILED (719)"),
        ({"cuFuncSetAttribute": [500]}, True, "cuFuncSetAttribute: CUDA_ERROR_NOT_FOUND (500)"),
        ({"cuFuncSetAttribute": ["hang"]}, False, "not done after 1 s"),
        ({"cuFuncSetAttribute": ["die"]}, False, "ended by SIGKILL"),
        ({"cuOccupancyMaxActiveBlocksPerMultiprocessor": [46]}, True, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
    ],
)
def test_other_errors_decide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: dict[str, Any], executed: bool, reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls=calls)
    subject = gpu_claims.subject("shared", subject="dynamic", amounts=(1024,))
    found = configure.attempt(subject, gpu_claims.world(tmp_path, limit=gpu_claims.limit(calls)))
    assert (found.executed, found.outcome) == (executed, "inconclusive" if executed else None)
    assert reason in found.reason


def test_a_chip_without_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, devices=[fake_gpu.device(CLUSTER_LAUNCH=0)])
    found = configure.attempt(gpu_claims.subject("cluster", amounts=(2, 1, 1)), gpu_claims.world(tmp_path))
    assert (found.outcome, found.reason) == ("confirmed", "the 9.0 device launches no clusters")


def test_an_assembler_that_allows_less_than_the_chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, static=49152)
    subject = gpu_claims.subject("shared", subject="static", amounts=(300000,))
    found = configure.attempt(subject, gpu_claims.world(tmp_path))
    assert (found.executed, found.outcome) == (True, "inconclusive")
    assert "this assembler allows static arrays 49152 bytes" in found.reason


@pytest.mark.parametrize(
    ("width", "name", "outcome", "reason"),
    [
        (16, "k", "confirmed", "the driver takes no cluster of 16 blocks"),
        (4, "k", "refuted", "33 at a time"),
        (16, "absent", None, "the kernel absent is in no container that this device loads"),
    ],
)
def test_the_kernel_of_a_binary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, name: str, outcome: str | None, reason: str
) -> None:
    shape = {"REQUIRED_CLUSTER_WIDTH": width, "REQUIRED_CLUSTER_HEIGHT": 1, "REQUIRED_CLUSTER_DEPTH": 1}
    fake_gpu.install(tmp_path, monkeypatch, kernels={"k": {"attributes": shape}})
    held = small_binaries.container(small_binaries.entry(small_binaries.ptx(90), 90))
    (tmp_path / "lib.so").write_bytes(small_binaries.shared_object(held))
    subject = gpu_claims.subject("cluster", tmp_path / "lib.so", subject=name, amounts=(width, 1, 1))
    found = configure.attempt(subject, gpu_claims.world(tmp_path))
    assert (found.executed, found.outcome) == (outcome is not None, outcome)
    assert reason in found.reason
