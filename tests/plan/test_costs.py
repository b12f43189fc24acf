"""The worked example of hardware.md section 4.4, to the digit."""

from __future__ import annotations

import math

import pytest

from bwlint.chips.links import link, wires
from bwlint.plan import compare

HIDDEN, EXPERTS, CHOSEN, GPUS, LAYERS = 7168, 256, 8, 8, 58
FP8, BF16 = wires()["fp8"], wires()["bf16"]
WHOLE = compare.exchanged_bytes(HIDDEN, CHOSEN, FP8, BF16)
REMOTE = compare.remote(WHOLE, GPUS)
ONCE_A_GPU = compare.remote(
    compare.exchanged_bytes(HIDDEN, compare.gpus_reached(EXPERTS, CHOSEN, GPUS), FP8, BF16), GPUS
)


def test_the_bytes_of_a_layer() -> None:
    assert CHOSEN * compare.token_bytes(HIDDEN, FP8) == 59136
    assert CHOSEN * compare.token_bytes(HIDDEN, BF16) == 114688
    assert WHOLE == 173824
    assert REMOTE == 152096


def test_a_copy_to_each_gpu() -> None:
    assert f"{compare.gpus_reached(EXPERTS, CHOSEN, GPUS):.2f}" == "5.29"
    assert f"{ONCE_A_GPU / 1e3:.1f} kB" == "100.7 kB"


def test_the_bytes_of_all_layers() -> None:
    assert f"{LAYERS * REMOTE / 1e6:.1f} MB" == "8.8 MB"
    assert f"{LAYERS * ONCE_A_GPU / 1e6:.1f} MB" == "5.8 MB"


@pytest.mark.parametrize(
    ("name", "unit", "plain", "once"), [("pcie5x16", 1e3, "0.14", "0.09"), ("nvlink5", 1e6, "9.8", "6.5")]
)
def test_the_time_of_a_token(name: str, unit: float, plain: str, once: str) -> None:
    places = len(plain.partition(".")[2])
    for amount, told in ((REMOTE, plain), (ONCE_A_GPU, once)):
        seconds = compare.link_seconds(LAYERS * amount, 0, link(name).gb_per_s, 0)
        assert f"{seconds * unit:.{places}f}" == told


def test_fourteen_times() -> None:
    assert round(link("nvlink5").gb_per_s / link("pcie5x16").gb_per_s) == 14
    assert round(link("nvlink5").gb_per_s / link("pcie5x8").gb_per_s) == 28
    assert round(link("nvlink5").gb_per_s / link("pcie4x16").gb_per_s) == 28


def test_an_all_reduce() -> None:
    assert compare.reduced_bytes(HIDDEN, BF16, GPUS) == 2 * 7 / 8 * 7168 * 2 == 25088
    assert compare.reduced_bytes(HIDDEN, BF16, 1) == 0
    assert compare.REDUCTIONS_PER_LAYER == 2


@pytest.mark.parametrize(
    ("name", "gpus", "exchange", "to_all", "reduction"),
    [("pcie5x16", 4, 2, 6, 6), ("nvlink5", 8, 2, 2, 2), ("cx7-200", 2, 2, 2, 2), ("pcie5x16", 1, 0, 0, 0)],
)
def test_hops(name: str, gpus: int, exchange: int, to_all: int, reduction: int) -> None:
    assert compare.exchange_hops(link(name), gpus, False) == exchange
    assert compare.exchange_hops(link(name), gpus, True) == to_all
    assert compare.reduction_hops(link(name), gpus) == reduction


def test_latency_counts_for_each_hop() -> None:
    assert compare.link_seconds(64e9, 2 * LAYERS, 64, 5) == pytest.approx(1 + 116 * 5e-6)


@pytest.mark.parametrize(
    ("experts", "chosen", "gpus"), [(256, 8, 8), (8, 2, 4), (8, 2, 8), (8, 8, 8), (128, 4, 2), (16, 1, 4), (4, 3, 2)]
)
def test_gpus_reached_are_those_of_the_formula(experts: int, chosen: int, gpus: int) -> None:
    told = gpus * (1 - math.comb(experts - experts // gpus, chosen) / math.comb(experts, chosen))
    assert compare.gpus_reached(experts, chosen, gpus) == pytest.approx(told)


def test_experts_that_tokens_choose() -> None:
    assert compare.touched(8, 2, 1) == 0.25
    assert compare.touched(8, 2, 2) == pytest.approx(1 - 0.75**2)
    assert compare.touched(8, 8, 1) == 1
