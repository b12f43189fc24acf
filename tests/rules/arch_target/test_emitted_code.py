"""A target of a list that lacks an instruction: of what is surely compiled, and no advice that is refused itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

SETUP = """from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
flags = [{flags}]
setup(name="pkg", ext_modules=[CUDAExtension("pkg._C", ["{source}"], extra_compile_args={{"nvcc": flags}})],
      cmdclass={{"build_ext": BuildExtension}})
"""
SINK = (
    'asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 '
    '{%0,_,%1,_},{%2,%3,%4,%5},{%6,%7},{%8,0.,%9,0.};"'
    ' : "=f"(d[0]), "=f"(d[1]) : "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3]), "r"(1), "r"(1), "f"(d[0]), "f"(d[1]));'
)
HELPER = f"template <int n> __device__ __forceinline__ void rowsum(float* d, unsigned* s) {{ {SINK} }}\n"
BODY = "  float d[2] = {0, 0};\n  unsigned s[4] = {1, 2, 3, 4};\n"
KERNEL = "template <int unit> __global__ void kernel(float* o) {\n" + BODY + "  ARM\n  o[0] = d[0];\n}\n"
LAUNCH = "void launch(float* o) { kernel<1><<<1, 1>>>(o); }\n"


def flags(*targets: str) -> str:
    return ", ".join(f'"-gencode", "arch=compute_{one},code=sm_{one}"' for one in targets)


def told(folder: Path, files: dict[str, str], *targets: str, source: str = "a.cu") -> list[str]:
    files = {"setup.py": SETUP.format(flags=flags(*targets), source=source), **files}
    found = drafts(folder, files, "arch-target")
    return [one.advice for one in found if " does not exist on " in one.message]


@pytest.mark.parametrize(
    ("arm", "told_of"),
    [
        ("rowsum<1>(d, s);", True),
        ("if (o[1] > 0) { rowsum<1>(d, s); }", True),
        ("if constexpr (unit == 2) { rowsum<1>(d, s); }", False),
        ("if constexpr (unit == 1) { d[0] += 1; } else { rowsum<1>(d, s); }", False),
        ("if constexpr (unit == 1) { d[0] += 1; } else if constexpr (unit == 2) { rowsum<1>(d, s); }", False),
        (f"if constexpr (unit == 2) {{ {SINK} }}", False),
    ],
)
def test_what_if_constexpr_may_leave_out(arm: str, told_of: bool, tmp_path: Path) -> None:
    """ptxas sees only what is instantiated."""
    kernel, helper = KERNEL.replace("ARM", arm), HELPER if "rowsum" in arm else ""
    assert bool(told(tmp_path, {"a.cu": helper + kernel + LAUNCH}, "90a", "120f")) is told_of
    apart = {
        "a.cu": f'#include "k.cuh"\n{LAUNCH}',
        "k.cuh": f'#pragma once\n#include "h.cuh"\n{kernel}',
        "h.cuh": HELPER,
    }
    assert bool(told(tmp_path, apart, "90a", "120f")) is told_of


ATOM = """#include <cute/arch/mma_sm120.hpp>
__global__ void k(float* d) {{
  uint32_t a[4], b[8];
  cute::{atom}::fma(d, a, b);
}}
"""


@pytest.mark.parametrize(
    "atom", ["SM120::BLOCKSCALED::SM120_16x32x64_TN_VS_NVFP4", "SM120_16x8x32_TN<float_e4m3_t, float_e4m3_t, float>"]
)
@pytest.mark.parametrize("other", ["100a", "90a"])
def test_a_library_s_atom_compiles_to_a_trap(atom: str, other: str, tmp_path: Path) -> None:
    assert told(tmp_path, {"a.cu": ATOM.format(atom=atom)}, other, "120a") == []


WAITS = 'asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" :: "r"(p));'
FENCE = 'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");'
CVT = 'asm volatile("cvt.rn.satfinite.e2m1x2.f32 %0, %1, %2;" : "=h"(h) : "f"(1.f), "f"(2.f));'
TCGEN = 'asm volatile("tcgen05.fence::before_thread_sync;");'


@pytest.mark.parametrize(
    ("code", "targets", "advice"),
    [
        ((WAITS, FENCE), ("80", "90a", "121a"), []),
        ((WAITS, FENCE), ("89", "90a", "120f"), []),
        ((CVT, TCGEN), ("90a", "100a", "121a"), []),
        ((WAITS,), ("80", "121a"), ["Compile it for sm_121a only, or put it behind a guard."]),
        ((WAITS,), ("86", "90a", "120a"), ["Compile it for sm_120a only, or put it behind a guard."]),
    ],
)
def test_never_alone_for_a_target_that_is_refused_itself(
    code: tuple[str, ...], targets: tuple[str, ...], advice: list[str], tmp_path: Path
) -> None:
    body = "\n  ".join(code)
    source = f"__global__ void k(unsigned p) {{\n  unsigned short h = 0;\n  {body}\n}}\n"
    assert told(tmp_path, {"a.cu": source}, *targets) == advice
