"""Gates of operations that stand in bound C++, arms that import one name, and what only some arguments meet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.matrix import matrix
from bwlint.matrix.table import FALLBACK, NO, UNKNOWN, YES, Matrix
from bwlint.port import port
from bwlint.report import Setting
from bwlint.report import matrix as matrix_report
from bwlint.report import port as port_report

CHIPS = ("9.0", "10.0", "12.0", "12.1")
_LETTERS = {YES: "y", NO: "-", FALLBACK: "o", UNKNOWN: "?"}
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="pkg", ext_modules=[CUDAExtension("pkg._C", ["csrc/api.cpp"])], cmdclass={"build_ext": BuildExtension})
"""
HEAD = """
#include <torch/extension.h>
static int generation() { return at::cuda::getCurrentDeviceProperties()->major; }
"""
DISPATCH = """
void mix(at::Tensor x) {
  const auto major = generation();
  if (major == 9) {
    warp_specialised(x);
  } else if (major == 10) {
    with_tensor_memory(x);
  } else {
    HOST_UNREACHABLE("no kernel for this card");
  }
}
"""
PYBIND = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{0}", &{1}); {2} }}\n'


def made(tmp_path: Path, files: Mapping[str, str]) -> Matrix:
    for name, text in ({"setup.py": SETUP} | dict(files)).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return matrix([str(tmp_path)], CHIPS, (), jobs=1)


def rows(found: Matrix) -> dict[str, str]:
    """A letter for each of `CHIPS`, by the last name of a row."""
    return {row.name: "".join(_LETTERS[row.cells[chip].word] for chip in CHIPS) for row in found.rows}


FROM_C = "from ._C import mix\n"
CALLS = "from . import _C\ndef mix(x):\n    return _C.mix(x)\n"
OF_TORCH = "import torch\ndef mix(x):\n    return torch.ops.pkg.mix(x)\n"
LIBRARY = 'TORCH_LIBRARY(pkg, m) { m.def("mix", &mix); }\n'
BOUND: dict[str, tuple[str, str, str]] = {
    "handed on from the compiled module": (FROM_C, DISPATCH + PYBIND.format("mix", "mix", ""), "yy--"),
    "called by a function of Python": (CALLS, DISPATCH + PYBIND.format("mix", "mix", ""), "yy--"),
    "an operation of torch": (OF_TORCH, DISPATCH + LIBRARY, "yy--"),
    "a second name of what is bound": (
        FROM_C,
        DISPATCH + PYBIND.format("mix_v2", "mix", 'm.attr("mix") = m.attr("mix_v2");'),
        "yy--",
    ),
    "one that calls the dispatch": (
        FROM_C,
        DISPATCH + "void turned(at::Tensor x) { mix(x.t()); }\n" + PYBIND.format("mix", "turned", ""),
        "yy--",
    ),
    "a switch": (
        FROM_C,
        """
        void mix(at::Tensor x) {
          switch (generation()) {
            case 9: warp_specialised(x); break;
            case 10: with_tensor_memory(x); break;
            default: throw std::runtime_error("no kernel");
          }
        }
        """
        + PYBIND.format("mix", "mix", ""),
        "yy--",
    ),
    "a check": (
        FROM_C,
        """
        void mix(at::Tensor x) {
          TORCH_CHECK(generation() == 12, "needs 12.x");
          run(x);
        }
        """
        + PYBIND.format("mix", "mix", ""),
        "--yy",
    ),
    "a method of a class that is called like a device": (
        FROM_C,
        """
        struct Arch {
          int major;
          Arch() { major = at::cuda::getCurrentDeviceProperties()->major; }
          bool is_wide() const { return major == 9 || major == 10; }
        };
        void mix(at::Tensor x) {
          Arch arch = Arch();
          if (!arch.is_wide()) {
            TORCH_CHECK(false, "only 9.x and 10.x");
          }
          run(x);
        #ifdef SMALL
          TORCH_CHECK(false, "left out of this build");
        #endif
        }
        """
        + PYBIND.format("mix", "mix", ""),
        "yy--",
    ),
}


@pytest.mark.parametrize("name", BOUND)
def test_gates_of_bound_cpp_are_gates_of_the_operation(name: str, tmp_path: Path) -> None:
    source, code, expected = BOUND[name]
    exported = "" if source == FROM_C else "from .ops import mix\n"
    files = {"pkg/__init__.py": exported or source, "pkg/ops.py": source, "csrc/api.cpp": HEAD + dedent(code)}
    assert rows(made(tmp_path, files)) == {"mix": expected}


SOME: dict[str, str] = {
    "an early way out for others": """
        void mix(at::Tensor x, int n) {
          if (n <= 256) { run(x); return; }
          TORCH_CHECK(generation() == 10, "large heads");
          run(x);
        }
        """,
    "one branch": """
        void mix(at::Tensor x, int n) {
          if (n > 256) {
            TORCH_CHECK(generation() == 10, "large heads");
          }
          run(x);
        }
        """,
    "a condition of both": """
        void mix(at::Tensor x, int n) {
          if (n > 256 && generation() != 10) throw std::runtime_error("large heads");
          run(x);
        }
        """,
    "a type": """
        void mix(at::Tensor x, int n) {
          TORCH_CHECK(x.scalar_type() != at::kFloat8_e4m3fn || generation() == 10);
          run(x);
        }
        """,
}


@pytest.mark.parametrize("name", SOME)
def test_what_some_arguments_meet_is_no_for_nobody(name: str, tmp_path: Path) -> None:
    code = HEAD + dedent(SOME[name]) + PYBIND.format("mix", "mix", "")
    found = made(tmp_path, {"pkg/__init__.py": FROM_C, "csrc/api.cpp": code})
    assert rows(found) == {}
    assert matrix_report.summary(found).startswith("0 rows, 1 public operation that no check decides")


