"""The one sentence on a shipment."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from libraries import library

from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import DeviceLibrary, Shipment, main_reason
from bwlint.chips import ChipSet
from bwlint.chips.wording import listed
from bwlint.inspection.answers import answer

CONSUMER = ChipSet.of("12.0", "12.1")


def said(libraries: Sequence[DeviceLibrary], *, machine: str = "", asked: ChipSet = CONSUMER, missing: str = "") -> str:
    found = operations(libraries, asked)
    return answer(Shipment("w", tuple(libraries), machine=machine, missing=missing, operations=found), asked)


def of_units(*units: str, **options: str) -> str:
    return said([library("w/a.so", *units)], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (["sm_120f"], "runs on 12.0 and 12.1"),
        (["sm_120", "sm_80 ptx_80"], "runs on 12.0 and 12.1"),
        # What is meant for others is no shortcoming.
        (["sm_120f", "sm_90a", "sm_100f", "sm_75"], "runs on 12.0 and 12.1"),
        (["ptx_80"], "runs on 12.0 and 12.1 by JIT alone"),
        (["sm_80 ptx_80", "ptx_90"], "runs on 12.0 and 12.1 by JIT alone"),
        (["sm_120a ptx_120"], "runs on 12.0; runs on 12.1 by JIT alone"),
        (["sm_120a"], "runs on 12.0; does not run on 12.1: sm_120a is for 12.0 alone"),
        (["sm_121"], "does not run on 12.0: built for later minors only (sm_121); runs on 12.1"),
        (["sm_80 sm_90"], "does not run on 12.0 and 12.1: cubins for sm_80, sm_90, no PTX"),
        # The targets of all.
        (["sm_80", "sm_90a", "sm_90a"], "does not run on 12.0 and 12.1: cubins for sm_80, sm_90a, no PTX"),
        (
            ["lto_120"],
            "does not run on 12.0 and 12.1: LTO code for sm_120, which only a program that links it can load",
        ),
    ],
)
def test_one_library(units: list[str], expected: str) -> None:
    assert of_units(*units) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # What comes along does not make it run: libraries of another project, of one name with numbers, static ones.
        (["x_y/ops.so: sm_90a", "_z.so: ptx_80", "lib/z.so.0.6: ptx_80"], "does not run on 12.0: cubins for sm_90a"),
        (["x_y_cuda.so: sm_90a", "lib/libz.a: ptx_80"], "does not run on 12.0: cubins for sm_90a"),
        (["x_y/ops.so: sm_90a", "x_y/libz.a: ptx_80"], "does not run on 12.0: cubins for sm_90a"),
        (["x_y/ops.so: sm_120f", "lib/z.so: sm_90"], "runs on 12.0: ops; for other chips: z"),
        # Nothing of it is called so.
        (["other/ops.so: sm_90", "lib/z.so: ptx_80"], "runs on 12.0 by JIT alone: z"),
    ],
)
@pytest.mark.parametrize("name", ["x_y-1.0-cp312-cp312-linux_x86_64.whl", "x-y==1.0"])
def test_the_own_libraries_of_a_package_decide(name: str, files: list[str], expected: str) -> None:
    pairs = [file.split(": ") for file in files]
    top = f"{name}/" if name.endswith(".whl") else ""
    libraries = tuple(library(f"{top}{path}", unit) for path, unit in pairs)
    assert answer(Shipment(name, libraries), ChipSet.of("12.0")).startswith(expected)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (["sm_120f", "sm_80 sm_90: _Z4gemmv"], "runs on 12.0 and 12.1, but the operation gemm has no kernel"),
        (
            ["sm_120f", "sm_80 sm_90: _Z1av _Z1bv _Z1cv"],
            "runs on 12.0 and 12.1, but the operations a, b and c have no kernel",
        ),
        (
            ["sm_120f", "sm_80 sm_90: _Z1av _Z1bv _Z1cv _Z1dv _Z1ev"],
            "runs on 12.0 and 12.1, but the operations a, b, c and 2 more have no kernel",
        ),
        (
            ["sm_120f", "sm_90 sm_120a: _Z1av"],
            "runs on 12.0; runs on 12.1, but the operation a has no kernel",
        ),
        (["ptx_80", "sm_80 sm_90: _Z1av"], "runs on 12.0 and 12.1 by JIT alone, but the operation a has no kernel"),
        (["sm_120f", "sm_80 sm_90: gemm"], "runs on 12.0 and 12.1, but the operation gemm has no kernel"),
        # Names in C with many numbers hold what template arguments would: other variants may be there.
        (["sm_120f", "sm_80 sm_90: gemm_f16_128x128"], "runs on 12.0 and 12.1"),
        (["sm_120f", "sm_80 sm_90: gemm_16x8x128 _Z1av"], "runs on 12.0 and 12.1, but the operation a has no kernel"),
        (["sm_120f: _Z1av", "sm_80 sm_90: _Z1av"], "runs on 12.0 and 12.1"),
    ],
)
def test_operations_that_are_missing(units: list[str], expected: str) -> None:
    assert of_units(*units) == expected


def test_libraries_of_no_use() -> None:
    fine, dead, late = library("w/fine.so", "sm_120f"), library("w/dead.so", "sm_90"), library("w/exact.so", "sm_120a")
    old = library("w/old.so", "sm_80 sm_90")
    assert said([fine, old]) == "runs on 12.0 and 12.1 in part: fine; nothing of old loads there"
    assert said([fine, old, late]) == (
        "runs on 12.0 in part: fine and exact; nothing of old loads there;"
        " runs on 12.1 in part: fine; nothing of old and exact loads there"
    )
    lacking = library("w/lacking.so", "sm_120f", "sm_80 sm_90: _Z4gemmv")
    assert said([lacking, old]) == (
        "runs on 12.0 and 12.1 in part: lacking; nothing of old loads there, and the operation gemm has no kernel"
    )
    compiled = library("w/ptx.so", "ptx_80")
    assert said([compiled, old]) == "runs on 12.0 and 12.1 by JIT alone, in part: ptx; nothing of old loads there"
    assert said([compiled, fine, old]) == (
        "runs on 12.0 and 12.1 in part: fine; by JIT: ptx; nothing of old loads there"
    )
    # One for another generation is not missing.
    assert said([fine, dead]) == "runs on 12.0 and 12.1: fine; for other chips: dead"


def test_libraries_by_what_they_do() -> None:
    """As in vllm 0.33.0 and sgl-kernel 0.3.21."""
    attention = library("w/vllm/_vllm_fa2_C.abi3.so", "sm_80 ptx_80")
    hopper = library("w/vllm/_vllm_fa3_C.abi3.so", "sm_90a")
    exact = library("w/vllm/_flashmla_C.abi3.so", "sm_90a sm_100f")
    ours = [library(f"w/sgl_kernel/{folder}/common_ops.abi3.so", "sm_120f") for folder in ("sm90", "sm100")]
    moe = library("w/vllm/_moe_C_stable_libtorch.abi3.so", "sm_120f")
    assert said([moe, *ours, attention, hopper, exact]) == (
        "runs on 12.0 and 12.1: MoE, sm90/common_ops and sm100/common_ops; by JIT: attention 2;"
        " for other chips: attention 3 and FlashMLA"
    )


def test_code_that_is_compiled_where_it_runs() -> None:
    assert answer(Shipment("w", others=1, compiles=("Triton",)), CONSUMER) == (
        "no ready device code; it compiles at run time (Triton)"
    )
    some = Shipment("w", (library("w/a.cubin", "sm_90a"),), compiles=("Triton",))
    assert answer(some, CONSUMER) == (
        "no built code runs on 12.0 and 12.1 (cubins for sm_90a, no PTX), and the rest compiles at run time: Triton"
    )


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        ("", "runs on 12.0; does not run on 12.1: sm_120a is for 12.0 alone"),
        ("aarch64", "runs on 12.0; does not run on 12.1: sm_120a is for 12.0 alone"),
        ("x86_64", "runs on 12.0; 12.1 needs a build for aarch64, and this one is for x86_64"),
    ],
)
def test_machines(machine: str, expected: str) -> None:
    assert of_units("sm_120a", machine=machine) == expected


def test_nothing_to_look_at() -> None:
    assert said([]) == "no device code"
    assert said([], missing="x has no wheel for Linux aarch64") == "not installable: x has no wheel for Linux aarch64"


def test_chips_that_are_asked_for() -> None:
    one = [library("w/a.so", "sm_90a")]
    assert said(one, asked=ChipSet.of("9.0")) == "runs on 9.0"
    assert said(one, asked=ChipSet.of("9.0", "10.0", "12.0")) == (
        "runs on 9.0; does not run on 10.0 and 12.0: cubins for sm_90a, no PTX"
    )
    assert said(one, asked=ChipSet.of("11.0", "12.1"), machine="x86_64") == (
        "11.0 and 12.1 need a build for aarch64, and this one is for x86_64"
    )


def test_the_main_reason_has_the_targets_of_all_cubins() -> None:
    two = [library("w/a.so", "sm_90a", "sm_120"), library("w/b.so", "sm_100f", "sm_90a")]
    assert main_reason(two, "12.0") == "cubins for sm_90a, sm_100f, no PTX"
    mixed = [library("w/a.so", "sm_90a ptx_90a"), library("w/b.so", "sm_80", "sm_80")]
    assert main_reason(mixed, "12.0") == "cubins for sm_80, no PTX"
    assert main_reason(two, "9.0") == "cubins for sm_100f, sm_120, no PTX"
    assert main_reason([], "12.0") == "no image"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a", "a"),
        ("a b", "a and b"),
        ("a b c d", "a, b, c and d"),
        ("a b c d e", "a, b, c and 2 more"),
        ("a b c d e f g", "a, b, c and 4 more"),
    ],
)
def test_listed(names: str, expected: str) -> None:
    assert listed(names.split()) == expected
