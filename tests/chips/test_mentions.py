"""Which chips a text names."""

from __future__ import annotations

import pytest
from effort import at_most

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
    ("requires CUDA capability 10.0 or greater", "10.0 and newer", "no chip", True),
    ("mxfp8 requires CUDA capability 10.0 or greater or ROCm gfx950 or greater.", "10.0 and newer", "no chip", True),
    ("float8 in triton requires CUDA capability 8.9 or greater", "8.9 and newer", "no chip", True),
    ("compute capability 9.0, or higher, is needed", "9.0 and newer", "no chip", True),
    ("needs SM100 GPUs or newer", "10.0 and newer", "10.0 only", True),
    ("Hopper (SM90) hardware and up", "9.0 and newer", "9.0 only", True),
    ("SM80 minimum", "8.0 and newer", "8.0 only", True),
    ("SM80 is the minimum", "8.0 and newer", "8.0 only", True),
    ("SM80 upwards", "8.0 and newer", "8.0 only", True),
    ("SM80 and better", "8.0 and newer", "8.0 only", True),
    ("SM80 and 8.9 GPUs or newer", "8.0, 8.9, 9.0, 10.x, 11.0 and 12.x", "8.0 only", True),
    ("minimum compute capability 9.0", "9.0 and newer", "no chip", True),
    ("minimum required SM90", "9.0 and newer", "9.0 only", True),
    ("compute capability must be at least 9.0", "9.0 and newer", "no chip", True),
    ("Native E4M3 requires compute >= 8.9", "8.9 and newer", "no chip", True),
    ("compute capability 90 or higher", "9.0 and newer", "no chip", True),
    ("is sm at least 90", "9.0 and newer", "no chip", True),
    ("arch > SM_90", "9.0 and newer", "9.0 only", True),
    ("lowers for (a, b) -> sm_90", "9.0 only", "9.0 only", False),
    ("SM_90 <= arch", "9.0 and newer", "9.0 only", True),
    ("detected pre-SM100 hardware", "10.0 and newer", "10.0 only", True),
    ("requires SM100 (Blackwell); detected pre-SM100 hardware", "10.0 and newer", "10.0 only", True),
    ("GPUs older than SM90", "9.0 and newer", "9.0 only", True),
    ("up to SM90", "7.0 to 9.0", "9.0 only", False),
    ("SM90 or older", "7.0 to 9.0", "9.0 only", False),
    ("arch <= SM_90", "7.0 to 9.0", "9.0 only", False),
    ("arch < SM_90", "7.x and 8.x", "9.0 only", False),
    ("required SM_103 >= CUDA ARCH >= SM_90", "9.0 to 10.3", "9.0 and 10.3", False),
    ("needs SM_90 <= arch <= SM_103", "9.0 to 10.3", "9.0 and 10.3", False),
    ("at least SM80 and at most SM90", "8.x and 9.0", "8.0 and 9.0", False),
    ("SM80 and newer, but below SM100", "8.x and 9.0", "8.0 and 10.0", False),
    ("needs SM100+, found older than SM100", "10.0 and newer", "10.0 only", True),
    ("SM80 to SM90", "8.x and 9.0", "8.0 and 9.0", False),
    ("SM80-SM90 only", "8.x and 9.0", "8.0 and 9.0", False),
    ("SM80 through SM90", "8.x and 9.0", "8.0 and 9.0", False),
    ("between SM80 and SM90", "8.x and 9.0", "8.0 and 9.0", False),
    ("compute capability 8.0 to 9.0", "8.x and 9.0", "8.0 only", False),
    ("compute capability 8.0, 8.6 or 9.0", "8.0, 8.6 and 9.0", "8.0 only", False),
    ("goes from SM100 to SM90", "9.0 and 10.x", "9.0 and 10.0", False),
    ("SM90 or newer. Not for arch <= SM_80", "every chip but 8.6 to 8.9", "8.0 and 9.0", True),
    ("needs SM90 and CUDA 12.0", "9.0 only", "9.0 only", False),
    ("needs SM90 and CUDA >= 12.0", "9.0 only", "9.0 only", False),
    ("needs SM90 and is 10x faster", "9.0 only", "9.0 only", False),
    ("SM90, 10.x", "9.0 and 10.x", "9.0 only", False),
    ("nvcc 12.0 or newer", "no chip", "no chip", False),
    ("gcc 9.0+", "no chip", "no chip", False),
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
    ("text", "alike"),
    [
        ("requires SM89 compatible machine", True),
        ("an SM90-class GPU", True),
        ("an SM90 (Hopper) capable GPU", True),
        ("requires SM89", False),
        ("SM90 is not compatible", False),
    ],
)
def test_what_is_like_a_chip(text: str, alike: bool) -> None:
    assert mentioned(text).alike is alike


@pytest.mark.parametrize(
    "piece",
    ["sm_90 ", "sm_90 (", "compute ", "capability ", "capability >= ", "9.0 ", "at least ", " ", "sm90/", "<"],
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    with at_most(5):
        mentioned(piece * 10_000)


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


@pytest.mark.parametrize(
    ("text", "is_bound"),
    [
        ("needs SM90+", True),
        ("SM90+ (Hopper) alone", True),
        ("runs on sm_90 +", True),
        ("needs SM90 + bf16", False),
        ("SM90+bf16 kernels", False),
        ("sm_90 + sm_100", False),
        ("SM90 +\n    (V % 128 == 0)", False),
    ],
)
def test_a_plus_that_joins_is_no_bound(text: str, is_bound: bool) -> None:
    assert mentioned(text).open_ended == is_bound
