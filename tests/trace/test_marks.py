"""What a trace says of findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bwlint.model.findings import Claim, Finding, Region, Related, Report
from bwlint.trace.marks import BadTrace, Launched, marked, read

CUDA = """#include <x>
template <int N> __global__ void mine(float* x) {
  x[0] = N;
}
void host() {
  cudaFuncSetAttribute(mine<3>, how, 1 << 17);
  other<<<1, 1>>>();
}
"""
PYTHON = """import triton
@triton.jit
def add_one(x, B: tl.constexpr):
    return x
def plain(x):
    return add_one[(1,)](x, 64)
def other():
    return 3
"""
CUTE = """import cutlass.cute as cute
class Gemm:
    @cute.jit
    def __call__(self, a):
        self.kernel(a).launch(grid=[1, 1, 1])
    @cute.kernel
    def kernel(self, a):
        return a
"""
HOSTS = """import tilelang
from numba import cuda, jit as compiled
from triton import jit as triton_jit
@tilelang.jit
def factory(x):
    return x
@compiled
def on_the_cpu(x):
    return x
@cuda.jit("void(float32[:])")
def of_numba(x):
    return x
@triton_jit
def of_triton(x):
    return x
"""
FILES = {"a.cu": CUDA, "a.py": PYTHON, "cute.py": CUTE, "hosts.py": HOSTS, "broken.py": "def (:\n"}
SHARED = Claim(
    "shared", "a block cannot have so many bytes", chips=("12.0", "12.1"), subject="dynamic", amounts=(1 << 17,)
)
CLUSTER = Claim("cluster", "a cluster of 16", chips=("12.0", "12.1"), amounts=(16, 1, 1))
IMAGE = Claim("image", "no image loads", chips=("12.0", "12.1"))
GATE = Claim("gate", "the gate holds", chips=("12.0", "12.1"), holds=("12.0",))


def launched(kernel: str = "_Z4mineILi3EEvPf", capability: str = "12.0", dynamic: int = 0, blocks: int = 0) -> Launched:
    return Launched(kernel, capability, "a GPU", 0, dynamic, blocks, ("cubin sm_120",))


def finding(path: str, line: int, *claims: Claim, **more: Any) -> Finding:
    values: dict[str, Any] = {"rule": "BW501", "name": "smem", "category": "smem", "severity": "warning"}
    values |= {"confidence": "high", "message": "m", "region": Region(line, 1, line, 9), "claims": claims}
    return Finding(path=path, **{**values, **more})


def sighting(found: Finding, *launches: Launched) -> str | None:
    report = Report(("12.0",), (found,), (), (), {})
    lines = {path: text.splitlines(keepends=True) for path, text in FILES.items()}
    seen = marked(report, launches, lines.get).findings[0].trace
    return None if seen is None else seen.sighting


@pytest.mark.parametrize(
    ("path", "line", "kernel", "told"),
    [
        ("a.cu", 3, "_Z4mineILi3EEvPf", "seen"),
        ("a.cu", 2, "_ZN3lib4mineILi3EEEvPf", "seen"),
        ("a.cu", 6, "_Z4mineILi3EEvPf", "seen"),
        ("a.cu", 3, "_Z5othersv", "not seen"),
        ("a.cu", 3, "_Z9not_minev", "not seen"),
        ("a.cu", 7, "other", None),
        ("a.cu", 1, "mine", None),
        ("a.py", 2, "add_one", "seen"),
        ("a.py", 4, "add_one_0d1d2de", "seen"),
        ("a.py", 6, "add_one", "seen"),
        ("a.py", 4, "add_one_more", "not seen"),
        ("a.py", 8, "other", None),
        ("cute.py", 4, "__call__", None),
        ("cute.py", 5, "kernel_cutlass_kernel_treeGemm_object_at__tensor_0", "seen"),
        ("cute.py", 8, "kernel_cutlass_kernel_treeGemm_object_at__tensor_0", "seen"),
        ("cute.py", 8, "kernel_cutlass_kernel_treeOther_object_at__tensor_0", "not seen"),
        ("cute.py", 8, "kernel", "not seen"),
        ("hosts.py", 6, "main_kernel", None),
        ("hosts.py", 9, "on_the_cpu", None),
        ("hosts.py", 12, "of_numba", "seen"),
        ("hosts.py", 15, "of_triton", "seen"),
        ("broken.py", 1, "other", None),
        ("gone.cu", 1, "other", None),
        ("lib.so", 1, "other", None),
    ],
)
def test_which_kernel_a_finding_is_about(path: str, line: int, kernel: str, told: str | None) -> None:
    assert sighting(finding(path, line), launched(kernel)) == told


def test_a_related_place_counts_where_the_finding_is_in_no_kernel() -> None:
    related = (Related("a.cu", Region(3, 1, 3, 2), "the kernel"),)
    assert sighting(finding("a.py", 8, related=related), launched()) == "seen"
    assert sighting(finding("a.py", 4, related=related), launched()) == "not seen"


@pytest.mark.parametrize(
    ("claim", "launch", "told"),
    [
        (SHARED, launched(dynamic=1 << 17), "contradicted"),
        (SHARED, launched(dynamic=(1 << 17) - 1), "seen"),
        (SHARED, launched(dynamic=1 << 17, capability="9.0"), "seen"),
        (SHARED, launched(dynamic=1 << 17, capability=""), "seen"),
        (CLUSTER, launched(blocks=16), "contradicted"),
        (CLUSTER, launched(blocks=8), "seen"),
        (IMAGE, launched(), "contradicted"),
        (IMAGE, launched(capability="10.0"), "seen"),
        (GATE, launched(), "seen"),
    ],
)
def test_only_what_ran_where_it_should_not_contradicts(claim: Claim, launch: Launched, told: str) -> None:
    assert sighting(finding("a.cu", 3, claim), launch) == told


def test_what_works_on_other_chips_alone_and_ran_is_contradicted() -> None:
    barred = finding("a.cu", 3, admitted=("9.0", "12.0"), legal=("9.0",))
    assert sighting(barred, launched()) == "contradicted"
    assert sighting(barred, launched(capability="9.0")) == "seen"
    assert sighting(finding("a.cu", 3, admitted=("9.0",), legal=("9.0",)), launched()) == "seen"
    assert sighting(finding("a.cu", 3, SHARED, admitted=("12.0",), legal=("9.0",)), launched()) == "seen"


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1, "findings": []}', '{"version": 2, "trace": {}}'])
def test_what_is_no_receipt_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(BadTrace, match="not a receipt of `bwlint trace`"):
        read(tmp_path / "t.json")


def test_the_receipts_of_the_project_are_read() -> None:
    folder = Path(__file__).parents[2] / "benchmarks/receipts/h100-580.159.04"
    names = {launch.kernel for file in folder.glob("trace-*.json") for launch in read(file)}
    assert {"_Z5scalePffi", "add_one"} <= names
    assert all(json.loads(file.read_text())["version"] == 1 for file in folder.glob("trace-*.json"))
