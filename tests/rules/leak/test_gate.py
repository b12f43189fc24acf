"""What a gate admits to something that is not there: which tests, and which texts, say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CODE = """import torch


def run(x, quick):
    if {test}:
        {refusal}
    {behind}
"""
OPEN = "torch.cuda.get_device_capability()[0] < 10"
KERNEL = "import flash_mla; return flash_mla.flash_mla_with_kvcache(x)"
RAISES = "raise RuntimeError('no')"


@pytest.mark.parametrize(
    ("test", "refusal", "behind", "expected"),
    [
        (OPEN, RAISES, KERNEL, ["5 warning"]),
        (OPEN, "return None", KERNEL, ["5 warning"]),
        (OPEN, "raise RuntimeError('scatter4 is missing')", "return x()", ["5 warning"]),
        # a guard of one configuration says nothing of the others; the answer of one is no error
        (f"quick and {OPEN}", RAISES, KERNEL, ["5 note"]),
        (f"quick and {OPEN}", "return None", KERNEL, ["5 warning"]),
        # the first text is the reason, the second is beside it
        (OPEN, "logger.info('too old'); raise RuntimeError('scatter4 is missing')", "return x()", ["5 note"]),
        (OPEN, "logger.info('scatter4 is missing'); raise RuntimeError('too old')", "return x()", ["5 warning"]),
        (OPEN.replace("<", "!="), RAISES, KERNEL, []),
    ],
)
def test_what_says_so(tmp_path: Path, test: str, refusal: str, behind: str, expected: list[str]) -> None:
    code = CODE.format(test=test, refusal=refusal, behind=behind)
    assert levels(drafts(tmp_path, {"m.py": code}, "leak")) == expected


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ("{ }", ["3 warning"]),
        ("{ } else { run(); }", ["3 warning"]),
        ("{ run(); }", ["3 warning"]),
    ],
)
def test_an_arm_without_code_has_a_comment_at_least(tmp_path: Path, arms: str, expected: list[str]) -> None:
    test = "  // scatter4 from here on\n  if (props->major >= 10)"
    code = f"void f(cudaDeviceProp* props) {{\n{test} {arms}\n  end();\n}}\n"
    assert levels(drafts(tmp_path, {"m.cpp": code}, "leak")) == expected
