"""What refuses, and who gets there: macros of the build, arms, lambdas, functions that are handed on, other modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.matrix import matrix
from bwlint.matrix.table import NO, UNKNOWN, YES, Matrix
from bwlint.port import port
from bwlint.report import port as port_report

CHIPS = ("9.0", "10.0", "12.0", "12.1")
LETTERS = {YES: "y", NO: "-", UNKNOWN: "?"}
SETUP = """
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="pkg", ext_modules=[CUDAExtension("pkg._C", ["csrc/api.cpp"])], cmdclass={"build_ext": BuildExtension})
"""
HEAD = """
#include <torch/extension.h>
static int generation() { return at::cuda::getCurrentDeviceProperties()->major; }
"""
PYBIND = 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("{0}", &{1}); {2} }}\n'


def made(tmp_path: Path, files: dict[str, str]) -> Matrix:
    for name, text in ({"setup.py": SETUP} | files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return matrix([str(tmp_path)], CHIPS, (), jobs=1)


def rows(found: Matrix) -> dict[str, str]:
    """A letter for each of `CHIPS`, by the last name of a row, with its backend."""
    return {
        row.name + row.backend: "".join(LETTERS.get(row.cells[chip].word, "o") for chip in CHIPS) for row in found.rows
    }


CALL = "from . import _C\ndef mix(x):\n    return _C.mix(x)\n"
BOUND = PYBIND.format("mix", "mix", "")
OF_DEVICE = SETUP.replace('["csrc/api.cpp"]', '["csrc/api.cpp"], define_macros=[("TARGET_SM_ARCH", str(cc))]')

MACROS: dict[str, tuple[str, str]] = {
    "an arm and an error": (
        "void mix(at::Tensor x) {\n#if TARGET_SM_ARCH == 100\n  one(x);\n#else\n"
        '  TORCH_CHECK(false, "no kernel");\n#endif\n}\n',
        "-y--",
    ),
    "two arms, and what comes before them": (
        "at::Tensor mix(at::Tensor x) {\n  TORCH_CHECK(x.is_cuda());\n"
        '  if (x.dim() != 2) { throw std::logic_error("2"); }\n'
        "#if TARGET_SM_ARCH == 90\n  return one(x);\n#elif TARGET_SM_ARCH >= 120\n  return two(x);\n#else\n"
        '  throw std::runtime_error("unsupported");\n#endif\n}\n',
        "y-yy",
    ),
    "the error first": (
        'at::Tensor mix(at::Tensor x) {\n#if TARGET_SM_ARCH >= 120\n  TORCH_CHECK(false, "not here");\n#endif\n'
        "  return one(x);\n}\n",
        "yy--",
    ),
    "in a function of its own": (
        "void inner(at::Tensor x) {\n#if TARGET_SM_ARCH < 100\n  one(x);\n#else\n  abort();\n#endif\n}\n"
        "void mix(at::Tensor x) { inner(x); }\n",
        "y---",
    ),
    "only for some arguments": (
        "void mix(at::Tensor x) {\n  if (x.size(0) == 64) {\n#if TARGET_SM_ARCH == 100\n    one(x);\n#else\n"
        '    TORCH_CHECK(false, "64");\n#endif\n  } else {\n    two(x);\n  }\n}\n',
        "",
    ),
    "a switch that no device decides": (
        "void mix(at::Tensor x) {\n#ifdef WITH_FAST_PATH\n  one(x);\n#else\n"
        '  TORCH_CHECK(false, "built without");\n#endif\n}\n',
        "",
    ),
    "an arm that returns": (
        "at::Tensor mix(at::Tensor x) {\n#if TARGET_SM_ARCH == 100\n  return one(x);\n#endif\n  return two(x);\n}\n",
        "",
    ),
    "a fallback that only warns": (
        "void mix(at::Tensor x) {\n#if TARGET_SM_ARCH == 100\n  one(x);\n#else\n"
        '  TORCH_WARN("slow");\n  two(x);\n#endif\n}\n',
        "",
    ),
}


@pytest.mark.parametrize("name", MACROS)
def test_a_macro_to_which_the_build_gives_the_device(name: str, tmp_path: Path) -> None:
    cpp, expected = MACROS[name]
    files = {"setup.py": OF_DEVICE, "pkg/__init__.py": CALL, "csrc/api.cpp": HEAD + cpp + BOUND}
    assert rows(made(tmp_path, files)).get("mix", "") == expected


def test_the_guard_is_the_step(tmp_path: Path) -> None:
    cpp, _ = MACROS["an arm and an error"]
    made(tmp_path, {"setup.py": OF_DEVICE, "pkg/__init__.py": CALL, "csrc/api.cpp": HEAD + cpp + BOUND})
    plan = port([str(tmp_path)], "12.1", jobs=1)
    assert "1 operation does not work" in port_report.summary(plan)
    assert [step.at.text for step in plan.steps] == ["TARGET_SM_ARCH == 100"]


CHECK = '#include <mutex>\nvoid check() { TORCH_CHECK(generation() == 9 || generation() == 12, "no"); }\n'
CPP: dict[str, tuple[str, str]] = {
    "once": (
        CHECK + "static std::once_flag flag;\nvoid mix(at::Tensor x) { std::call_once(flag, check); one(x); }\n",
        "y-yy",
    ),
    "once, by pthreads": (CHECK + "void mix(at::Tensor x) { pthread_once(&flag, check); one(x); }\n", "y-yy"),
    "handed to what may call it": (CHECK + "void mix(at::Tensor x) { on_error(x, check); one(x); }\n", ""),
    "a lambda that is called where it stands": (
        "at::Tensor mix(at::Tensor x) {\n  int arch = generation();\n  return [&] {\n"
        "    if (arch == 9) { return one(x); }\n"
        '    else if (arch == 10) { return two(x); }\n    else { TORCH_CHECK(false, "arch"); }\n  }();\n}\n',
        "yy--",
    ),
    "a lambda that gives the device": (
        "at::Tensor mix(at::Tensor x) {\n"
        "  static const int arch = [] { return at::cuda::getCurrentDeviceProperties()->major; }();\n"
        '  if (arch == 9) return one(x);\n  TORCH_CHECK(false, "arch");\n}\n',
        "y---",
    ),
    "a lambda that is kept": (
        "at::Tensor mix(at::Tensor x) {\n"
        '  auto fail = [&] { if (generation() == 12) { throw std::logic_error("no"); } };\n'
        "  return one(x, fail);\n}\n",
        "",
    ),
    "a macro with a lambda": (
        "#define BY_ARCH(ARCH, NAME, ...) \\\n  [&] { \\\n"
        "    if (ARCH == 9) { constexpr int NAME = 9; return __VA_ARGS__(); } \\\n"
        '    else { TORCH_CHECK(false, "arch ", ARCH); } \\\n  }()\n'
        "at::Tensor mix(at::Tensor x) {\n  int arch = generation();\n"
        "  return BY_ARCH(arch, kArch, [&] { return one<kArch>(x); });\n}\n",
        "y---",
    ),
    "a map of functions": (
        "#include <map>\nstatic const std::map<int, at::Tensor (*)(at::Tensor)> kTable = {{9, one}, {12, two}};\n"
        "at::Tensor mix(at::Tensor x) {\n  auto it = kTable.find(generation());\n"
        '  TORCH_CHECK(it != kTable.end(), "no kernel");\n  return it->second(x);\n}\n',
        "y-yy",
    ),
    "a map with another way out": (
        "#include <map>\nstatic const std::map<int, at::Tensor (*)(at::Tensor)> kTable = {{9, one}, {12, two}};\n"
        "at::Tensor mix(at::Tensor x) {\n  auto it = kTable.find(generation());\n"
        "  if (it == kTable.end()) { return slow(x); }\n  return it->second(x);\n}\n",
        "",
    ),
}


@pytest.mark.parametrize("name", CPP)
def test_the_way_to_an_error_of_cpp(name: str, tmp_path: Path) -> None:
    cpp, expected = CPP[name]
    found = rows(made(tmp_path, {"pkg/__init__.py": CALL, "csrc/api.cpp": HEAD + cpp + BOUND}))
    assert found.get("mix", "") == expected


TWO = """
at::Tensor dense(at::Tensor x) { if (generation() != 9) { TORCH_CHECK(false, "dense"); } return one(x); }
at::Tensor sparse(at::Tensor x) { if (generation() == 9) { return two(x); }
  else if (generation() == 10) { return three(x); }
  TORCH_CHECK(false, "sparse"); }