def test_an_error_of_cpp_without_a_row_is_told(tmp_path: Path) -> None:
    code = HEAD + DISPATCH.replace("void mix", "static void prepare_once")
    found = made(tmp_path, {"pkg/__init__.py": "def run(x):\n    return x\n", "csrc/api.cpp": code})
    assert [gate.line for gate in found.apart] == [12]
    told = matrix_report.as_text(found, Setting(version="1")) + matrix_report.summary(found)
    assert "HOST_UNREACHABLE" in told and "1 C++ error outside these rows" in told
    plan = port([str(tmp_path)], "12.1", jobs=1)
    assert "0 operations" not in port_report.summary(plan)
    assert port_report.summary(plan).startswith("1 error for 12.1 outside known operations")
    assert port([str(tmp_path)], "9.0", jobs=1).apart == ()


def test_a_dispatch_of_kernels_for_others_is_no_gate_to_open(tmp_path: Path) -> None:
    code = HEAD + DISPATCH.replace("warp_specialised", "sm90_mix").replace("with_tensor_memory", "sm100_mix")
    made(tmp_path, {"pkg/__init__.py": FROM_C, "csrc/api.cpp": code + PYBIND.format("mix", "mix", "")})
    plan = port([str(tmp_path)], "12.1", jobs=1)
    assert [(row.name, row.verdict) for row in plan.rows] == [("pkg.mix", "impossible")]
    assert [way.lacks[0].what for way in plan.rows[0].ways] == [
        "code named for other chips (`sm100_mix`)",
        "code named for other chips (`sm90_mix`)",
    ]
    assert plan.steps == ()


def test_a_dispatch_of_kernels_for_anybody_is_opened_at_its_last_test(tmp_path: Path) -> None:
    code = HEAD + DISPATCH + PYBIND.format("mix", "mix", "")
    made(tmp_path, {"pkg/__init__.py": FROM_C, "csrc/api.cpp": code})
    plan = port([str(tmp_path)], "12.1", jobs=1)
    assert [(step.at.line, step.at.text) for step in plan.steps] == [(9, "major == 10")]


ARM = "import tilelang.language as T\ndef backward(q):\n    {}\n    return q\n"
OF_ARMS: dict[str, tuple[Mapping[str, str], dict[str, str]]] = {
    "imports": (
        {
            "pkg/__init__.py": """
            import torch
            if torch.cuda.get_device_capability()[0] == 9:
                from .old import backward
            elif torch.cuda.get_device_capability()[0] == 10:
                from .new import backward
            else:
                raise ValueError("no kernels")
            def both(q):
                return backward(q)
            """
        },
        {"backward": "yy--", "both": "yy--"},
    ),
    "imports within a function": (
        {
            "pkg/__init__.py": """
            import torch
            def both(q):
                if torch.cuda.get_device_capability()[0] == 10:
                    from .new import backward
                else:
                    from .old import backward
                return backward(q)
            """
        },
        {},
    ),
    "modules under one name": (
        {
            "pkg/__init__.py": """
            import torch
            if torch.cuda.get_device_capability() >= (12, 0):
                from . import new as kernels
            else:
                from . import old as kernels
            def both(q):
                return kernels.backward(q)
            """
        },
        {"both": "yy--"},
    ),
    "definitions": (
        {
            "pkg/__init__.py": """
            import torch
            if torch.cuda.get_device_capability()[0] == 12:
                def both(q):
                    raise NotImplementedError("not there")
            else:
                def both(q):
                    return q
            """
        },
        {"both": "yy--"},
    ),
    "handed on by another package": (
        {
            "pkg/__init__.py": "from .inner import backward\n",
            "pkg/inner/__init__.py": """
            import torch
            major = torch.cuda.get_device_capability()[0]
            if major == 9:
                from ..old import backward
            elif major == 10:
                from ..new import backward
            else:
                raise RuntimeError("no kernels")
            """,
        },
        {"backward": "yy--"},
    ),
}


@pytest.mark.parametrize("name", OF_ARMS)
def test_each_chip_has_the_import_of_its_own_arm(name: str, tmp_path: Path) -> None:
    files, expected = OF_ARMS[name]
    arms = {
        "pkg/old.py": ARM.format("pass"),
        "pkg/new.py": ARM.format("T.tcgen05_gemm(q, q, T.alloc_tmem((128, 128), 'float32'))"),
    }
    assert rows(made(tmp_path, {**arms, **files})) == expected


OPS = """
import torch
class Op:
    OLDEST = (5, 0)
    NEWEST = None
    @classmethod
    def reasons(cls, x):
        found = []
        capability = torch.cuda.get_device_capability(x.device)
        if capability < cls.OLDEST:
            found.append(f"{capability} is too old")
        elif cls.NEWEST is not None and capability > cls.NEWEST:
            found.append(f"{capability} is too new")
        return found
class Wide(Op):
    OLDEST = (9, 0)
    NEWEST = (9, 0)
class Tiled(Op):
    OLDEST = (8, 0)
    BOUND
def attention(x):
    for op in (Wide, Tiled):
        if not op.reasons(x):
            return op.run(x)
    raise NotImplementedError("none of them")
"""


@pytest.mark.parametrize(
    ("bound", "expected"),
    [("NEWEST = (9, 0)", "y---"), ("NEWEST = (12, 0)", "yyy-"), ("NEWEST = None", "yyyy"), ("pass", "yyyy")],
)
def test_the_newest_chip_of_a_class(bound: str, expected: str, tmp_path: Path) -> None:
    assert rows(made(tmp_path, {"ops.py": OPS.replace("BOUND", bound)})).get("attention", "yyyy") == expected
