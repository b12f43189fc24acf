"""Steps that no way of an operation leads to: what `check` finds in kernels, builds and tests of trees of our own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.model.findings import Edit, Finding, Fix, Proof, Region
from bwlint.port import port
from bwlint.port.found import concerning
from bwlint.port.table import Port
from bwlint.repair.patches import port_series as series
from bwlint.repair.patches import save
from bwlint.report import Setting
from bwlint.report.port import as_text
from bwlint.sources.walk import SourceFile

KERNEL = """
__global__ void scale(float* x) {
#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200
  x[threadIdx.x] *= 2.0f;
#else
  x[threadIdx.x] = 0.0f;
#endif
}
"""
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
flags = ["-gencode=arch=compute_90,code=sm_90", "-gencode=arch=compute_120a,code=sm_120a"]
setup(name="pkg", ext_modules=[CUDAExtension("pkg._C", ["csrc/scale.cu"], extra_compile_args={"nvcc": flags})])
"""
OPS = """
import torch
def scale(x):
    return torch.ops.pkg.scale(x)
def exact(x):
    if torch.cuda.get_device_capability() == (12, 0):
        return torch.ops.pkg.scale(x)
    raise ValueError("12.0 only")
"""
SKIPS = """
import pytest
import torch
from pkg import scale
def test_scale():
    if torch.cuda.get_device_capability() != (12, 0):
        pytest.skip("12.0 only")
    scale(torch.ones(4))
"""
TREE = {
    "pyproject.toml": "[project]\nname = 'pkg'\n",
    "setup.py": SETUP,
    "csrc/scale.cu": KERNEL,
    "pkg/__init__.py": "from .ops import *\n",
    "pkg/ops.py": OPS,
    "tests/test_scale.py": SKIPS,
}


def made(folder: Path, files: Mapping[str, str], *select: str, to: str = "12.1") -> Port:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text).lstrip(), encoding="utf-8")
    return port([str(folder)], to, select, jobs=1)


def steps(plan: Port) -> list[tuple[str, str]]:
    return [(step.kind, f"{Path(step.at.path).name}:{step.at.line}") for step in plan.steps]


def test_kernels_come_first_then_gates_then_builds_and_tests(tmp_path: Path) -> None:
    plan = made(tmp_path, TREE)
    assert steps(plan) == [
        ("build", "setup.py:3"),
        ("kernel", "scale.cu:2"),  # nothing shows that what is behind these runs: they come last
        ("condition", "ops.py:5"),
        ("test", "test_scale.py:5"),
    ]
    build, kernel, gate, _ = plan.steps
    assert kernel.said.startswith("BW101: This guard compiles for 12.0 and leaves out 12.1 (GB10)")
    assert gate.said == "" and gate.needed_by == ("pkg.exact",)
    assert build.said.startswith("BW301: Only 12.0 loads sm_120a.")
    assert {edit.path for step in plan.steps if step.fix for edit in step.fix.edits} <= {
        str(tmp_path / name) for name in TREE
    }


def test_their_edits_are_patches_that_say_why(tmp_path: Path) -> None:
    plan = made(tmp_path, TREE)
    patches = series(plan.steps, plan.files).patches
    assert len(patches) == sum(step.fix is not None for step in plan.steps) > 1
    build = next(text for text in (patch.decode() for patch in patches.values()) if "setup.py" in text)
    assert "BW301: Only 12.0 loads sm_120a. This build has nothing for 12.1 (GB10)." in build
    assert "+flags = " in build and "120f" in build


GUARD = "#if ARCH == 100\n  run_{0}_10(x);\n#elif ARCH == 120\n  run_{0}_12(x);\n#endif\n" + "  note(x);\n" * 9
TWO_GUARDS = {
    "pyproject.toml": "[project]\nname = 'pkg'\n",
    "setup.py": SETUP.replace('120a,code=sm_120a"', '120a,code=sm_120a", "-DARCH=120"'),
    "csrc/scale.cu": f"void scale(float* x) {{\n{GUARD.format('a')}{GUARD.format('b')}}}\n",
}


