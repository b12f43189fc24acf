"""Rough truth tables: what a line seems to hold for, by its spelling."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.rough import admitted

CHIPS = ("8.9", "9.0", "10.0", "12.0", "12.1")
LINES = {
    "if any(sm == one for one in (90, 100)):": "9.0 10.0",
    "[sm for sm in found if sm in (90, 120)]": "9.0 12.0",
    "for sm in found: keep(sm >= 100)": "10.0 12.0 12.1",
    "if (arch >= 90)": "9.0 10.0 12.0 12.1",
    "if (Arch == 86 || Arch == 89)": "8.9",
    "cc >= 80 and cc < 100": "8.9 9.0",
    "80 <= cc && cc < 100": "8.9 9.0",
    "elem(sm, {80, 90, 100})": "9.0 10.0",
    "capability in ((9, 0), (12, 0))": "9.0 12.0",
    "capability not in [(9, 0)]": "8.9 10.0 12.0 12.1",
    "major >= 10": "10.0 12.0 12.1",
    "props.major == 12 and props.minor == 0": "12.0",
    "capability() >= (12, 1)": "12.1",
    "case 90:": "9.0",
    "#if __CUDA_ARCH__ == 1200": "12.0",
    "#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000": "9.0",
    "cc == 0x78": "12.0",
    "90 <= cc && cc < 120": "9.0 10.0",
    "cap in [(12, 0)]": "12.0",
    "cuda_version >= 12.8 and cc >= 90": "9.0 10.0 12.0 12.1",
    'arch == "sm_120a"': "12.0",
    'arch == "12.0"': "12.0",
    "if(ARCH VERSION_GREATER_EQUAL 9.0)": "9.0 10.0 12.0 12.1",
    "if(ARCH VERSION_LESS 10.0)": "8.9 9.0",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_with_numbers_of_chips(line: str) -> None:
    found = admitted(line)
    assert found is not None
    assert " ".join(chip for chip in CHIPS if chip in found) == LINES[line]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "return x",
        "n == 4096",
        "elem(kind, {1, 2})",
        "minor == 0",
        "launch<90>",
        "block >= 256",
        "x == 1",
        "scale >= 1.0",
        'for compute, sm in [("80", "80"), ("90", "90")]:',
        "for arch in (80, 90, 100):",
        "for (major, minor) in [(8, 0), (9, 0)]:",
        'flags = [f"-gencode=arch=compute_{one}" for one in ("80", "90")]',
        "for i, sm in enumerate(wanted):",
    ],
)
def test_a_line_without(line: str) -> None:
    assert admitted(line) is None


def test_what_one_set_is_made_of() -> None:
    assert admitted("sm == 90") == ChipSet.of("9.0")
