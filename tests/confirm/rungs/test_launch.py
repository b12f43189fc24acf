"""Kernels of a flagged file, started by a driver that is made up."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_gpu
import gpu_claims
import pytest
import small_binaries

from bwlint.confirm import gpu
from bwlint.confirm.receipt import Attempt
from bwlint.confirm.rungs import launch
from bwlint.confirm.workbench import Toolkit
from bwlint.model.findings import BUILDER


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
        ("image", {}, {}, "refuted", "the kernel k starts; it runs to its end"),
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
            "k: the process that called the",
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


@pytest.mark.parametrize("name", ["module.py", "kernel.ptx"])
def test_what_is_neither_binary_nor_cxx_has_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
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


SOURCE = """\
template <class T> __global__ void wide(T *out, int size) {
  extern __shared__ float held[];
}
__global__ void other(int *p) {}
void f(float *out, int bytes) {
  cudaFuncSetAttribute(wide<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
"""
WIDE, HALF, OTHER = "_Z4wideIfEvPT_i", "_Z4wideI6__halfEvPT_i", "_Z5otherPi"
OPTIN = 232448


def of_source(
    folder: Path,
    kind: Any,
    kernels: tuple[str | small_binaries.Kernel, ...] = (WIDE, OTHER),
    said: str = "",
    **more: Any,
) -> Attempt:
    """What becomes of a claim about line 6, with an nvcc that makes these kernels, or says why it does not."""
    (folder / "made.cubin").write_bytes(small_binaries.cubin(90, "a", kernels))
    (folder / "nvcc").write_text(
        f"#!/bin/sh\necho '{said}'; exit 1\n" if said else f"#!/bin/sh\n/bin/cp '{folder}/made.cubin' unit.cubin\n"
    )
    (folder / "nvcc").chmod(0o755)
    (folder / "a.cu").write_text(SOURCE)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    kit = Toolkit(None, folder / "nvcc", "13.0", "a test", Path("/usr/bin/g++"))
    limit, may = more.pop("limit", 20.0), more.pop("may_launch", True)
    world = gpu_claims.world(folder, may_launch=may, limit=limit)
    subject = gpu_claims.subject(kind, folder / "a.cu", **{"at": gpu_claims.at(6), **more})
    return launch.attempt(
        replace(subject, root=str(folder)), replace(world, scratch=scratch, toolkits=() if said == "none" else (kit,))
    )


@pytest.mark.parametrize(
    ("kind", "claim", "scene", "outcome", "reason"),
    [
        # Nobody knows how much is asked for: all that there is is granted, and one byte more is not.
        (
            "unchecked",
            {},
            {},
            "confirmed",
            "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE (1); a later synchronize returns",
        ),
        (
            "unchecked",
            {},
            {"devices": [fake_gpu.device(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=OPTIN + 1)]},
            "refuted",
            "wide",
        ),
        (
            "unchecked",
            {},
            {"devices": [fake_gpu.device(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=OPTIN - 1)]},
            "inconclusive",
            f"the driver grants it not even {OPTIN} bytes: cuFuncSetAttribute",
        ),
        ("unchecked", {"amounts": (OPTIN + 1,)}, {}, "confirmed", "1 kernel of the cubin for sm_90a of a.cu cannot"),
        (
            "shared",
            {"subject": "dynamic", "amounts": (OPTIN + 1,)},
            {},
            "confirmed",
            "of a.cu cannot be started: wide: ",
        ),
        (
            "shared",
            {"subject": "dynamic", "amounts": (OPTIN,)},
            {},
            "refuted",
            "the kernel wide starts; it runs to its",
        ),
        # Without the opt-in it is refused, and with it is not, which tells that it is for want of that.
        ("shared", {"subject": "default", "amounts": (65536,)}, {}, "confirmed", "with the opt-in it starts"),
        ("shared", {"subject": "default", "amounts": (49152,)}, {}, "refuted", "the kernel wide starts"),
        (
            "shared",
            {"subject": "default", "amounts": (65536,)},
            {"calls": {"cuLaunchKernelEx": [1]}},
            "inconclusive",
            "and with the opt-in cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE",
        ),
        (
            "cluster",
            {"amounts": (16, 1, 1)},
            {},
            "confirmed",
            "CUDA_ERROR_INVALID_CLUSTER_SIZE (912); with the opt-in it",
        ),
        ("cluster", {"amounts": (8, 1, 1)}, {}, "refuted", "the kernel wide starts"),
        # What wrong arguments may be the cause of confirms nothing.
        ("cluster", {"amounts": (8, 1, 1)}, {"calls": {"cuCtxSynchronize": [700]}}, "refuted", "ILLEGAL_ADDRESS (700)"),
        ("unchecked", {}, {"calls": {"cuLaunchKernelEx": [700]}}, "inconclusive", "CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
        (
            "cluster",
            {"amounts": (8, 1, 1)},
            {"calls": {"cuCtxSynchronize": ["hang"]}},
            "inconclusive",
            "the process that",
        ),
        (
            "cluster",
            {"amounts": (8, 1, 1)},
            {"calls": {"cuCtxSynchronize": ["die"]}},
            "inconclusive",
            "the process that",
        ),
        (
            "cluster",
            {"amounts": (8, 1, 1)},
            {"calls": {"cuCtxSynchronize": [{"print": 99999999}]}},
            "inconclusive",
            "more than 64 MiB",
        ),
    ],
)
def test_kernels_of_a_source(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    claim: dict[str, Any],
    scene: dict[str, Any],
    outcome: str,
    reason: str,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, unnamed=[WIDE, OTHER], **scene)
    found = of_source(tmp_path, kind, limit=gpu_claims.limit(scene), **claim)
    assert reason in found.reason
    assert (found.executed, found.outcome) == (True, outcome)


def test_every_instantiation_is_started_until_one_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch, unnamed=[WIDE, HALF, OTHER])
    found = of_source(tmp_path, "unchecked", (WIDE, HALF, OTHER))
    assert set(found.details["kernels"]) == {WIDE, HALF}
    assert "2 kernels" in found.reason


@pytest.mark.parametrize(("static", "outcome"), [(4096, "confirmed"), (8192, "refuted"), (0, "inconclusive")])
def test_static_memory_comes_out_of_what_a_kernel_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, static: int, outcome: str
) -> None:
    """What a cubin says of it is put to the test, too."""
    fake_gpu.install(tmp_path, monkeypatch, unnamed=[WIDE], kernels={WIDE: {"attributes": {"SHARED_SIZE_BYTES": 4096}}})
    assert of_source(tmp_path, "unchecked", (small_binaries.Kernel(WIDE, shared=static),)).outcome == outcome


@pytest.mark.parametrize(
    ("attributes", "shape", "outcome", "reason"),
    [
        (
            (0x3D, struct.pack("<III", 4, 1, 1)),
            (16, 1, 1),
            "inconclusive",
            "but it is compiled for clusters of 4 x 1 x 1",
        ),
        ((0x3D, struct.pack("<III", 16, 1, 1)), (16, 1, 1), "confirmed", "INVALID_CLUSTER_SIZE (912)"),
        (
            (0x3F, struct.pack("<I", 8)),
            (16, 1, 1),
            "inconclusive",
            "but it is compiled for clusters of at most 8 blocks",
        ),
        ((0x3F, struct.pack("<I", 16)), (16, 1, 1), "confirmed", "INVALID_CLUSTER_SIZE (912)"),
        ((0x3D, struct.pack("<III", 4, 1, 1)), (4, 1, 1), "refuted", "the kernel wide starts"),
    ],
)
def test_a_kernel_refuses_clusters_that_it_is_not_compiled_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    attributes: Any,
    shape: tuple[int, ...],
    outcome: str,
    reason: str,
) -> None:
    """As an H100 refuses clusters of eight to kernels with __cluster_dims__(4), with the error of too large ones."""
    fake_gpu.install(tmp_path, monkeypatch, unnamed=[WIDE])
    found = of_source(tmp_path, "cluster", (small_binaries.Kernel(WIDE, attributes=(attributes,)),), amounts=shape)
    assert found.outcome == outcome
    assert reason in found.reason


def test_threads_and_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel is launched with the threads that it requires; pointers are buffers, numbers 0 and then 1."""
    jobs: list[dict[str, Any]] = []

    def ask(job: Mapping[str, Any], **how: Any) -> gpu.Answered:
        jobs.append(dict(job))
        return own(job, **how)

    own = gpu.ask
    monkeypatch.setattr(gpu, "ask", ask)
    fake_gpu.install(tmp_path, monkeypatch, unnamed=[WIDE], kernels={WIDE: {"parameters": [8, 4, 1, 24]}})
    required = small_binaries.Kernel(WIDE, attributes=((0x10, struct.pack("<III", 32, 4, 2)),))
    found = of_source(tmp_path, "cluster", (required,), amounts=(2, 1, 1))
    assert found.outcome == "refuted"
    assert found.details["kernels"][WIDE]["again"]["error"] == 0
    launches = [step for job in jobs for step in job["steps"] if step["do"] == "launch"]
    assert [(one["block"], one["arguments"]) for one in launches] == [
        ([32, 4, 2], {"guess": 0}),
        ([32, 4, 2], {"guess": 1}),
    ]


@pytest.mark.parametrize(
    ("kind", "kernels", "said", "claim", "reason"),
    [
        ("unchecked", (OTHER,), "", {}, "the flagged place names none of 1 kernel that a.cu has for sm_90a: other"),
        ("unchecked", (), "", {}, "nothing of a.cu becomes a kernel for sm_90a: no template is instantiated there"),
        ("unchecked", (), "a.cu(1): error: no", {}, "nvcc does not build a.cu for sm_90a: a.cu(1): error: no"),
        ("unchecked", (), "none", {}, "there is no nvcc with a compiler for the host"),
    ],
)
def test_no_kernel_of_a_source(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    kernels: tuple[str, ...],
    said: str,
    claim: dict[str, Any],
    reason: str,
) -> None:
    fake_gpu.install(tmp_path, monkeypatch, calls={"cuModuleLoadDataEx": ["die"]})
    found = of_source(tmp_path, kind, kernels, said, **claim)
    assert (found.eligible, found.executed, found.outcome) == (True, False, None)
    assert found.reason.startswith(f"no kernel to launch: {reason}")


@pytest.mark.parametrize(
    ("kind", "claim", "requested", "reason"),
    [
        ("cluster", {"subject": BUILDER, "amounts": (3, 1, 1)}, False, "a builder refuses it while it compiles"),
        ("shared", {"subject": "static", "amounts": (65536,), "chips": ()}, True, "about what ptxas takes"),
        ("image", {}, True, "the finding is in no binary and no C++"),
    ],
)
def test_claims_of_which_no_kernel_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, claim: dict[str, Any], requested: bool, reason: str
) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    found = of_source(tmp_path, kind, said="nvcc was started", **claim)
    assert (found.requested, found.eligible) == (requested, False)
    assert reason in found.reason


def test_a_source_is_not_built_unless_launching_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    found = of_source(tmp_path, "unchecked", said="nvcc was started", may_launch=False)
    assert (found.requested, found.seconds) == (False, 0.0)


def test_without_a_gpu_of_the_chip_the_cubin_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_gpu.install(tmp_path, monkeypatch)
    bound = small_binaries.Kernel(WIDE, shared=512, registers=40, attributes=((0x05, struct.pack("<III", 128, 2, 1)),))
    found = of_source(tmp_path, "unchecked", (bound, OTHER), chips=("12.0",))
    assert (found.requested, found.eligible, found.executed, found.outcome) == (True, False, False, None)
    assert found.reason == (
        "the device is 9.0, the claim is about 12.0; for sm_120a wide has 512 bytes of static shared memory,"
        " 40 registers a thread, at most 256 threads"
    )
    assert found.details["resources"] == {WIDE: {"registers": 40, "shared": 512, "threads": (128, 2, 1)}}
