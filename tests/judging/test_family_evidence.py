"""What makes the fix of a split safe: places of the tree that anybody can look at."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from analysed import analysed

from bwlint.chips import ChipSet
from bwlint.judging.family_evidence import against
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.world.libraries import NAME, PROOF, LibraryRow

HEAD = "import torch\nmajor, minor = torch.cuda.get_device_capability()\ncap = (major, minor)\n"
LIST = "class Op:\n    admissible_archs = ['sm_120a']\n\n    def check(self, arch):\n        {}\n"
JIT = """import functools
from .core import current_compilation_context


def gen_attention_module():
    return current_compilation_context.get_nvcc_flags_list(supported_major_versions={})


@functools.cache
def attention():
    return gen_attention_module()
"""


def split_of(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    """Whether the split in `m.py` is mended safely, and the words of the proof."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    with ExitStack() as stack:
        report = check(CheckRequest((str(folder),), severity="note", jobs=1, fixes=True), stack).report
    found = [one.fix for one in report.findings if one.name == "family-split" and one.path.endswith("m.py") and one.fix]
    return (found[0].applicability, found[0].proof.evidence) if found else ("", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if cap != (12, 0):\n    raise RuntimeError('no')\n", "all that 12.1 meets now is an error (m.py:5)"),
        ("assert cap == (12, 0)\n", "all that 12.1 meets now is an error"),
        ("assert cap in [(10, 0), (12, 0)], 'no'\n", "all that 12.1 meets now is an error"),
        ("if cap == (12, 0):\n    run()\nelse:\n    raise RuntimeError('no')\n", "all that 12.1 meets now is an error"),
        (
            "def is_sm120f_supported():\n    return major == 12 and minor == 0\n",
            "`is_sm120f_supported` names the family, to which 12.1 belongs (m.py:5)",
        ),
        (
            "# FP8 needs mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32\n"
            "if cap in [(8, 9), (12, 0)]:\n    FP8 = True\n",
            "gives `mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32` as the reason, which 12.1 has too",
        ),
        (
            "if cap in [(8, 9), (12, 0)]:\n    from lib import attention_triton as attention\n"
            "else:\n    from lib import attention\n",
            "Triton compiles `attention_triton` for the chip it runs on (m.py:5)",
        ),
        (
            LIST.format("if arch not in self.admissible_archs:\n            raise ValueError(self.admissible_archs)"),
            "`admissible_archs` is read for an error and for nothing else (m.py:8)",
        ),
        (
            "if cap == (12, 0) and cudnn.backend_version() < 91400:\n    raise RuntimeError('old')\n",
            "the refusal is about older releases of a library, on both alike",
        ),
    ],
)
def test_safe(tmp_path: Path, text: str, words: str) -> None:
    how, evidence = split_of(tmp_path, {"m.py": HEAD + text})
    assert how == "safe"
    assert words in evidence


@pytest.mark.parametrize(
    "text",
    [
        "if cap == (12, 0):\n    run()\nelse:\n    other()\n",
        "if cap == (12, 0):\n    raise RuntimeError('no')\nrun()\n",
        "if cap != (12, 0):\n    raise RuntimeError('not tested on 12.1')\n",
        "if cap != (12, 0):\n    raise RuntimeError('only validated there')\n",
        "def f():\n    if cap != (12, 0):\n        return None\n    return run()\n",
        "def is_sm120_supported():\n    return major == 12 and minor == 0\n",
        "def is_fp4_supported():\n    return cap in [(10, 0), (12, 0)]\n",
        "# measured on an RTX 5090\nif cap == (12, 0):\n    TILE = 64\nelse:\n    TILE = 128\n",
        "# tcgen05.mma.cta_group::1.kind::f16 is missing\nif cap in [(8, 9), (12, 0)]:\n    FP8 = True\n",
        "# uses torch.cuda.get_device_capability\nif cap in [(8, 9), (12, 0)]:\n    FP8 = True\n",
        "if cap == (12, 1):\n    run()\nelse:\n    other()\n",
        "if cap == (12, 0):\n    run()\nelse:\n    attention_triton()\n",
        "if cap == (12, 0):\n    tritonllm_gemm()\nelse:\n    other()\n",
        "TARGET = 'sm_120a'\nif cap != (12, 0):\n    raise RuntimeError('no')\n",
        "if cap == (12, 0) and version < 3:\n    run()\n",
        "if cap == (12, 0) and flags < 3:\n    raise RuntimeError('old')\n",
        "if cap == (12, 0) and version > 3:\n    raise RuntimeError('new')\n",
        "if cap == (12, 0) and version('<'):\n    raise RuntimeError('old')\n",
        "if cap == (12, 0):\n    run()\nelif ready():\n    other()\nelse:\n    raise RuntimeError('no')\n",
        "if cap == (12, 0):\n    run()\nelif major == 12:\n    raise RuntimeError('no')\nelse:\n    other()\n",
        LIST.format("return arch in self.admissible_archs"),
        LIST.format("raise ValueError('no')\n\n    def other(self):\n        return self.admissible_archs"),
    ],
)
def test_not_safe(tmp_path: Path, text: str) -> None:
    assert split_of(tmp_path, {"m.py": HEAD + text})[0] in ("", "unsafe")


@pytest.mark.parametrize(
    ("reason", "how"),
    [
        ("needs SM120", "safe"),
        ("needs 112.0 GB", "safe"),
        ("needs SM90 or SM120 (compute capability 9.0 or 12.0)", "unsafe"),
    ],
)
def test_number_of_the_one_part(tmp_path: Path, reason: str, how: str) -> None:
    assert split_of(tmp_path, {"m.py": f"{HEAD}if cap != (12, 0):\n    raise RuntimeError('{reason}')\n"})[0] == how