"""
BOTH = PYBIND.format("dense", "dense", 'm.def("sparse", &sparse);')
ARMS: dict[str, tuple[str, str]] = {
    "given in both arms": (
        "def mix(x, topk=None):\n    if topk is not None:\n        out = _C.sparse(x)\n    else:\n"
        "        out = _C.dense(x)\n    return out\n",
        "y?--",
    ),
    "a pair in both arms": (
        "def mix(x, topk=None):\n    if topk:\n        out, lse = _C.dense(x)\n    else:\n"
        "        out, lse = _C.sparse(x)\n    return out\n",
        "y?--",
    ),
    "an arm without": (
        "def mix(x, topk=None):\n    if topk:\n        out = _C.dense(x)\n    else:\n"
        "        out = x.clone()\n    return out\n",
        "",
    ),
    "returned in both arms": (
        "def mix(x, topk=None):\n    if topk:\n        return _C.dense(x)\n    return _C.sparse(x)\n",
        "yy--",
    ),
    "imported as one name under a test for others": (
        "from . import _C as ours\nif USE_ROCM:\n    from .amd import ops\nelse:\n"
        "    import pkg._C as ops\ndef mix(x):\n    return ops.dense(x)\n",
        "y---",
    ),
    "an operation under another name": (
        "import torch\n@torch.library.custom_op('pkg::_run', mutates_args=())\ndef _run(x):\n    return _C.dense(x)\n"
        "if torch.__version__ >= '2.4':\n    _wrapped = torch.ops.pkg._run\nelse:\n    _wrapped = _run\n"
        "def mix(x):\n    return _wrapped(x)\n",
        "y---",
    ),
}


@pytest.mark.parametrize("name", ARMS)
def test_what_arms_of_python_call(name: str, tmp_path: Path) -> None:
    python, expected = ARMS[name]
    files = {"pkg/__init__.py": f"import pkg._C as _C\n{python}", "csrc/api.cpp": HEAD + TWO + BOTH}
    assert rows(made(tmp_path, files)).get("mix", "").replace("?", "y") == expected.replace("?", "y")


DEVICE = (
    "import torch\ndef arch():\n    major, minor = torch.cuda.get_device_capability()\n    return major * 10 + minor\n"
)
SM100 = (
    "from cutlass.cute.nvgpu import tcgen05\nclass Sm100:\n    def run(self, x):\n        return tcgen05.make_umma(x)\n"
)
SM120 = "class Sm120:\n    def run(self, x):\n        return x\n"
DISPATCH = """
    if arch() // 10 in (10, 11):
        return Sm100().run(x)
    elif arch() // 10 == 12:
        return Sm120().run(x)
    raise ValueError("arch")
