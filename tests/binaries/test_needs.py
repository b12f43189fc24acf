from __future__ import annotations

from typing import Any

import pytest
from shipments import make_library

from bwlint.binaries.needs import cuda_libraries, driver, driver_needs, least_needs


@pytest.mark.parametrize(
    "name",
    [
        "libcudart.so.12",
        "libcudart.so.11.0",
        "libcublas.so.13",
        "libcublasLt.so.12",
        "libcudnn.so.9",
        "libcudnn_graph.so.9",
        "libnvrtc.so.12",
        "libnvrtc-builtins.so.13.0",
        "libcufft.so.11",
        "libcufftw.so.11",
        "libcurand.so.10",
        "libcusparse.so.12",
        "libcusparseLt.so.0",
        "libcusolver.so.11",
        "libcusolverMg.so.11",
        "libnccl.so.2",
        "libnvJitLink.so.12",
        "libcupti.so.13",
        "libcudart.so",
        "cudart64_12.dll",
        "cublasLt64_13.dll",
        "nvrtc64_120_0.dll",
    ],
)
def test_libraries_of_cuda(name: str) -> None:
    assert cuda_libraries(["libc.so.6", name]) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "libc.so.6",
        "libcuda.so.1",
        "libtorch_cuda.so",
        "libc10_cuda.so",
        "libnvidia-ml.so.1",
        "libcudart",
        "libcudart.so.12\n",
        "libcudart.so.12/../x",
        "libcudart-d0da41ae.so.11.0",
        "libmycudart.so.12",
        "libcublas_x.so",
        "libnccl-net.so",
        "KERNEL32.dll",
        "",
    ],
)
def test_other_libraries(name: str) -> None:
    assert cuda_libraries([name]) == []


def test_each_once_and_sorted() -> None:
    assert cuda_libraries(["libnccl.so.2", "libcudart.so.12", "libnccl.so.2"]) == ["libcudart.so.12", "libnccl.so.2"]


@pytest.mark.parametrize(
    ("served", "changes", "needed"),
    [
        ({"9.0": {"native": 2}}, {}, "525.60.13"),
        # CUDA 12.8 is the first that knows 12.0, and 12.9 knows 12.1.
        ({"12.0": {"native": 2}}, {}, "570.26"),
        ({"12.1": {"family": 2}}, {}, "575.51.03"),
        ({"12.0": {"family": 2}}, {"toolkit": (13, 2)}, "580.65.06"),
        ({"12.0": {"jit": 2}}, {}, "575.51.03"),
        # The driver must know the card too.
        ({"12.0": {"jit": 2}}, {"isa": (7, 8)}, "570.26"),
        ({"12.0": {"native": 1, "jit": 1}}, {"isa": (7, 8)}, "570.26"),
        ({"12.0": {"native": 1, "jit-link": 1}}, {}, "575.51.03"),
        ({"12.0": {"none": 1}}, {}, "525.60.13"),
        ({"12.0": {"jit": 1}}, {"isa": (9, 5)}, None),
        ({"12.0": {"jit": 1}}, {"isa": None, "toolkit": None}, None),
        ({"12.0": {"jit-link": 1}}, {"isa": (9, 0)}, "580.65.06"),
        ({"12.0": {"jit-link": 1}}, {"containers": ()}, "570.26"),
        ({"12.0": {"native": 1}}, {"toolkit": None}, None),
        ({"12.0": {"native": 1}}, {"toolkit": (99, 0)}, None),
        ({"12.0": {"native": 1}}, {"form": "pe"}, None),
        # A chip that was not asked about.
        ({"9.0": {"jit": 1}}, {}, "525.60.13"),
    ],
)
def test_drivers(served: dict[str, Any], changes: dict[str, Any], needed: str | None) -> None:
    assert driver(make_library("a.so", served, **changes), ("12.0", "12.1")) == needed


@pytest.mark.parametrize(
    ("served", "changes", "needed"),
    [
        ({"12.0": {"native": 2}}, {}, "570.65"),
        ({"12.1": {"jit": 1}}, {}, "576.02"),
        ({"12.0": {"native": 2}}, {"form": "pe", "toolkit": (13, 0)}, "580"),
        ({"12.0": {"none": 2}}, {}, "528.33"),
    ],
)
def test_drivers_of_windows(served: dict[str, Any], changes: dict[str, Any], needed: str) -> None:
    assert driver(make_library("a.so", served, **changes), ("12.0", "12.1"), "windows") == needed


def test_what_asks_for_a_driver() -> None:
    older, newer = make_library("a.so", {"12.0": {"jit": 1}}), make_library("b.so", toolkit=(13, 2))
    needs = driver_needs([older, newer], "12.0")
    assert [(need.cause, need.linux, need.windows) for need in needs] == [
        ("the card", "570.26", "570.65"),
        ("CUDA 13.2", "580.65.06", "580"),
        ("JIT of PTX 8.8", "575.51.03", "576.02"),
    ]
    assert driver_needs([make_library("a.so", {"12.0": {"none": 1}})], "12.0") == ()


@pytest.mark.parametrize(
    ("libraries", "needed"),
    [
        # One library a major of CUDA: a program loads one of them.
        ([("libcudart.so.12", (12, 8)), ("libcudart.so.13", (13, 2))], "570.26"),
        ([("libcudart.so.11.0", (11, 8)), ("cudart64_12.dll", (12, 8)), ("libcudart.so.13", (13, 0))], "570.26"),
        # All of one major are loaded, and what asks for none besides.
        ([("libcudart.so.12", (12, 8)), ("libcudart.so.12", (13, 2))], "580.65.06"),
        ([("libcudart.so.12", (12, 8)), ("libc.so.6", (13, 2))], "580.65.06"),
        ([("libcudart.so.13", (13, 2))], "580.65.06"),
        ([("libcudart.so.12", (99, 0)), ("libcudart.so.13", (13, 2))], "580.65.06"),
        ([("libc.so.6", (12, 8))], "570.26"),
    ],
)
def test_alternatives_for_several_majors(libraries: list[tuple[str, tuple[int, int]]], needed: str) -> None:
    made = [make_library(f"{at}.so", needed=(name,), toolkit=cuda) for at, (name, cuda) in enumerate(libraries)]
    assert max(need.linux or "" for need in least_needs(made, "12.0")) == needed
    assert least_needs([make_library(served={"12.0": {"none": 1}})], "12.0") == ()
