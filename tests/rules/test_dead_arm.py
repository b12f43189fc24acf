"""Arms that chips are taken from, and those that may run for others."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

NAMES = """import torch


def name_of(properties):
    short = str(properties.name or "").lower().strip(". ")
    if short and short not in ("a radeon",):
        return short + "."
    other = str(torch.cuda.get_device_name(0) or "").lower()
    if other and other not in ("a radeon",):
        return other + "."
    return "a GPU"


def stats():
    return name_of(torch.cuda.get_device_properties(0))
"""
CHAIN = """import torch


def run(x, force):
    major, _ = torch.cuda.get_device_capability()
    if major >= 10:
        return new(x)
    elif major == 12 {}:
        return other(x)
    return old(x)
"""

PREFERENCE = """import torch

ROWS = {{(9, 0, "a"): 1, (12, 0, "a"): 2, (12, 0, "f"): 3, (12, 1, "a"): 4, (12, 1, "f"): 5}}
OTHERS = {{(12, 0, "f"): 6, (12, 1, "f"): 7}}


def row():
    major, minor = torch.cuda.get_device_capability()
    if (major, minor, "a") in ROWS:
        return ROWS[(major, minor, "a")]
    if (major, minor, "f") in {}:
        return kernel(major)
    return None
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (PREFERENCE.format("ROWS"), []),
        (PREFERENCE.format("OTHERS"), [11]),
        (NAMES, []),
        (CHAIN.format("or force"), []),
        (CHAIN.format("and force"), [8]),
    ],
)
def test_an_arm_that_any_chip_may_take_is_not_dead(tmp_path: Path, text: str, lines: list[int]) -> None:
    assert [draft.place.at.line for draft in drafts(tmp_path, {"m.py": text}, "dead-arm")] == lines
