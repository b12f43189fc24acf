"""Kernels that CUTLASS's collective builders make for one architecture, behind a test of the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

BUILDER = (
    "{} = typename cutlass::{}::collective::CollectiveBuilder<\n"
    "      {}, cutlass::arch::{}, cutlass::half_t>::CollectiveOp;\n"
)
GATE = (
    "void pick_kernel(int n) {{\n  auto* p = at::cuda::getCurrentDeviceProperties();\n  if (p->major {}) {{\n"
    "    {};\n    return;\n  }}\n  run_fallback(n);\n}}\n"
)
HOPPER = BUILDER.format("  using Loop", "gemm", "cutlass::arch::Sm90", "OpClassTensorOp")
ALIAS = "  using ArchTag = cutlass::arch::Sm90;\n" + BUILDER.format(
    "  using Loop", "gemm", "ArchTag", "OpClassTensorOp"
)


def function(body: str) -> str:
    return f"void launch_gemm(int n) {{\n{body}  Adapter<Loop> gemm;\n  gemm.run();\n}}\n"


@pytest.mark.parametrize(
    ("body", "test", "expected"),
    [
        (HOPPER, ">= 9", ["warning"]),
        (ALIAS, ">= 9", ["warning"]),
        (HOPPER, "== 9", []),
        (HOPPER.replace("Sm90", "Sm100"), ">= 10", ["warning"]),
        (HOPPER.replace("Sm90", "Sm100"), "== 10", []),
        (HOPPER.replace("Sm90", "Sm120"), ">= 9", []),
        (HOPPER.replace("Sm90", "Sm80"), ">= 9", []),
        (HOPPER.replace("gemm::collective", "epilogue::collective"), ">= 9", []),
        (HOPPER.replace("OpClassTensorOp", "OpClassSimt"), ">= 9", []),
        (ALIAS.replace("cutlass::arch::Sm90", "std::conditional_t<B, Sm90, Sm100>"), ">= 9", []),
    ],
)
def test_in_a_function(tmp_path: Path, body: str, test: str, expected: list[str]) -> None:
    files = {"gemm.cu": function(body) + GATE.format(test, "launch_gemm(n)")}
    assert [draft.severity for draft in drafts(tmp_path, files, "leak")] == expected


@pytest.mark.parametrize(
    ("header", "call", "expected"),
    [
        (f"struct GemmKernel {{\n{HOPPER}}};\n", "run_kernel<GemmKernel>(n)", ["5 warning"]),
        (f"template <class T> struct GemmKernel {{\n{HOPPER}}};\n", "run_kernel<GemmKernel<half>>(n)", ["5 warning"]),
        (HOPPER.replace("  using Loop", "using GemmKernel"), "run_kernel<GemmKernel>(n)", ["5 warning"]),
        (f"struct GemmKernel {{\n  void run() {{\n{HOPPER}  }}\n}};\n", "run_kernel<GemmKernel>(n)", ["5 warning"]),
        ("struct GemmKernel {};\n", "run_kernel<GemmKernel>(n)", []),
    ],
)
def test_in_a_type(tmp_path: Path, header: str, call: str, expected: list[str]) -> None:
    files = {"gemm.cuh": header, "gemm.cu": '#include "gemm.cuh"\n\n' + GATE.format(">= 9", call)}
    assert levels(drafts(tmp_path, files, "leak")) == expected
