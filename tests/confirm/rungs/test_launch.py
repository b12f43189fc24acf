"""Kernels of a flagged file, started by a driver that is made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest
import small_binaries

from bwlint.confirm.rungs import launch


def library(folder: Path, *kernels: str) -> Path:
    path = folder / "lib.so"
    path.write_bytes(
        small_binaries.shared_object(
            small_binaries.container(small_binaries.entry(small_binaries.ptx(90, kernels=kernels), 90))
        )
    )
    return path


@pytest.mark.parametrize(
    ("kind", "claim", "scene", "outcome", "reason"),
    [
        ("image", {}, {}, "refuted", "the kernel k starts; it comes to its end"),
        ("image", {"subject": "l"}, {}, "refuted", "the kernel l starts"),
        # A fault is one of a kernel that has begun.
        (
            "image",
            {},
            {"calls": {"cuCtxSynchronize": [700]}},
            "refuted",
            "the kernel k starts; cuCtxSynchronize: CUDA_",
        ),
        ("image", {}, {"calls": {"cuCtxSynchronize": [715]}}, "refuted", "the kernel k starts"),
        ("image", {}, {"calls": {"cuLaunchKernelEx": [209]}}, "confirmed", "k: cuLaunchKernelEx: CUDA_ERROR_NO_BINARY"),
        # The first is not to be had, the second is.
        ("image", {}, {"calls": {"cuLaunchKernelEx": [1, 0]}}, "inconclusive", "k: cuLaunchKernelEx: CUDA_ERROR_INV"),
        ("image", {}, {"calls": {"cuLaunchKernelEx": [46]}}, "inconclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
        ("image", {}, {"calls": {"cuCtxSynchronize": [46]}}, "inconclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"),
        (
            "image",
            {"subject": "k"},
            {"calls": {"cuCtxSynchronize": ["hang"]}},
            "inconclusive",
            "k: the process that spoke to the",
        ),
        ("image", {}, {"calls": {"cuCtxSynchronize": [{"print": 99999999}]}}, "inconclusive", "more than 64 MiB"),
        (
            "shared",
            {"subject": "dynamic", "amounts": (232449,)},
            {},
            "confirmed",
            "2 kernels of the container at offset",
        ),
        ("shared", {"subject": "dynamic", "amounts": (232448,)}, {}, "refuted", "the kernel k starts"),
        (
            "shared",
            {"subject": "dynamic", "amounts": (232448,)},
            {"calls": {"cuLaunchKernelEx": [1]}},
            "inconclusive",
            "k: cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE (1)",
        ),
        ("cluster", {"amounts": (16, 1, 1)}, {}, "confirmed", "CUDA_ERROR_INVALID_CLUSTER_SIZE (912)"),
        ("cluster", {"amounts": (2, 1, 1)}, {}, "refuted", "the kernel k starts"),
    ],
)
def test_kernels(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    claim: dict[str, Any],
    scene: dict[str, Any],
    outcome: str,
    reason: str,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **scene)
    subject = gpu_claims.subject(kind, library(tmp_path, "k", "l"), **claim)
    found = launch.attempt(subject, gpu_claims.world(tmp_path, may_launch=True, limit=gpu_claims.limit(scene)))
    assert reason in found.reason
    assert (found.executed, found.outcome) == (True, outcome)


def test_nothing_is_launched_unless_it_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuInit": ["die"]})
    found = launch.attempt(gpu_claims.subject("image", library(tmp_path, "k")), gpu_claims.world(tmp_path))
    assert (found.requested, found.eligible, found.executed, found.outcome) == (False, False, False, None)


@pytest.mark.parametrize("name", ["kernel.cu", "module.py", "kernel.ptx"])
def test_source_has_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    (tmp_path / name).touch()
    subject = gpu_claims.subject("shared", tmp_path / name, subject="dynamic", amounts=(1,))
    found = launch.attempt(subject, gpu_claims.world(tmp_path, may_launch=True))
    assert (found.requested, found.eligible) == (True, False)


@pytest.mark.parametrize(
    ("kernels", "scene", "reason"),
    [
        ((), {}, "no kernel to launch: no container has such a kernel"),
        (("k",), {"images": [{"contains": "sm_90", "error": 209}]}, "CUDA_ERROR_NO_BINARY_FOR_GPU (209)"),
    ],
)
def test_nothing_to_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: tuple[str, ...], scene: dict[str, Any], reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, **scene)
    subject = gpu_claims.subject("image", library(tmp_path, *kernels))
    found = launch.attempt(subject, gpu_claims.world(tmp_path, may_launch=True))
    assert (found.eligible, found.executed, found.outcome) == (True, False, None)
    assert reason in found.reason
