"""What is a step of a port and what is none: small trees of our own, with the answers that a maintainer would give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.port import port
from bwlint.port.table import Port
from bwlint.report import Setting
from bwlint.report.port import as_text, summary

PROJECT = "[project]\nname = 'pkg'\n"
HEAD = "import torch\n\n\ndef cap():\n    return torch.cuda.get_device_capability()\n\n\n"
CC = "from .cc import cap\n"


def made(folder: Path, files: Mapping[str, str], to: str = "12.1") -> Port:
    for name, text in {"pyproject.toml": PROJECT, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text).lstrip(), encoding="utf-8")
    return port([str(folder)], to, (), jobs=1)


def steps(plan: Port) -> list[str]:
    return [f"{Path(step.at.path).name}:{step.at.line}" for step in plan.steps]


def package(*functions: str) -> dict[str, str]:
    names = [text.split("(")[0].split()[-1] for text in map(dedent, functions)]
    ops = "\n\n".join(dedent(text).strip() for text in functions)
    offered = f"from .ops import {', '.join(names)}\n"
    return {"pkg/__init__.py": offered, "pkg/cc.py": HEAD, "pkg/ops.py": f"{CC}\n\n{ops}\n"}


SWITCHES: dict[str, tuple[str, bool]] = {
    # a step is one that is a plain list of what was there once
    "a list of chips": ("def has_fused(rows):\n    return cap()[0] in (10, 11)", True),
    "an exact generation": ("def can_fuse(rows):\n    return rows % 128 == 0 and cap()[0] == 10", True),
    # bounds whose author wrote the upper end below 12.0
    "an upper bound at 12.0": ("def has_fused(rows):\n    return (10, 0) <= cap() < (12, 0)", False),
    "a closed interval": ("def has_fused(rows):\n    return cap()[0] >= 10 and cap()[0] <= 11", False),
    "a gap": ("def has_fused(rows):\n    return (10, 0) <= cap() < (12, 0) or cap() >= (13, 0)", False),
    "a bound the other way round": ("def has_fused(rows):\n    return 10 <= cap()[0] and 12 > cap()[0]", False),
    # what says what some code does is no gate
    "named for what is used": ("def uses_wide_kernel(size):\n    return size == 256 and cap()[0] in (10, 11)", False),
    "said to tell what is used": (
        'def wide(size):\n    """Whether the library picks its wide kernel."""\n    return cap()[0] in (10, 11)',
        False,
    ),
    "named for a default": ("def prefers_wide(size):\n    return cap()[0] in (10, 11)", False),
    "said to tell what works": (
        'def wide(size):\n    """Whether the wide kernel is supported."""\n    return cap()[0] in (10, 11)',
        True,
    ),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_answers_that_are_to_be_yes(name: str, tmp_path: Path) -> None:
    text, is_step = SWITCHES[name]
    plan = made(tmp_path, package(text))
    assert bool(plan.steps) is is_step


DISPATCH = """
def run(x, extra=None):
    major = cap()[0]
    if extra is not None:
        assert major in (10, 11), "extra on 10.x and 11.0 only"
        x = x + extra
    {between}
    if major == 9:
        out = hopper(x)
    elif major in (10, 11):
        out = datacenter(x)
    {family}
    else:
        raise ValueError(major)
    return out
"""
OTHERS = "def hopper(x):\n    return x\n\n\ndef datacenter(x):\n    return x\n\n\ndef consumer(x):\n    return x"


@pytest.mark.parametrize(
    ("between", "family", "words"),
    [
        ("pass", "elif major == 12:\n        out = consumer(x)", "has its own case for 12.x"),
        ("n = 1", "elif major in (12,):\n        out = consumer(x)", "has its own case for 12.x"),
        ("if major == 10:\n        x = None", "elif major == 12:\n        out = consumer(x)", "has its own case"),
    ],
)
def test_a_case_of_its_own_behind_an_argument(between: str, family: str, words: str, tmp_path: Path) -> None:
    """A value that is reset is no dispatch, and a kernel of the family's own need not know the argument."""
    plan = made(tmp_path, package(DISPATCH.format(between=between, family=family), OTHERS))
    found = [step for step in plan.steps if step.kind == "assert"]
    assert [words in step.words for step in found] == [True]
    assert not any("has no case for it" in step.words for step in plan.steps)


SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="pkg", packages=["pkg"], ext_modules=[CUDAExtension("pkg._C", ["csrc/api.cu"])],
      cmdclass={"build_ext": BuildExtension})
