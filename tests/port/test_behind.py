"""What stands behind a gate decides whether an edit opens it: trees of our own in, edits and words out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from bwlint.port import port
from bwlint.port.table import Port
from bwlint.report.port import summary

HEAD = "import torch\nfrom .far import kernels_of\nMAJOR = torch.cuda.get_device_capability()[0]\n"
FAR = """
import torch
def kernels_of(q):
    if torch.cuda.get_device_capability()[0] == 8:
        return q.for_ada()
    return q.for_hopper()
"""
ASSERT = "def op(q, plain=False):\n    major = torch.cuda.get_device_capability()[0]\n    assert major in (8, 9)\n"


def made(folder: Path, files: Mapping[str, str]) -> Port:
    for name, text in files.items():
        path = folder / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    (folder / "lib" / "__init__.py").write_text("from .ops import *\n")
    return port([str(folder / "lib")], "12.1", jobs=1)


AFTER = {
    "two branches": ("if major == 8:\n        return q.a()\n    else:\n        return q.b()", "down the path of 9.0"),
    "what follows a return": ("if major == 8:\n        return q.a()\n    return q.b()", "down the path of 9.0"),
    "an expression": ("f = q.a if major == 8 else q.b\n    return f()", "down the path of 9.0"),
    "an arm each": (
        "if major == 8:\n        x = q.a()\n    elif major == 9:\n        x = q.b()\n    return x",
        "no case",
    ),
    "a table": ("return {8: q.a, 9: q.b}[major]()", "refuses 12.1"),
    "in a function that is called": ("return kernels_of(q)", "down the path of 9.0"),
    "under a flag of the function that is known": ("if not plain:\n        return kernels_of(q)", ""),
    "the arm of older ones": ("if major == 9:\n        return q.b()\n    return q.a()", ""),
    "a number": ("stages = 4 if major == 9 else 2\n    return q.a(stages)", ""),
    "an option of one chip": ("early = False\n    if major == 9:\n        early = True\n    return q.a(early)", ""),
    "an arm for all others": (
        "if major == 8:\n        q.a()\n    elif major == 9:\n        q.b()\n    else:\n        q.c()\n    return q",
        "",
    ),
    "an error of an argument": ("if q is None:\n        raise ValueError(q)\n    return q.a()", ""),
}


@pytest.mark.parametrize("name", AFTER)
def test_a_second_choice_is_asked(name: str, tmp_path: Path) -> None:
    body, words = AFTER[name]
    (step,) = (one for one in made(tmp_path, {"ops.py": f"{HEAD}{ASSERT}    {body}\n", "far.py": FAR}).steps)
    assert (step.fix is None) is bool(words) and words in step.words


@pytest.mark.parametrize(
    ("asked", "branch", "call", "opened"),
    [
        ("not plain", "plain", "plain", False),
        ('plain != "yes"', 'plain == "yes"', "plain", False),
        ("plain is None", "plain is not None", "plain", False),
        ("not plain and q", "plain", "plain=plain", False),
        ("plain", "plain", "plain", True),
        ("not plain", "plain", "plain=q.plain", True),
        ("not q", "plain", "plain", True),
        ("not plain", "q.small", "plain", True),
    ],
)
def test_what_is_proved_not_to_work_behind_under_the_same_flag(
    asked: str, branch: str, call: str, opened: bool, tmp_path: Path
) -> None:
    text = f"""
        import torch
        _OK = torch.cuda.get_device_capability()[0] == 10
        def _run(q, plain):
            if {branch}:
                return torch.matmul(q, q)
            else:
                return torch._scaled_grouped_mm(q, q)
        def op(q, plain=False):
            if {asked}:
                assert _OK
            return _run(q, {call})
        """
    plan = made(tmp_path, {"ops.py": text})
    assert bool(plan.steps) is opened


def test_a_flag_is_opened_where_it_is_made(tmp_path: Path) -> None:
    text = """
        import torch
        _ok = torch.cuda.get_device_capability()[0] == 10
        def _missing():
            return [name for name in ("a", "b") if not installed(name)]
        def quant(x):
            if _ok:
                return x.quant()
            if not _ok:
                missing = _missing()
                if missing:
                    raise NotImplementedError("please install " + ", ".join(missing))
                raise NotImplementedError("quant requires 10.x")
        """
    (step,) = made(tmp_path, {"ops.py": text}).steps
    assert step.at.line == 3 and step.fix is not None
    beside = "def grouped(a):\n    if _ok:\n        return torch._scaled_grouped_mm(a, a)\n    return a\n"
    (step,) = made(tmp_path, {"ops.py": dedent(text) + beside}).steps
    assert step.fix is None and "PyTorch's grouped GEMM" in step.words


@pytest.mark.parametrize(
    ("torch", "verdict"),
    [
        ("torch<=2.11.0", "unproved"),
        ("torch>=2.6,<2.12", "unproved"),
        ("torch>=2.9", "unproved"),
        ("torch>=2.6,<2.9", "impossible"),
        ("torch==2.8.0", "impossible"),
    ],
)
def test_what_newer_releases_run_everywhere_is_no_reason(torch: str, verdict: str, tmp_path: Path) -> None:
    text = """
        import torch
        def moe(x, w):
            if torch.cuda.get_device_capability() != (9, 0):
                raise RuntimeError("for SM90")
            return torch._grouped_mm(x, w)
        """
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "1"\ndependencies = ["{torch}"]\n')
    (row,) = made(tmp_path, {"ops.py": text}).rows
    assert row.verdict == verdict


def test_a_word_of_an_error_is_to_be_found_out_first(tmp_path: Path) -> None:
    text = """
        import torch
        def quant(x):
            if torch.cuda.get_device_capability()[0] != 10:
                raise NotImplementedError("only for SM 10.x: this is the tcgen05 scale layout")
            return x.quant()
        """
    plan = made(tmp_path, {"ops.py": text})
    assert [row.verdict for row in plan.rows] == ["unproved"]
    assert plan.steps[0].fix is None and "find out first" in plan.steps[0].words


def test_a_refusal_that_no_row_shows_is_counted(tmp_path: Path) -> None:
    text = """
        import torch
        def _hopper():
            return torch.cuda.get_device_capability()[0] == 9
        def _check(backend):
            if backend == "fa3":
                if not _hopper():
                    raise RuntimeError("needs Hopper")
        def apply(m, backend=None):
            _check(backend)
            return m
        """
    plan = made(tmp_path, {"ops.py": text})
    assert [spot.line for spot in plan.apart] == [7]
    assert summary(plan).startswith("1 error for 12.1 outside known operations")
    none = made(tmp_path, {"ops.py": text.replace("== 9", ">= 9")})
    assert none.apart == () and "0 operations" not in summary(none)


WHOLE_FILE = """#if !defined(__CUDA_ARCH__) || (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 890 || __CUDA_ARCH__ == {}))
{}
__global__ void k(float* p) {{
{}
}}
void f(float* p, cudaStream_t s) {{
  k<<<1, 32, 0, s>>>(p);
  checkCuda(cudaPeekAtLastError());
}}
#endif
"""


@pytest.mark.parametrize(
    ("inside", "opened"),
    [
        ("#ifdef __CUDA_ARCH__\n#if __CUDA_ARCH__ != 890 && __CUDA_ARCH__ != 1200\n#error no\n#endif\n#endif", False),
        (
            "#ifndef __CUDA_ARCH__\n#elif __CUDA_ARCH__ == 890\n#elif __CUDA_ARCH__ == 1200\n#else\n#error no\n#endif",
            False,
        ),
        ("#ifndef __CUDA_ARCH__\n#elif __CUDA_ARCH__ <= 1200\n#else\n#error no\n#endif", False),
        ("#ifndef __CUDA_ARCH__\n#else\n#if __CUDA_ARCH__ >= 890\n#else\n#error no\n#endif\n#endif", True),
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error no\n#endif", True),
        ("#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900\n#error no\n#endif", True),
        ("#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 12\n#error no\n#endif", True),
    ],
)
def test_an_error_in_a_guard_further_in(inside: str, opened: bool, tmp_path: Path) -> None:
    lines = "\n".join(f"  p[threadIdx.x + {number}] = {number} * p[threadIdx.x];" for number in range(1, 20))
    (tmp_path / "k.cu").write_text(WHOLE_FILE.format("1200 || __CUDA_ARCH__ == 900", inside, lines))
    steps = [step for step in port([str(tmp_path)], "12.1", jobs=1).steps if step.at.line == 1]
    assert [step.fix is not None for step in steps] == [opened]


def test_who_has_an_arm_of_its_own_is_not_turned_away(tmp_path: Path) -> None:
    text = """
        import torch
        if torch.cuda.get_device_capability()[0] == 12:
            from .small import backward
        elif torch.cuda.get_device_capability()[0] == 10:
            from .large import backward
        else:
            raise ValueError("no kernels for this card")
        """
    assert made(tmp_path, {"pkg/__init__.py": text, "pkg/small.py": "", "pkg/large.py": ""}).apart == ()
