"""What is mended together: equal guards, copied conditions, what a gate opens and what builds it, or none of it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.model.findings import Finding
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

RECONFIG = """#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 900 || {first})
#define REGISTERS_MOVE 1
#endif
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 1000 || {second})
#define REGISTERS_MOVE 1
#endif
#if REGISTERS_MOVE
__device__ void more() {{ move(); }}
#endif
"""
EXACT = "(__CUDA_ARCH__ == 1200 && defined(__CUDA_ARCH_FEAT_SM120_ALL))"
FAMILY = "(__CUDA_ARCH__ == 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ == 1200)"
LIST = """#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200
constexpr int rows = 32;
#else
#error "not known"
#endif
"""
ALONE = '__global__ void other(float *x) {\n#if __CUDA_ARCH__ == 1200\n  x[0] = 1;\n#else\n#error "no"\n#endif\n}\n'
OWN = """void run_{0}(float *x) {{
#if TARGET_CUDA_ARCH == 100
  wide(x);
#elif TARGET_CUDA_ARCH == 120
  narrow(x);
#else
  TORCH_CHECK(false, "unsupported device");
#endif
}}
"""
MEANT = OWN.replace("#elif", "// sm_120 only: 12.1 is not supported here\n#elif")
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(ext_modules=[CUDAExtension("kit", ["a.cu", "b.cu"], extra_compile_args={{"nvcc": ["-gencode", "{}"]}})])
"""
WRAPPER = """template <typename Kernel>
struct {} : Kernel {{
  template <typename... Args>
  __device__ void operator()(Args&&... args) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200
    Kernel::operator()(args...);
#endif
  }}
}};
"""
FAMILY_WRAPPER = WRAPPER.format("enable_sm120_family").replace("== 1200", ">= 1200 && __CUDA_ARCH__ < 1300")
CONDITION = "if(KIT_NVCC_ARCHS MATCHES {})\n  kit_test_add_executable(kit_test a.cu)\nendif()\n"
ACCEPTED = """set(KIT_ARCHS_SUPPORTED 100a 120a)
if(NOT (ARCH IN_LIST KIT_ARCHS_SUPPORTED))
  message(FATAL_ERROR "no kernels for it")
endif()
"""
KERNEL = '__global__ void a(float *x) {{\n#if {}\n  x[0] = 1;\n#else\n  asm("trap;");\n#endif\n}}\n'
TWIN_MACROS = "defined(__CUDA_ARCH_FEAT_SM120_ALL) || defined(__CUDA_ARCH_FEAT_SM121_ALL)"
HOST = """void run_fp8(at::Tensor a) {
  int major, minor;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  TORCH_CHECK(major * 10 + minor == 89 || major * 10 + minor == 120, "the FP8 kernel is not for this device");
  launch(a);
}
"""
GENERATOR = """import sys

FP8 = False
for arch in sys.argv[1].split(","):
    arch = int(arch)
    if arch in [89, {}]:
        FP8 = True
"""
ENUM = """from cutlass.base_dsl import BaseDSL
from enum import Enum


class Arch(Enum):
    sm_100a = (10, 0, "a")
    sm_120a = (12, 0, "a")
    sm_121a = (12, 1, "a")


class Op:
    admissible_archs = [
        "sm_120a",
    ]

    def check(self):
        arch = BaseDSL._get_dsl().get_arch_enum()
        if not arch == Arch.sm_120a:
            raise ValueError(f"expects one of {self.admissible_archs}")
"""
CHECKED = """from .jit import gen_kv_module
from .utils import backend_requirement, supported_compute_capability


@supported_compute_capability([100, 103, 120{}])
def _check(x):
    return True


@backend_requirement({{}}, common_check=_check)
def kv_quantize(x):
    return gen_kv_module().build_and_load().quantize(x)
"""
JIT = """from .context import current, gen_jit_spec


def gen_kv_module():
    flags = current.get_nvcc_flags_list(supported_major_versions=[10, 12])
    return gen_jit_spec("kv", ["kv.cu"], extra_cuda_cflags=flags)
"""
PINNED = """from .context import gen_jit_spec, sm120a_nvcc_flags, sm120f_nvcc_flags


def gen_kv_module():
    return gen_jit_spec("kv", ["kv.cu"], extra_cuda_cflags={}_nvcc_flags)
"""
AOT = """from .jit import gen_kv_module


def gen_all_modules(has_sm100, has_sm103, has_sm120, has_sm121):
    if has_sm100 or has_sm103 or has_sm120:
        return [gen_kv_module()]
    return []
"""
SKIPPED = """import pytest
import torch


def test_it():
    if torch.cuda.get_device_capability()[0] != 12:
        {}
"""
TEXT = "raise RuntimeError('it is only for SM120')"