"""
BOUND = "import pkg._C as _C\n\n\ndef gemm(a):\n    return _C.gemm(a)\n\n\n__all__ = ['gemm']\n"
API = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
static int sm() { auto* p = at::cuda::getCurrentDeviceProperties(); return p->major * 10 + p->minor; }
%s
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("gemm", &gemm); }
"""
OWN_ARM = """
torch::Tensor gemm(torch::Tensor a) {
  int version = sm();
#if defined BUILD_FAMILY
  if (version >= 120) { return gemm_family(a); }
#endif
#if defined BUILD_OTHERS
  if (version >= 100 && version < 120) { return gemm_others(a); }
#endif
  TORCH_CHECK(false, "nothing is compiled for ", version);
}
"""
NO_ARM = OWN_ARM.replace("if (version >= 120) { return gemm_family(a); }", "").replace(
    "#if defined BUILD_OTHERS", "#if 1"
)
NAMED = """
struct Arch {
  int major, minor;
  Arch() { auto* p = at::cuda::getCurrentDeviceProperties(); major = p->major; minor = p->minor; }
  bool is_%s() const { return major == %d; }
};
torch::Tensor gemm(torch::Tensor a) {
  Arch arch = Arch();
  if (!arch.is_%s()) { TORCH_CHECK(false, "this part only"); }
  return run_dense(a);
}
"""


CHECKED = """
torch::Tensor gemm(torch::Tensor a) {
  int version = sm();
  bool is_first = version == 90;
  bool is_second = version >= 100 && version < 110;
  TORCH_CHECK(is_first || is_second, "not on this part");
  if (is_first) {
    %s first;
    first.run(a);
  } else if (is_second) {
    %s second;
    second.run(a);
  } else {
    TORCH_CHECK(false, "not on this part");
  }
  return a;
}
"""


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        (OWN_ARM, {}),  # it is the build that decides there
        (NO_ARM, {"pkg.gemm": "unproved"}),
        (CHECKED % ("Gemm_Sm90_Impl", "Gemm_Sm100_Impl"), {"pkg.gemm": "impossible"}),
        (CHECKED % ("GemmA", "GemmB"), {"pkg.gemm": "unproved"}),
        (CHECKED % ("Gemm_Sm80_Impl", "Gemm_Sm100_Impl"), {"pkg.gemm": "unproved"}),
        (NAMED % ("hopper", 9, "hopper"), {"pkg.gemm": "unproved"}),
        (NAMED % ("b200", 10, "b200"), {"pkg.gemm": "unproved"}),
    ],
)
def test_errors_of_cpp(code: str, rows: dict[str, str], tmp_path: Path) -> None:
    plan = made(tmp_path, {"setup.py": SETUP, "csrc/api.cu": API % code, "pkg/__init__.py": BOUND})
    assert {row.name: row.verdict for row in plan.rows} == rows
    assert "refuses every chip" not in as_text(plan, Setting())


LIMITED = """
from flash_attn_interface import flash_attn_func
from .cc import cap
class FwOp:
    {bound}
    @classmethod
    def reasons(cls, x):
        return ["too new"] if cap() > cls.MAXIMUM else []
    @classmethod
    def apply(cls, x):
        return flash_attn_func(x, x, x)
def attention(x):
    if FwOp.reasons(x):
        raise NotImplementedError("not on this GPU")
    return FwOp.apply(x)
"""


OF_OPERATOR = """
import torch
from .cc import cap
{imported}
class FwOp:
    MAXIMUM = (9, 0)
    OPERATOR = "pkg::flash_fwd"
    @classmethod
    def reasons(cls, x):
        return ["too new"] if cap() > cls.MAXIMUM else []
def attention(x):
    return getattr(torch.ops.pkg, FwOp.OPERATOR)(x)
"""