"""
USES: dict[str, tuple[str, str]] = {
    "an assertion for one argument": ("    if qv is not None:\n        assert arch() // 10 in [10, 11]\n", "-yyy"),
    "an error for one type": (
        "    if x.dtype == torch.int8:\n        if arch() // 10 not in (10, 11):\n            raise TypeError\n",
        "-yyy",
    ),
    "an error for a switch": (
        "    if not qv:\n        pass\n    elif arch() < 100 or arch() >= 120:\n        raise TypeError\n",
        "-yyy",
    ),
    "an error for everybody": ("    if arch() // 10 == 12:\n        raise TypeError\n", "-y--"),
    "whatever is given": (
        "    if qv:\n        assert arch() < 120\n    else:\n        assert arch() // 10 == 10\n",
        "-y--",
    ),
}


@pytest.mark.parametrize("name", USES)
def test_an_error_for_one_use_is_none_for_all(name: str, tmp_path: Path) -> None:
    body, expected = USES[name]
    text = f"{DEVICE}from .a import Sm100\nfrom .b import Sm120\ndef mix(x, qv=None):\n{body}{DISPATCH}"
    files = {"pkg/__init__.py": "from .ops import mix\n", "pkg/ops.py": text, "pkg/a.py": SM100, "pkg/b.py": SM120}
    assert rows(made(tmp_path, files))["mix"] == expected


TILES: dict[str, tuple[str, str]] = {
    "numbers": ("def _old():\n    return 64, 4\ndef _new():\n    return 128, 8\n", ""),
    "numbers that are computed": (
        "def _old():\n    stages = min(4, 768 // 32)\n    return 64, stages\ndef _new():\n"
        "    return max(16, 8192 // 64), 8\n",
        "",
    ),
    "numbers of another helper": ("def _old():\n    return 64, 4\ndef _new():\n    return _old()\n", ""),
    "names": ("def _old():\n    return 'simt', 4\ndef _new():\n    return 'tensor', 8\n", "oyyy"),
    "kernels": ("def _old():\n    return load('simt')\ndef _new():\n    return load('tensor')\n", "oyyy"),
}


@pytest.mark.parametrize("name", TILES)
def test_another_tile_is_no_other_way(name: str, tmp_path: Path) -> None:
    helpers, expected = TILES[name]
    body = "    if arch() < 100:\n        how, count = _old()\n    else:\n        how, count = _new()\n"
    "    launch(x, how, count)\n"
    files = {"pkg/__init__.py": "from .ops import mix\n", "pkg/ops.py": f"{DEVICE}{helpers}def mix(x):\n{body}"}
    assert rows(made(tmp_path, files)).get("mix", "") == expected


BASE = "class Base:\n    @classmethod\n    def supports_compute_capability(cls, capability):\n        return True\n"
CLASSES: dict[str, tuple[str, str]] = {
    "says nothing": ("    pass\n", "????"),
    "says yes itself": (
        "    @classmethod\n    def supports_compute_capability(cls, capability):\n        return True\n",
        "yyyy",
    ),
    "says no to some": (
        "    @classmethod\n    def supports_compute_capability(cls, capability):\n        return capability[0] == 9\n",
        "y---",
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_yes_of_a_base_is_no_answer(name: str, tmp_path: Path) -> None:
    body, expected = CLASSES[name]
    files = {
        "pkg/__init__.py": "",
        "pkg/kinds.py": f"{BASE}class Mix(Base):\n{body}class Other(Base):\n{CLASSES['says no to some'][0]}",
        "pkg/table.py": "from enum import Enum\nclass All(Enum):\n    A = 'pkg.kinds.Mix'\n    B = 'pkg.kinds.Other'\n",
    }
    assert rows(made(tmp_path, files))["AllA"] == expected


REASONS = (
    "import torch\nclass Base:\n    MINIMUM_CAPABILITY = (5, 0)\n    MAXIMUM_CAPABILITY = None\n    @classmethod\n"
    "    def reasons(cls, x):\n        cap = torch.cuda.get_device_capability(x.device)\n        found = []\n"
    "        if cap < cls.MINIMUM_CAPABILITY:\n            found.append('too old')\n"
    "        elif cls.MAXIMUM_CAPABILITY is not None and cap > cls.MAXIMUM_CAPABILITY:\n"
    "            found.append('too new')\n"
    "        return found\n"
)
BOUNDS = {"MAXIMUM_CAPABILITY = (9, 0)": "y---", "MINIMUM_CAPABILITY = (10, 0)": "-yyy", "NAME = 'mix'": ""}


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_class_with_bounds_is_offered(bound: str, tmp_path: Path) -> None:
    text = f"from .base import Base\nclass Mix(Base):\n    {bound}\n"
    files = {"pkg/__init__.py": "from . import kinds\n", "pkg/base.py": REASONS, "pkg/kinds.py": text}
    assert rows(made(tmp_path, files)).get("Mix", "") == BOUNDS[bound]


def test_a_model_is_used_by_loading_it(tmp_path: Path) -> None:
    check = f"{DEVICE}def check():\n    if arch() not in (90, 120):\n        raise ValueError('gpu')\n"
    text = (
        "from .gpu import check\nclass Mix:\n    @classmethod\n    def from_pretrained(cls, path):\n"
        "        check()\n        return cls()\n"
    )
    files = {"pkg/__init__.py": "from .model import Mix\n", "pkg/model.py": text, "pkg/gpu.py": check}
    assert rows(made(tmp_path, files))["Mix"] == "y-y-"


@pytest.mark.parametrize(
    ("user", "expected"), [("", "-y--"), ("from .fast import mix\n", ""), ("from . import fast\n", "")]
)
def test_what_nobody_else_imports_is_offered(user: str, expected: str, tmp_path: Path) -> None:
    fast = f"{DEVICE}def mix(x):\n    if arch() != 100:\n        raise ValueError('gpu')\n    return x\n"
    files = {
        "pkg/__init__.py": "from .plain import add\n",
        "pkg/plain.py": "def add(a, b):\n    return a + b\n",
        "pkg/fast.py": fast,
        "pkg/_inner.py": f"{user}def go(x):\n    return x\n",
    }
    assert rows(made(tmp_path, files)).get("mix", "") == expected


OWN: dict[str, tuple[str, list[str]]] = {
    "an assertion": ("        assert qv is None\n        return Sm120().run(x)\n", ["assert qv is None"]),
    "an error": (
        "        if qv is not None:\n            raise NotImplementedError\n        return Sm120().run(x)\n",
        ["if qv is not None:"],
    ),
    "two of them": (
        "        assert qv is None\n        assert x.dim() == 4\n        return Sm120().run(x)\n",
        ["assert qv is None", "assert x.dim() == 4"],
    ),
    "a choice": ("        y = x if qv is None else x + qv\n        return Sm120().run(y)\n", []),
    "a warning": ("        if qv is not None:\n            warn('slow')\n        return Sm120().run(x)\n", []),
}


@pytest.mark.parametrize("name", OWN)
def test_what_the_own_arm_of_a_chip_refuses_is_told(name: str, tmp_path: Path) -> None:
    arm, expected = OWN[name]
    body = f"    if arch() // 10 in (10, 11):\n        return Sm100().run(x)\n    elif arch() // 10 == 12:\n{arm}"
    text = (
        f"{DEVICE}from .a import Sm100\nfrom .b import Sm120\ndef mix(x, qv=None):\n{body}    raise ValueError('gpu')\n"
    )
    files = {"pkg/__init__.py": "from .ops import mix\n", "pkg/ops.py": text, "pkg/a.py": SM100, "pkg/b.py": SM120}
    made(tmp_path, files)
    plan = port([str(tmp_path)], "12.1", jobs=1)
    lines = [lack.at.line for row in plan.rows for way in row.ways for lack in way.lacks]
    assert [text.splitlines()[line - 1].strip() for line in lines] == expected
    assert [row.verdict for row in plan.rows] == (["partly"] if expected else [])