CALLED = """import torch
from .core import only_one


def run(x):
    if torch.cuda.get_device_capability() == (12, 0):
        only_one(x)
"""
ONE = """import torch


def only_one(x):
    if torch.cuda.get_device_capability() != (12, 0):
        raise RuntimeError("no")
    return x
"""


def test_what_is_called_is_for_one_part_alone(tmp_path: Path) -> None:
    """A test of the project too: it would call what refuses the sibling."""
    files = {"p/__init__.py": "", "p/core.py": ONE, "tests/m.py": CALLED.replace(".core", "p.core")}
    how, words = split_of(tmp_path, files)
    assert (how, "`only_one`, which is behind the test, is for 12.0 only" in words) == ("unsafe", True)


def test_list_that_another_file_reads(tmp_path: Path) -> None:
    text = LIST.format("if arch not in self.admissible_archs:\n            raise ValueError('no')")
    files = {"m.py": HEAD + text, "n.py": "from m import Op\nprint(Op.admissible_archs)\n"}
    assert split_of(tmp_path, files)[0] == "unsafe"


def test_list_of_the_same_name_elsewhere(tmp_path: Path) -> None:
    text = LIST.format("if arch not in self.admissible_archs:\n            raise ValueError('no')")
    other = "class Other:\n    admissible_archs = ['sm_100a']\n    def f(self):\n        return self.admissible_archs\n"
    assert split_of(tmp_path, {"m.py": HEAD + text, "n.py": other})[0] == "safe"


@pytest.mark.parametrize(("majors", "how"), [("[12]", "safe"), ("[10]", ""), ("[9, 10, 12]", "safe")])
def test_what_is_behind_is_built_for_the_family(tmp_path: Path, majors: str, how: str) -> None:
    use = "from .jit import gen_attention_module\nif cap == (12, 0):\n    gen_attention_module()\nelse:\n    slow()\n"
    core = "current_compilation_context = object()\n"
    files = {"p/__init__.py": "", "p/core.py": core, "p/jit.py": JIT.format(majors), "p/m.py": HEAD + use}
    found, evidence = split_of(tmp_path, files)
    assert found == how or (how == "" and found == "unsafe")
    assert how == "" or "`gen_attention_module`, which is behind the test, is for" in evidence


@pytest.mark.parametrize(
    "text",
    [
        "if cap == (12, 1):\n    run()\nelse:\n    other()\n",
        "UNIFIED_MEMORY_ARCHS = [(8, 7), (12, 1)]\n",
        "if cap == (12, 1):\n    unified = True\n",
        "if cap != (12, 1):\n    raise RuntimeError('no')\n",
    ],
)
def test_second_part_by_itself_is_meant(tmp_path: Path, text: str) -> None:
    assert split_of(tmp_path, {"m.py": HEAD + text}) == ("", "")


@pytest.mark.parametrize(
    ("chips", "strength", "said"),
    [
        ("12.0", PROOF, "`gemm`, which is behind the test, is for 12.0 only"),
        ("10.0 12.0", PROOF, "`gemm`, which is behind the test, is for 10.0 and 12.0"),
        ("12.0", NAME, None),
        ("12.0 12.1", PROOF, None),
        ("10.0", PROOF, None),
    ],
)
def test_what_is_behind_is_for_one_member(tmp_path: Path, chips: str, strength: str, said: str | None) -> None:
    """A name is no proof, and what is for nobody here is another finding."""
    legal = ChipSet.of(*chips.split())
    row = LibraryRow(re.compile("gemm"), frozenset({"call"}), legal, strength, "a kernel", "read")
    code = f"{HEAD}if cap == (12, 0):\n    gemm()\n"
    context = analysed(tmp_path, {"m.py": code}, rows=(row,)).context
    ((gate,),) = context.judged.values()
    assert against(context, gate, ChipSet.of("12.0"), ChipSet.of("12.1")) == said


BOUND = {
    "CMakeLists.txt": "project(p LANGUAGES CXX CUDA)\n"
    'set(CMAKE_CUDA_ARCHITECTURES "{}")\nadd_library(p_c MODULE csrc/ops.cu)\n',
    "csrc/ops.cu": "#include <torch/extension.h>\n__global__ void k(float* d) { d[0] = 1.f; }\n"
    "torch::Tensor gemm_sm120(torch::Tensor a) {\n  k<<<1, 1>>>(a.data_ptr<float>());\n  return a;\n}\n"
    'PYBIND11_MODULE(_C, m) {\n  m.def("gemm_sm120", &gemm_sm120);\n}\n',
    "p/__init__.py": "",
    "p/m.py": "import torch\nfrom . import _C\n\ndef gemm(a):\n    if torch.cuda.get_device_capability() == (12, 0):\n"
    "        return _C.gemm_sm120(a)\n    raise RuntimeError('SM120 only')\n",
}


@pytest.mark.parametrize(
    ("targets", "how"),
    [("100a;120a", "unsafe"), ("120a", "unsafe"), ("120f", "safe"), ("120a;121a", "safe"), ("120", "safe")],
)
def test_what_is_built_for_one_part_alone_is_behind_it(tmp_path: Path, targets: str, how: str) -> None:
    files = {**BOUND, "CMakeLists.txt": BOUND["CMakeLists.txt"].format(targets)}
    assert split_of(tmp_path, files)[0] == how
