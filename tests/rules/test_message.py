"""Texts of refusals, and what is behind the test; the leak itself is another rule's."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CODE = """import torch


def run(x, quick):
    if {test}:
        raise RuntimeError("{text}")
    import flash_mla

    return flash_mla.flash_mla_with_kvcache(x)
"""
OPEN = "torch.cuda.get_device_capability()[0] < 10"
OPTION = f"{OPEN} or not quick"
CLOSED = "torch.cuda.get_device_capability()[0] != 10"


@pytest.mark.parametrize(
    ("test", "text", "expected"),
    [
        (OPEN, "needs SM100 or SM120", ["6 note"]),
        (OPEN, "needs SM100 or newer", ["6 note"]),
        (OPEN, "needs SM100", ["6 note"]),
        (OPEN, "needs a newer GPU", []),
        (OPTION, "needs SM100 or SM120", ["6 note"]),
        (OPTION, "needs SM100", []),
        (CLOSED, "needs SM100 or SM103", []),
    ],
)
def test_promises(tmp_path: Path, test: str, text: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"m.py": CODE.format(test=test, text=text)}, "message")) == expected


def test_a_list_is_a_claim_of_its_own(tmp_path: Path) -> None:
    """What a decorator names is not what the hardware lacks: the text may be the one that is right."""
    listed = "@supported_compute_capability([100, 103])\ndef only(x):\n    return x\n"
    code = CODE.format(test=OPEN, text="needs SM100, SM120 or SM121").replace("import flash_mla", "from k import only")
    files = {"m.py": code.replace("flash_mla.flash_mla_with_kvcache", "only"), "k.py": listed}
    assert drafts(tmp_path, files, "message") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("needs SM100 or newer", ["6 warning"]),
        ("only for SM100 (10.x); use the plain kernel on SM110 or newer", []),
        ("only for SM100. Please use the plain kernel on SM110 or newer.", []),
        ("needs SM100 or newer; use the plain kernel", ["6 warning"]),
        ("use this on SM100 or newer", []),
    ],
)
def test_what_others_can_use_is_no_promise(tmp_path: Path, text: str, expected: list[str]) -> None:
    code = CODE.format(test=CLOSED, text=text).replace("import flash_mla", "from kernels import run as act")
    code = code.replace("flash_mla.flash_mla_with_kvcache", "act")
    assert levels(drafts(tmp_path, {"m.py": code}, "message")) == expected