TREES = [
    # the a and the f half of one macro; what rests on it alone is no part
    ({"a.h": RECONFIG.format(first=EXACT, second=FAMILY)}, "a.h:1", "safe", "a.h:1 a.h:4"),
    ({"a.h": RECONFIG.format(first=EXACT, second=FAMILY)}, "a.h:4", "safe", "a.h:1 a.h:4"),
    # a list that was copied moves with its copy, and no other test for the same part does
    ({"a.cu": LIST, "b.cuh": LIST, "c.cu": ALONE}, "a.cu:1", "safe", "a.cu:1 b.cuh:1"),
    ({"a.cu": LIST, "b.cuh": LIST, "c.cu": ALONE}, "c.cu:2", "safe", "c.cu:2"),
    ({"a.cu": LIST, "b.cuh": "// bwlint: ignore[family-split] as it is\n" + LIST}, "a.cu:1", "safe", "a.cu:1"),
    # a macro of the project is one question in all of its files
    ({"a.cu": OWN.format("a"), "b.cu": OWN.format("b")}, "a.cu:4", "safe", "a.cu:4 b.cu:4"),
    ({"a.cu": OWN.format("a") + OWN.format("b")}, "a.cu:4", "safe", "a.cu:4 a.cu:13"),
    ({"a.cu": OWN.format("a"), "setup.py": SETUP.format("arch=compute_120a,code=sm_120a")}, "a.cu:4", "unsafe", ""),
    ({"a.cu": OWN.format("a"), "b.cu": MEANT.format("b")}, "a.cu:4", "unsafe", ""),
    # a wrapper that promises one part is left, one that does not is widened
    ({"a.h": WRAPPER.format("enable_sm120_only")}, "a.h:5", "refused", ""),
    ({"a.h": WRAPPER.format("enable_sm120")}, "a.h:5", "safe", "a.h:5"),
    # where there is one for the family, what is wrapped goes into that one
    (
        {
            "a.h": WRAPPER.format("enable_sm120_only") + FAMILY_WRAPPER,
            "a.cu": '#include "a.h"\nusing Gemm = enable_sm120_only<kit::Gemm<int>>;\n',
            "b.cu": '#include "a.h"\nusing Gemm = enable_sm120_only<kit::Gemm<float>>;\n',
        },
        "a.h:5",
        "safe",
        "a.cu:2 b.cu:2",
    ),
    # a condition that was copied, and the names that a list accepts
    (
        {"test/a/CMakeLists.txt": CONDITION.format("120a"), "test/b/CMakeLists.txt": CONDITION.format("120a")},
        "test/a/CMakeLists.txt:1",
        "safe",
        "test/a/CMakeLists.txt:1 test/b/CMakeLists.txt:1",
    ),
    (
        {"test/a/CMakeLists.txt": CONDITION.format("120a"), "test/b/CMakeLists.txt": CONDITION.format("120f")},
        "test/a/CMakeLists.txt:1",
        "safe",
        "test/a/CMakeLists.txt:1",
    ),
    ({"kit.cmake": ACCEPTED}, "kit.cmake:1", "safe", "kit.cmake:1"),
    ({"kit.cmake": ACCEPTED, "a.cu": KERNEL.format(TWIN_MACROS)}, "kit.cmake:1", "safe", "kit.cmake:1"),
    (
        {"kit.cmake": ACCEPTED, "a.cu": KERNEL.format("defined(__CUDA_ARCH_FEAT_SM120_ALL)")},
        "kit.cmake:1",
        "unsafe",
        "",
    ),
    (
        {
            "test/CMakeLists.txt": CONDITION.format("120a"),
            "test/a.cu": KERNEL.format("defined(__CUDA_ARCH_FEAT_SM120_ALL)"),
        },
        "test/CMakeLists.txt:1",
        "unsafe",
        "",
    ),
    # what writes the kernels beside a dispatch
    ({"k/ops.cu": HOST, "k/gen.py": GENERATOR.format("120")}, "k/ops.cu:5", "safe", "k/gen.py:6 k/ops.cu:5"),
    ({"k/ops.cu": HOST, "k/gen.py": GENERATOR.format("120, 121")}, "k/ops.cu:5", "safe", "k/ops.cu:5"),
    ({"k/ops.cu": HOST, "tools/gen.py": GENERATOR.format("120")}, "k/ops.cu:5", "safe", "k/ops.cu:5"),
    # the list that a refusal tells, and the list of the entry whose code a build leaves out
    ({"op.py": ENUM}, "op.py:18", "safe", "op.py:13 op.py:18"),
    ({"op.py": ENUM}, "op.py:12", "safe", "op.py:13 op.py:18"),
    (
        {"kit/__init__.py": "", "kit/jit.py": JIT, "kit/aot.py": AOT, "kit/api.py": CHECKED.format("")},
        "kit/aot.py:5",
        "safe",
        "kit/api.py:5 kit/aot.py:5",
    ),
    (
        {"kit/__init__.py": "", "kit/jit.py": JIT, "kit/aot.py": AOT, "kit/api.py": CHECKED.format(", 121")},
        "kit/aot.py:5",
        "safe",
        "kit/aot.py:5",
    ),
    # an entry, or what it is decorated with, whose code is compiled for one part alone
    (
        {"kit/__init__.py": "", "kit/jit.py": PINNED.format("sm120a"), "kit/api.py": CHECKED.format("")},
        "kit/api.py:5",
        "unsafe",
        "",
    ),
    (
        {"kit/__init__.py": "", "kit/jit.py": PINNED.format("sm120f"), "kit/api.py": CHECKED.format("")},
        "kit/api.py:5",
        "safe",
        "kit/api.py:5",
    ),
    # the reason of a skip is told to those whom it does not leave out
    ({"test_it.py": SKIPPED.format("pytest.skip('it is only for SM120')")}, "test_it.py:7", "refused", ""),
    ({"it.py": SKIPPED.format(TEXT)}, "it.py:7", "safe", "it.py:7"),
]


@pytest.mark.parametrize(("files", "at", "how", "edited"), TREES)
def test_what_moves(tmp_path: Path, files: dict[str, str], at: str, how: str, edited: str) -> None:
    found = finding(tmp_path, files, at)
    fix = found.fix
    assert (fix.applicability if fix else "refused") == how, found.fix_refused or (fix and fix.proof.evidence)
    if fix is not None and edited:
        places = {f"{Path(edit.path).relative_to(tmp_path).as_posix()}:{edit.region.line}" for edit in fix.edits}
        assert places == set(edited.split())


def finding(folder: Path, files: dict[str, str], at: str) -> Finding:
    """The finding with a remedy at a place of a project."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'kit'\n")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    with ExitStack() as stack:
        request = CheckRequest((str(folder),), ("sm_120", "sm_121"), severity="note", jobs=1, fixes=True)
        findings = check(request, stack).report.findings
    path, _, line = at.rpartition(":")
    here = [one for one in findings if Path(one.path) == folder / path and one.region.line == int(line)]
    (found,) = [one for one in here if one.fix is not None or one.fix_refused is not None]
    return found