def test_guards_that_one_fix_mends_are_one_patch(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    plan = made(tmp_path, TWO_GUARDS)
    kernels = [step for step in plan.steps if step.kind == "kernel" and step.fix is not None]
    assert len(kernels) == 2
    found = series(kernels, plan.files)
    assert (len(found.patches), found.later) == (1, 0)
    save(found, tmp_path / "patches")
    subprocess.run(["git", "apply", f"patches/{next(iter(found.patches))}"], cwd=tmp_path, check=True)
    assert (tmp_path / "csrc" / "scale.cu").read_text().count("== 121") == 2


def test_a_fix_that_edits_what_was_not_given_is_none(tmp_path: Path) -> None:
    file = SourceFile("a.py", str(tmp_path / "a.py"), "python", str(tmp_path))
    proof = Proof(("12.0",), ("12.0",), ("12.0", "12.1"), ("12.0", "12.1"), "none")
    region = Region(1, 1, 1, 2)
    for path, real in (("a.py", file.real), ("b.py", None)):
        fix = Fix("safe", "admit", "write it", (Edit(path, region, "x"),), proof)
        finding = Finding(
            rule="BW101",
            name="family-split",
            category="family-split",
            severity="warning",
            confidence="high",
            path="a.py",
            region=region,
            message="m",
            admitted=("12.0",),
            fix=fix,
        )
        (found,) = concerning([finding], [file], "12.1")
        assert (found.finding.fix.edits[0].path if found.finding.fix else None) == real
        assert ("not given" in found.words) is (real is None)


def test_what_is_said_is_in_the_text(tmp_path: Path) -> None:
    text = as_text(made(tmp_path, TREE), Setting())
    assert "     BW301: Only 12.0 loads sm_120a. This build has nothing for 12.1 (GB10).\n" in text


EXACT = """
#include <cuda_runtime.h>
void scale(float* x, int major, int minor) {
  bool is_sm8x = major == 8 && minor > 0;
  run(x, is_sm8x ? 64 : 128);
}
"""


def test_errors_of_a_tree_without_python_have_paths_as_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
    void run(at::Tensor x) {
      auto p = at::cuda::getCurrentDeviceProperties();
      if (p->major == 9) {
        gemm(x);
      } else {
        TORCH_CHECK(false, "unsupported");
      }
    }
    """
    monkeypatch.chdir(tmp_path)
    made(tmp_path, {"csrc/run.cu": text})
    assert [spot.path for spot in port(["."], "12.1", jobs=1).apart] == ["csrc/run.cu"]


def test_a_note_without_an_edit_is_left_to_decide(tmp_path: Path) -> None:
    plan = made(tmp_path, {"pyproject.toml": "", "scale.cu": EXACT})
    assert plan.steps == ()
    assert 3 in [row.places[0].line for row in plan.left]


BUILD = """
#!/bin/bash
if [[ $CUDA_VERSION == 12.8* ]]; then
  arch_list="7.0;8.0;9.0;9.0a"
fi
cmake -DTORCH_CUDA_ARCH_LIST="${arch_list}" -B build
"""


def test_a_list_of_a_build_that_has_nothing_for_the_chip_is_a_step(tmp_path: Path) -> None:
    plan = made(tmp_path, {"pyproject.toml": "", ".github/scripts/build.sh": BUILD})
    assert steps(plan) == [("build", "build.sh:3")]


WRAPPER = """
template <typename Kernel>
struct only_on_120 : Kernel {
  __device__ void operator()(float* x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1200
    Kernel::operator()(x);
#endif
  }
};
"""


def test_a_wrapper_that_wraps_none_is_left_to_decide(tmp_path: Path) -> None:
    plan = made(tmp_path, {"csrc/only.hpp": WRAPPER})
    assert plan.steps == ()
    assert [row.places[0].line for row in plan.left] == [4]
    used = '#include "only.hpp"\nusing Scaled = only_on_120<Scale>;\n'
    assert steps(made(tmp_path, {"csrc/scale.cu": used})) == [("kernel", "only.hpp:4")]


SILENT: dict[str, tuple[dict[str, str], str]] = {
    "another of the family is left out": ({"setup.py": SETUP, "csrc/scale.cu": KERNEL}, "12.0"),
    "nobody is": (
        {
            "setup.py": SETUP.replace("120a", "120f"),
            "csrc/scale.cu": KERNEL.replace("== 1200", "== 1200 || __CUDA_ARCH__ == 1210"),
        },
        "12.1",
    ),
    "a comment says that it is meant": (
        {"csrc/scale.cu": KERNEL.replace("#if", "// bwlint: ignore[family-split] -- measured on 12.0 alone\n#if")},
        "12.1",
    ),
    "a note about what nobody uses": (
        {"a.py": "import torch\nwide = torch.cuda.get_device_capability()[0] >= 10\n"},
        "12.1",
    ),
}


@pytest.mark.parametrize("name", SILENT)
def test_no_step(name: str, tmp_path: Path) -> None:
    files, to = SILENT[name]
    assert steps(made(tmp_path, files, to=to)) == []


LEAK = """
import torch
from cutlass.cute.nvgpu import tcgen05
def lay_out(x):
    if torch.cuda.get_device_capability()[0] >= 10:
        return tcgen05.make_umma_smem_desc(x)
    return x
"""


@pytest.mark.parametrize(("select", "expected"), [((), [("code", "ops.py:4")]), (("lay_out",), [])])
def test_what_lets_the_chip_in_too_far_is_for_who_asks_about_all(
    select: tuple[str, ...], expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    files = {"pyproject.toml": "", "pkg/__init__.py": "from .ops import *\n", "pkg/ops.py": LEAK}
    plan = made(tmp_path, files, *select)
    assert (steps(plan), [step.keeps_out for step in plan.steps]) == (expected, [True] * len(expected))


def test_of_operations_by_name_what_they_come_to_is_told(tmp_path: Path) -> None:
    files = {
        **TREE,
        "pkg/other.py": OPS.replace("exact", "other"),
        "pkg/__init__.py": "from .ops import *\nfrom .other import other\n",
    }
    assert ("condition", "other.py:5") in steps(made(tmp_path, files))
    assert [place for kind, place in steps(made(tmp_path, files, "exact")) if kind == "condition"] == ["ops.py:5"]


CHAIN = """
import torch
def exact(x):
    major, minor = torch.cuda.get_device_capability()
    if major == 8:
        return torch.relu(x)
    elif major == 9:
        return torch.relu(x)
    else:
        raise ValueError("not here")
"""


def test_the_error_that_an_opened_arm_leaves_behind_is_no_step_of_its_own(tmp_path: Path) -> None:
    files = {"pyproject.toml": "", "pkg/__init__.py": "from .ops import *\n", "pkg/ops.py": CHAIN}
    assert len(steps(made(tmp_path, files))) == 1


JIT = """
from torch.utils.cpp_extension import load
sm90a_nvcc_flags = ["-gencode=arch=compute_90a,code=sm_90a"]
sm120f_nvcc_flags = ["-gencode=arch=compute_120f,code=sm_120f"]
def module(flags):
    return load("scale", ["csrc/scale.cu"], extra_cuda_cflags=flags)
def gen_scale():
    return module(sm90a_nvcc_flags)
def gen_other():
    return module({0})
"""
JITTED = """
import torch
from . import jit
def exact(x):
    if torch.cuda.get_device_capability()[0] != 9:
        raise ValueError("9.0 only")
    return jit.gen_scale().scale(x){0}
"""


@pytest.mark.parametrize(
    ("more", "others", "expected"),
    [("", "sm90a_nvcc_flags", True), (" + jit.gen_other().scale(x)", "sm120f_nvcc_flags", False)],
)
def test_flags_for_other_chips_behind_an_opened_gate_are_a_step(
    more: str, others: str, expected: bool, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": "",
        "csrc/scale.cu": "__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }",
        "pkg/__init__.py": "from .ops import *\n",
        "pkg/ops.py": JITTED.format(more),
        "pkg/jit.py": JIT.format(others),
    }
    plan = made(tmp_path, files, "exact")
    assert (("build", "jit.py:7") in steps(plan)) is expected
    assert ("condition", "ops.py:4") in steps(plan)