@pytest.mark.parametrize(
    ("imported", "told"),
    [
        ("import flash_attn_3._C", False),
        ("import flash_attn_interface", False),
        ("from flash_attn_interface import flash_attn_func", False),
        ("import flash_attn", True),
        ("import torch.nn.functional as F", True),
    ],
)
def test_a_class_in_a_file_of_what_cannot_run(imported: str, told: bool, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from .ops import attention\n", "pkg/cc.py": HEAD}
    plan = made(tmp_path, {**files, "pkg/ops.py": OF_OPERATOR.format(imported=imported)})
    assert bool(plan.steps) is told


@pytest.mark.parametrize("bound", ["MAXIMUM = (9, 0)", "MAXIMUM = (9, 9)"])
def test_no_bound_is_opened_in_front_of_what_cannot_run(bound: str, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from .ops import attention\n", "pkg/cc.py": HEAD}
    plan = made(tmp_path, {**files, "pkg/ops.py": LIMITED.format(bound=bound)})
    assert (steps(plan), {row.verdict for row in plan.rows}) == ([], {"impossible"})


TILES = """
#include <cuda_runtime.h>
void scale(float* x, int major, int minor) {{
  bool is_sm8x = {test};
  run(x, is_sm8x ? 64 : 128);
}}
"""


@pytest.mark.parametrize(
    "test", ["major == 8 && minor > 0", "major == 8 && (minor == 6 || minor == 9)", "major == 8 && minor != 0"]
)
def test_what_nobody_can_do_anything_about_is_a_question(test: str, tmp_path: Path) -> None:
    plan = made(tmp_path, {"scale.cu": TILES.format(test=test)})
    assert (plan.steps, bool(plan.left)) == ((), True)
    assert "leave it as it is" not in as_text(plan, Setting())


WARPS = """
import torch
WARPS = {(8, 0): 64, (9, 0): 64, (12, 0): 48}
def warps():
    return WARPS.get(torch.cuda.get_device_capability(), 32)
"""


def test_a_table_and_its_reader_are_one_step(tmp_path: Path) -> None:
    assert steps(made(tmp_path, {"pkg/__init__.py": "", "pkg/warps.py": WARPS})) == ["warps.py:2"]


def test_one_cause_in_two_files_is_one_step_with_its_places(tmp_path: Path) -> None:
    refused = '__global__ void k(float* x) {{ asm volatile("{}" ::: "memory"); }}\n'
    text = refused.format("wgmma.fence.sync.aligned;")
    cmake = "set(CMAKE_CUDA_ARCHITECTURES 120a)\nadd_library(k a.cu b.cu)\n"
    plan = made(tmp_path, {"a.cu": text, "b.cu": text, "CMakeLists.txt": cmake})
    fences = [step for step in plan.steps if "wgmma" in step.said]
    assert [(Path(step.at.path).name, [Path(at.path).name for at in step.also]) for step in fences] == [
        ("a.cu", ["b.cu"])
    ]
    assert f"also at b.cu:{fences[0].at.line}" in as_text(plan, Setting())


PEERS = """
#include <cuda_runtime.h>
__global__ void barrier(int** signals, int rank, int world) {
  int* flag = signals[threadIdx.x] + rank;
  while (atomicCAS_system(flag, 0, 1) != 0) {}
  int* mine = signals[rank] + threadIdx.x;
  while (atomicCAS_system(mine, 1, 0) != 1) {}
}
void start(int** peer_signals, int rank, int world, cudaStream_t stream) {
  barrier<<<1, world, 0, stream>>>(peer_signals, rank, world);
}
"""


@pytest.mark.parametrize(("to", "told"), [("12.0", True), ("12.1", False)])
def test_peers_where_there_are_some(to: str, told: bool, tmp_path: Path) -> None:
    """GB10 is the one GPU of its machine."""
    plan = made(tmp_path, {"barrier.cu": PEERS}, to)
    assert any(step.said.startswith("BW401") for step in plan.steps) is told
    assert told or not any("another GPU" in row.why for row in plan.left)


SKIPS = """
import pytest
import torch
from pkg import run
@pytest.mark.skipif(torch.cuda.get_device_capability()[0] {test}, reason="not here")
def test_run():
    assert run(1)
"""
OPEN = "def run(x, wide=False):\n    if wide:\n        assert cap()[0] == 10, 'wide on 10.x only'\n    return x"
SHUT = "def run(x):\n    if cap()[0] != 10:\n        raise ValueError('10.x only')\n    return x"


@pytest.mark.parametrize(
    ("function", "test", "told"),
    [(OPEN, "not in (10, 11)", False), (OPEN, "!= 10", False), (SHUT, "!= 10", True), (SHUT, "not in (10, 11)", True)],
)
def test_a_test_is_opened_with_its_operation(function: str, test: str, told: bool, tmp_path: Path) -> None:
    plan = made(tmp_path, {**package(function), "tests/test_run.py": SKIPS.format(test=test)})
    assert any(step.kind == "test" for step in plan.steps) is told


def test_steps_are_numbered_as_they_are_printed(tmp_path: Path) -> None:
    flags = "setup(ext_modules=[CUDAExtension('pkg._C', ['k.cu'], extra_compile_args={'nvcc': ['-arch=sm_120a']})])"
    build = f"from setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\n{flags}\n"
    files = {**package(SHUT), "setup.py": build, "k.cu": "__global__ void k() {}\n"}
    plan = made(tmp_path, files)
    lines = as_text(plan, Setting()).splitlines()
    numbers = [
        int(line.split(".")[0]) for line in lines if line[:3].strip().isdigit() or line.strip()[:2] in ("1.", "2.")
    ]
    assert numbers == sorted(numbers) == [step.number for step in plan.steps]
    assert lines[0] == f"Paths are relative to {tmp_path}."
    assert "1 operation does not work on 12.1" in summary(plan)


REFUSING = """
import torch
class {name}:
    def __init__(self):
        if torch.cuda.get_device_capability()[0] != 10:
            raise RuntimeError("10.x only")
"""


@pytest.mark.parametrize(
    ("file", "name", "told"),
    [
        ("inner.py", "Forward", True),
        ("inner_sm80.py", "Forward", True),
        ("fwd_sm100.py", "Forward", False),
        ("inner.py", "ForwardSm100", False),
        ("benchmark_fwd.py", "Forward", False),
    ],
)
def test_errors_that_are_tied_to_no_operation(file: str, name: str, told: bool, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "def run(x):\n    return x\n", f"pkg/{file}": REFUSING.format(name=name)}
    plan = made(tmp_path, files)
    assert [spot.within for spot in plan.apart] == ([f"{name}.__init__"] if told else [])
