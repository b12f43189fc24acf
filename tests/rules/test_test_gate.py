"""Tests that are skipped on one member of a generation: what is run besides where one more is let in."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.chips import ChipSet
from bwlint.judging.drafts import Remedy

SKIPPED = """import pytest
import torch


def test_run():
    if torch.cuda.get_device_capability() != (10, 0):
        pytest.skip("{reason}")
    run()
"""
RUN = """import pytest
import torch


def test_run():
    if torch.cuda.get_device_capability() == (10, 0):
        run()
    else:
        pytest.skip("{reason}")
"""


@pytest.mark.parametrize("code", [SKIPPED, RUN])
@pytest.mark.parametrize(
    ("reason", "safe"), [("needs another GPU", True), ("needs SM100", False), ("tuned for B200", False)]
)
def test_the_rest_of_a_generation(tmp_path: Path, code: str, reason: str, safe: bool) -> None:
    (found,) = drafts(tmp_path, {"tests/test_m.py": code.format(reason=reason)}, "test-gate")
    assert isinstance(found.remedy, Remedy)
    assert found.remedy.along == ChipSet.of("10.1", "10.7")
    assert (found.remedy.unsafe is None) == safe
