"""What makes a fix of the family unsafe: what is behind the test, who leads to it, the words beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.fix.edited import apply

from .conftest import Project

HEAD = "import torch\nfrom torch.cuda import get_device_capability as device_sm\n\n\n"
KERNEL = "def launch(x):\n    return torch.ops.p.gemm(x)\n\n\n"
API = """def gemm(x):
    {}
    if device_sm() != (12, 0):
        raise ValueError({})
    return launch(x)
"""
REFUSING = "def launch(x):\n    if device_sm() != (12, 0):\n        raise ValueError('no')\n    return x\n\n\n"
ANSWERING = "def launch(x):\n    if device_sm() == (12, 0):\n        return torch.ops.p.gemm(x)\n    return None\n\n\n"
ENUM = "def launch(x):\n    stages = 3 if device_sm() == (12, 0) else 2\n    return torch.ops.p.gemm(x, stages)\n\n\n"
CALLER = "\n\ndef public(x):\n    if device_sm() == (12, 0):\n        return gemm(x)\n    return torch.mm(x, x)\n"
FAMILY_CALLER = "\n\ndef public(x):\n    if device_sm()[0] == 12:\n        return gemm(x)\n    return torch.mm(x, x)\n"

ARGUMENT = """import sys


def gemm(fp8=False):
    for arch in sys.argv[1].split(","):
        arch = int(arch)
        # only SM89 and SM120 have {}
        if arch in [89, 120]:
            fp8 = True
    return fp8
"""


def mended(project: Project, text: str, function: str = "gemm") -> tuple[str, str]:
    """How the test in a function is mended, and the text then."""
    checked = project({"p/__init__.py": "", "p/api.py": text})
    lines = text[: text.index(f"def {function}(")].count("\n") + 1
    found = min(
        (one for one in checked.findings if one.fix and one.region.line > lines), key=lambda one: one.region.line
    )
    assert found.fix is not None
    return found.fix.applicability, apply(text, found.fix.edits)


@pytest.mark.parametrize(
    ("text", "applicability"),
    [
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120'"), "safe"),
        (ENUM + API.format("x = x.contiguous()", "'needs SM120'"), "unsafe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120'") + FAMILY_CALLER, "safe"),
        (REFUSING + API.format("x = x.contiguous()", "'needs SM120'"), "unsafe"),
        (ANSWERING + API.format("x = x.contiguous()", "'needs SM120'"), "unsafe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120'") + CALLER, "unsafe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120 (RTX 5090)'"), "safe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120, an RTX 5090'"), "unsafe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs SM120, SM121 is pending'"), "unsafe"),
        (KERNEL + API.format("x = x.contiguous()", "'needs exactly SM120'"), "unsafe"),
        (KERNEL + API.format("# the cubin is built for sm_120a", "'needs SM120'"), "unsafe"),
    ],
)
def test_what_is_behind_and_beside(project: Project, text: str, applicability: str) -> None:
    assert mended(project, HEAD + text)[0] == applicability


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# SM120 has no tensor memory", "# SM12x has no tensor memory"),
        ('"""Multiplies. Requires SM120 and CUDA 12.8."""', '"""Multiplies. Requires SM12x and CUDA 12.8."""'),
        ('"""The SM120 kernel."""', '"""The SM120 kernel."""'),
    ],
)
def test_words_move_with_the_test(project: Project, before: str, after: str) -> None:
    applicability, text = mended(project, HEAD + KERNEL + API.format(before, "'the SM120 kernel needs SM120'"))
    assert applicability == "safe"
    assert f"    {after}\n" in text
    assert "raise ValueError('the SM120 kernel needs SM12x')" in text


@pytest.mark.parametrize(
    ("old", "new", "applicability"),
    [
        ("in [89, 120]", "in [89, 120]", "safe"),
        ("arch in [89, 120]", "arch == 120", "unsafe"),
        ("arch in [89, 120]", "arch in [120]", "unsafe"),
        ("arch in [89, 120]", "arch in [64, 120]", "unsafe"),
        ("arch in [89, 120]", 'arch in ["89", "120"]', "unsafe"),
        ("arch in [89, 120]", 'arch in ["sm_89", "sm_120"]', "safe"),
        ("arch in [89, 120]", 'arch == "sm_120"', "safe"),
    ],
)
def test_a_value_that_is_called_like_a_device(project: Project, old: str, new: str, applicability: str) -> None:
    """Names of targets and a list of the numbers of several say what is compared with them."""
    text = ARGUMENT.format("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32").replace(old, new)
    if "sm_" in new:
        text = text.replace("        arch = int(arch)\n", "")
    assert mended(project, text)[0] == applicability


MODULE = (
    HEAD
    + "def {}(x):\n    if device_sm() != (12, 0):\n"
    + "        raise ValueError('this scaled GEMM needs {}')\n    return x\n"
)


def test_copies_of_one_refusal_move_together(project: Project) -> None:
    files = {"p/__init__.py": "", "p/a.py": MODULE.format("a", "SM120"), "p/b.py": MODULE.format("b", "SM120")}
    checked = project(files)
    fixes = [one.fix for one in checked.findings if one.fix is not None]
    assert [fix.applicability for fix in fixes] == ["safe", "safe"]
    for fix in fixes:
        for name in ("a", "b"):
            path = checked.folder / "p" / f"{name}.py"
            mine = [edit for edit in fix.edits if Path(edit.path) == path]
            text = apply(path.read_text(), mine)
            assert "[0] != 12" in text or "not in" in text
            assert "needs SM12x" in text


def test_a_copy_that_is_meant_holds_the_others_back(project: Project) -> None:
    meant = MODULE.format("b", "SM120").replace("    if device", "    # only SM120 is meant\n    if device")
    checked = project({"p/__init__.py": "", "p/a.py": MODULE.format("a", "SM120"), "p/b.py": meant})
    (fix,) = [one.fix for one in checked.findings if one.fix is not None]
    assert fix.applicability == "unsafe"
    assert "the same check is at p/b.py" in fix.proof.evidence


@pytest.mark.parametrize(("name", "safety"), [("_trtllm_gemm_fp4_requirement", "unsafe"), ("_kit_gemm", "safe")])
def test_what_a_name_speaks_of_and_the_twin_lacks_too(project: Project, name: str, safety: str) -> None:
    body = "    if device_sm() not in ((10, 0), (12, 0)):\n        raise ValueError('no')\n    return x\n"
    text = f"{HEAD}def {name}(x):\n{body}"
    fixes = project({"p/__init__.py": "", "p/m.py": text}).fixes("family-split")
    assert [how for how, _ in fixes] == [safety]
