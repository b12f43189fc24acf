"""Ranges over an enum of architectures: which family they are read as."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

from bwlint.judging.drafts import Remedy

CODE = """import cutlass
from cutlass.base_dsl.arch import Arch


def run(x):
    arch = cutlass.base_dsl.BaseDSL._get_dsl().get_arch_enum()
    if Arch.{low} <= arch <= Arch.{high}:
        return x.fast()
    return x
"""


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("sm_100", "sm_103f", "10.x"),
        ("sm_103", "sm_103f", "10.3 and 10.7"),
        ("sm_120", "sm_121f", "12.x"),
        ("sm_90", "sm_90a", "nothing here shows that the enum has `is_family_of`"),
        ("sm_100", "sm_100f", "a test of the family would hold on 10.1 to 10.7 too"),
        ("sm_100", "sm_101f", "a test of the family would hold on 10.3 and 10.7 too"),
        ("sm_90", "sm_121a", "the range is of no family"),
        ("sm_100", "sm_121f", "the range is of no family"),
        ("sm_100", "sm_999", "a name of the range is that of no chip"),
    ],
)
def test_ranges(tmp_path: Path, low: str, high: str, expected: str) -> None:
    (found,) = drafts(tmp_path, {"m.py": CODE.format(low=low, high=high)}, "capability-type")
    assert found.remedy is not None
    assert (str(found.remedy.chips) if isinstance(found.remedy, Remedy) else found.remedy.reason) == expected


COMPARED = """import torch


def run(x, quick):
    if {test}:
        return x.fast()
    return x
"""


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("cap == 120", "12.x"),
        ("cap == 121", "12.x"),
        ("cap != 120", "every chip but 12.x"),
        ("not cap == 120", "every chip but 12.x"),
        ("cap in (100, 120)", "10.x and 12.x"),
        ("cap not in (90, 120)", "every chip but 9.0 and 12.x"),
        ("cap == 120 and quick", "12.x"),
        # a major, a bound, a text: what was meant is not plain
        ("cap == 9", None),
        ("cap in (90, 12)", None),
        ("cap == 49", None),
        ("cap >= 90", None),
        ("cap == '12.0'", None),
    ],
)
def test_chips_that_were_meant(tmp_path: Path, test: str, expected: str | None) -> None:
    code = COMPARED.format(test=test.replace("cap", "torch.cuda.get_device_capability()"))
    (found,) = drafts(tmp_path, {"m.py": code}, "capability-type")
    assert (str(found.remedy.chips) if isinstance(found.remedy, Remedy) else found.remedy) == expected
