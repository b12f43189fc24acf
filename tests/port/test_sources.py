"""What is handed to a compiler behind a gate: an instruction that the chip lacks closes the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.port import port

OPS = """
import torch
from .jit import get_module
def op(x, fast=False):
    if torch.cuda.get_device_capability()[0] != 10:
        raise ValueError("10.x only")
    if fast:
        return get_module().run(x)
    return None
"""
JIT = """
from pathlib import Path
CSRC = Path(__file__).parent / "csrc"
def build(sources): ...
def get_module():
    return build([CSRC / "k.cu"])
"""
ISSUES = """
__device__ inline void f(unsigned a) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"r"(a));
}
"""
PLAIN = '__device__ inline void f(unsigned a) { asm volatile("add.u32 %0, %0, 1;" : "+r"(a)); }\n'
SOURCE = '#include "k.cuh"\n__global__ void k(unsigned a) { f(a); }\n'

ROWS = [
    ("in the source", {"k.cu": ISSUES}, "impossible"),
    ("in a header beside it", {"k.cu": SOURCE, "k.cuh": ISSUES}, "impossible"),
    ("in a header elsewhere", {"k.cu": SOURCE, "inc/k.cuh": ISSUES}, "impossible"),
    ("in a header of the same name that is another", {"k.cu": SOURCE, "k.cuh": PLAIN, "b/k.cuh": ISSUES}, "unproved"),
    ("behind a guard", {"k.cu": f"#if __CUDA_ARCH__ < 1200\n{ISSUES}\n#endif\n"}, "unproved"),
    (
        "beside a body for the family",
        {"k.cu": SOURCE + "using Tag = cutlass::arch::Sm120;\n", "k.cuh": ISSUES},
        "unproved",
    ),
    ("in a header of a header", {"k.cu": SOURCE, "k.cuh": '#include "l.cuh"\n', "l.cuh": ISSUES}, "unproved"),
    ("for a tag of others alone", {"k.cu": SOURCE, "k.cuh": "using Tag = cutlass::arch::Sm100;\n"}, "impossible"),
    ("for tags of others and of all", {"k.cu": "arch::Sm100 a; arch::Sm80 b;\n" + SOURCE, "k.cuh": PLAIN}, "unproved"),
    ("nothing", {"k.cu": SOURCE, "k.cuh": PLAIN}, "unproved"),
]


@pytest.mark.parametrize(("name", "sources", "verdict"), ROWS)
def test_what_a_source_has(name: str, sources: dict[str, str], verdict: str, tmp_path: Path) -> None:
    files = {"__init__.py": "from .ops import op\n", "ops.py": OPS, "jit.py": JIT}
    for path, text in {**files, **{f"csrc/{path}": text for path, text in sources.items()}}.items():
        (tmp_path / "pkg" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pkg" / path).write_text(text)
    (row,) = port([str(tmp_path)], "12.1", jobs=1).rows
    assert row.verdict == verdict
