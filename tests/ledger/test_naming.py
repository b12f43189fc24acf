"""For which generations names are meant."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.naming import around, generations, of_file, of_others

ASKED = ChipSet.of("12.0", "12.1")
NAMES = {
    "launch_sm100_gemm": {"10"},
    "ops.cutlass_sm90_mm": {"9"},
    "is_sm120a_supported": {"12"},
    "HopperKernel": {"9"},
    "is_blackwell": {"10", "12"},
    "gemm": set(),
    "search": set(),
    "prism": set(),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name(name: str) -> None:
    assert generations(name) & {"9", "10", "12"} == NAMES[name]


def test_a_file_and_its_folder() -> None:
    assert "9" in of_file("csrc/hopper/gemm.cu")
    assert of_file("csrc/attention/gemm.cu") == frozenset()


@pytest.mark.parametrize(
    ("found", "marks"),
    [
        ({"10"}, {"stands-among-names-of-others"}),
        ({"9", "10"}, {"stands-among-names-of-others"}),
        ({"12"}, {"stands-among-own-names"}),
        ({"10", "12"}, {"stands-among-own-names"}),
        ({"8"}, set()),
        (set(), set()),
    ],
)
def test_the_marks_around_a_question(found: set[str], marks: set[str]) -> None:
    assert around(frozenset(found), ASKED) == marks
    assert of_others(frozenset(found), ASKED) == ("stands-among-names-of-others" in marks)
