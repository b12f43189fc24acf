"""Which chips a text names."""

from __future__ import annotations

import pytest

from bwlint.chips.mentions import from_generation, mentioned

TEXTS = [
    # text, named, exact, open ended
    ("needs SM120", "12.x", "12.0 only", False),
    ("needs sm_120", "12.x", "12.0 only", False),
    ("needs sm_120a", "12.x", "12.0 only", False),
    ("needs SM121", "12.1 only", "12.1 only", False),
    ("needs SM12x", "12.x", "no chip", False),
    ("needs SM120/121", "12.x", "12.x", False),
    ("needs SM 90", "9.0 only", "9.0 only", False),
    ("needs SM90 (Hopper) or later", "9.0 and newer", "9.0 only", True),
    ("needs SM90+", "9.0 and newer", "9.0 only", True),
    ("needs sm_90 or newer", "9.0 and newer", "9.0 only", True),
    ("CUDA ARCH >= SM_90", "9.0 and newer", "9.0 only", True),
    ("at least sm_90", "9.0 and newer", "9.0 only", True),
    ("needs SM80 and above", "8.0 and newer", "8.0 only", True),
    ("compute capability 12.0", "12.0 only", "12.0 only", False),
    ("compute capability >= 9.0", "9.0 and newer", "no chip", True),
    ("compute capability (12, 1)", "12.1 only", "12.1 only", False),
    ("SM100 and SM103", "10.x", "10.0 and 10.3", False),
    ("", "no chip", "no chip", False),
    ("unsupported GPU", "no chip", "no chip", False),
    ("CUDA 12.8 is needed", "no chip", "no chip", False),
    ("version 12.0", "no chip", "no chip", False),
    ("a small number: 120", "no chip", "no chip", False),
    ("algorithm90", "no chip", "no chip", False),
    ("ism120", "no chip", "no chip", False),
]


@pytest.mark.parametrize(("text", "named", "exact", "open_ended"), TEXTS, ids=[row[0] for row in TEXTS])
def test_mentions(text: str, named: str, exact: str, open_ended: bool) -> None:
    found = mentioned(text)
    assert (str(found.named), str(found.exact), found.open_ended) == (named, exact, open_ended)


@pytest.mark.parametrize(
    ("text", "chips"),
    [
        ("only supports Ampere GPUs or newer.", "8.0 and newer"),
        ("needs Ada Lovelace or later", "8.9 and newer"),
        ("Hopper+ is required", "9.0 and newer"),
        ("HOPPER and above", "9.0 and newer"),
        ("Ampere is required", "no chip"),
        ("Ampere, and on Linux a compiler that is newer", "no chip"),
        ("SM80 or newer", "no chip"),
    ],
)
def test_from_a_generation_on(text: str, chips: str) -> None:
    assert str(from_generation(text)) == chips
