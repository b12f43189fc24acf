"""Three published models on three machines, beside a calculation by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from plan.configs import DEEPSEEK_V3, LLAMA_70B, MIXTRAL_8X7B, QWEN3_235B

from bwlint.chips.devices import all_chips
from bwlint.chips.links import links, wires
from bwlint.chips.products import products
from bwlint.plan.compare import Comparison, Load, PlanCost, compare, machine
from bwlint.settings.config import UsageError

FP8, BF16 = wires()["fp8"], wires()["bf16"]
LOAD = Load(32, BF16, BF16, BF16, "gpu")


def compared(config: dict[str, Any], gpus: str, load: Load = LOAD, latency: float | None = None) -> Comparison:
    dispatch = FP8 if "quantization_config" in config else BF16
    return compare(config, "config.json", machine(gpus, None, latency), replace(load, dispatch=dispatch))


def row(found: Comparison, name: str) -> PlanCost:
    return next(each for each in found.rows if each.split.name == name)


PRO, B200, SPARK = "4xRTX-PRO-6000", "8xB200", "2xSpark"

# Of all layers: bytes of a token through one direction, hops; tokens that share a link.
LLAMA_H, MIXTRAL_H, DEEPSEEK_H = 8192, 4096, 7168
BY_HAND: list[tuple[dict[str, Any], str, str, float, int, int]] = [
    # 80 layers, two all-reduces each: 2 * 3/4 * 8192 * 2 B and a ring of 6 hops over PCIe
    (LLAMA_70B, PRO, "TP4", 160 * 2 * 3 / 4 * 8192 * 2, 160 * 6, 32),
    # among pairs, 16 tokens at a time; one boundary of 2 * 8192 * 2 B
    (LLAMA_70B, PRO, "TP2+PP2", 160 * 8192 * 2 + 2 * 8192 * 2, 160 * 2 + 1, 16),
    (LLAMA_70B, PRO, "PP4", 3 * 2 * 8192 * 2, 3, 8),
    (LLAMA_70B, B200, "TP8", 160 * 2 * 7 / 8 * 8192 * 2, 160 * 2, 32),
    (LLAMA_70B, B200, "TP2+PP4", 160 * 8192 * 2 + 3 * 2 * 8192 * 2, 160 * 2 + 3, 8),
    (LLAMA_70B, SPARK, "TP2", 160 * 8192 * 2, 160 * 2, 32),
    (LLAMA_70B, SPARK, "PP2", 2 * 8192 * 2, 1, 16),
    # 8 experts on 4 GPUs, 2 chosen: C(6,2)/C(8,2) = 15/28, so 4 * 13/28 = 13/7 GPUs; BF16 both ways, 3/4 remote
    (MIXTRAL_8X7B, PRO, "EP4", 32 * 13 / 7 * (8192 + 8192) * 3 / 4, 32 * 2, 8),
    (MIXTRAL_8X7B, PRO, "TP4", 64 * 2 * 3 / 4 * 8192, 64 * 6, 32),
    # one expert a GPU: C(7,2)/C(8,2) = 3/4, so 8 * 1/4 = 2 GPUs
    (MIXTRAL_8X7B, B200, "EP8", 32 * 2 * (8192 + 8192) * 7 / 8, 32 * 2, 4),
    # four experts a GPU: C(4,2)/C(8,2) = 6/28, so 2 * 22/28 = 11/7 GPUs
    (MIXTRAL_8X7B, SPARK, "EP2", 32 * 11 / 7 * (8192 + 8192) / 2, 32 * 2, 16),
    # 64 experts a GPU: (192*...*185)/(256*...*249) = 0.09645, so 4 * 0.90355 = 3.6142 GPUs
    # FP8 out with 56 scales of 4 B, BF16 back: 7168 + 224 + 14336 = 21728 B a copy; 58 layers of 61
    (DEEPSEEK_V3, PRO, "EP4", 58 * 3.6142 * 21728 * 3 / 4, 58 * 2, 8),
    (DEEPSEEK_V3, B200, "EP8", 58 * 5.2947 * 21728 * 7 / 8, 58 * 2, 4),
    (DEEPSEEK_V3, B200, "TP8", 122 * 2 * 7 / 8 * 14336, 122 * 2, 32),
    (DEEPSEEK_V3, SPARK, "EP2", 58 * 1.9928 * 21728 / 2, 58 * 2, 16),
]
RATES = {PRO: (64e9, 5.7e-6), B200: (900e9, 3.4e-6), SPARK: (25e9, 9.6e-6)}


@pytest.mark.parametrize(("config", "gpus", "name", "amount", "hops", "at_once"), BY_HAND)
def test_the_link(config: dict[str, Any], gpus: str, name: str, amount: float, hops: int, at_once: int) -> None:
    found = row(compared(config, gpus), name)
    rate, latency = RATES[gpus]
    assert found.link_bytes_per_token == pytest.approx(amount, rel=2e-4)
    assert (found.link_hops, found.tokens_at_once) == (hops, at_once)
    assert found.link_seconds == pytest.approx(amount * at_once / rate + hops * latency, rel=2e-4)


GB = 1e9
LLAMA_EMBEDDING = 128256 * 8192 * 2 / GB  # 2.10
LLAMA = 70.5536 * 2  # billions of parameters, two bytes each
MIXTRAL_EXPERTS = 32 * 8 * 3 * 4096 * 14336 * 2 / GB  # 90.19
MIXTRAL_REST = 93.405 - MIXTRAL_EXPERTS  # 3.21, of which 0.26 embedding
ALL_TOUCHED = 1 - 0.75**32  # 32 tokens, 2 of 8 experts each


@pytest.mark.parametrize(
    ("config", "gpus", "name", "held", "read", "rate"),
    [
        (LLAMA_70B, PRO, "TP4", LLAMA / 4, (LLAMA - LLAMA_EMBEDDING) / 4, 1792),
        (LLAMA_70B, PRO, "PP4", (LLAMA - 2 * LLAMA_EMBEDDING) / 4 + LLAMA_EMBEDDING, LLAMA - LLAMA_EMBEDDING, 1792),
        (LLAMA_70B, SPARK, "TP2", LLAMA / 2, (LLAMA - LLAMA_EMBEDDING) / 2, 273),
        (LLAMA_70B, B200, "TP8", LLAMA / 8, (LLAMA - LLAMA_EMBEDDING) / 8, 8000),
        (
            MIXTRAL_8X7B,
            PRO,
            "EP4",
            MIXTRAL_REST + MIXTRAL_EXPERTS / 4,
            MIXTRAL_REST - 0.262 + ALL_TOUCHED * MIXTRAL_EXPERTS / 4,
            1792,
        ),
        # 671.03 billion of one byte; 1.85 of two at the ends; routers and scales
        (DEEPSEEK_V3, PRO, "TP4", 673.15 / 4, (673.15 - 1.853 - 0.363 * 656.5) / 4, 1792),
    ],
)
def test_the_weights(config: dict[str, Any], gpus: str, name: str, held: float, read: float, rate: float) -> None:
    found = row(compared(config, gpus), name)
    assert found.weight_bytes / GB == pytest.approx(held, rel=2e-3)
    assert found.weight_seconds == pytest.approx(read / rate, rel=5e-3)


@pytest.mark.parametrize(
    ("config", "gpus", "names", "best"),
    [
        (LLAMA_70B, PRO, ["TP4", "TP2+PP2", "PP4"], "TP4"),
        (LLAMA_70B, B200, ["TP8", "TP4+PP2", "TP2+PP4", "PP8"], "TP8"),
        (LLAMA_70B, SPARK, ["TP2", "PP2"], "TP2"),
        (MIXTRAL_8X7B, PRO, ["EP4", "TP4", "TP2+PP2", "PP4"], "EP4"),
        (MIXTRAL_8X7B, B200, ["TP8", "EP8", "TP4+PP2", "TP2+PP4", "PP8"], "TP8"),
        (MIXTRAL_8X7B, SPARK, ["TP2", "EP2", "PP2"], "TP2"),
        (DEEPSEEK_V3, PRO, ["TP4", "EP4", "TP2+PP2", "PP4"], None),  # 168 GB of 96 at least
        (DEEPSEEK_V3, B200, ["TP8", "EP8", "TP4+PP2", "TP2+PP4", "PP8"], "TP8"),
        (DEEPSEEK_V3, SPARK, ["TP2", "EP2", "PP2"], None),
    ],
)
def test_the_order(config: dict[str, Any], gpus: str, names: list[str], best: str | None) -> None:
    found = compared(config, gpus)
    assert [each.split.name for each in found.rows] == names
    assert (found.best.split.name if found.best else None) == best


def test_what_does_not_fit_is_not_better() -> None:
    found = compared(DEEPSEEK_V3, "3xB200")
    assert (found.best, found.stretches, [each.fits for each in found.rows]) == (None, (), [False])
    fits = compared(QWEN3_235B, "8xRTX-PRO-6000")  # 470 GB in all; attention and ends whole on each GPU with EP
    assert [each.fits for each in fits.rows] == sorted((each.fits for each in fits.rows), reverse=True)


def test_a_dense_model_has_no_experts_to_split() -> None:
    (refused,) = compared(LLAMA_70B, PRO).refused
    assert (refused.name, refused.reason) == ("EP4", "the model is dense: it has no experts to split")


@pytest.mark.parametrize(
    ("config", "gpus", "refused"),
    [
        (MIXTRAL_8X7B, "3xB200", {"EP3": "8 experts", "TP3": "32 attention heads"}),
        (MIXTRAL_8X7B, "64xB200", {"EP64": "8 experts", "TP64": "32 attention heads", "PP64": "32 layers"}),
    ],
)
def test_what_does_not_divide(config: dict[str, Any], gpus: str, refused: dict[str, str]) -> None:
    found = {each.name: each.reason for each in compared(config, gpus).refused}
    assert found.keys() == refused.keys()
    assert all(found[name].startswith(words) for name, words in refused.items())


def test_one_gpu() -> None:
    (only,) = compared(MIXTRAL_8X7B, "B200").rows
    assert (only.split.name, only.link_seconds, only.link_hops, only.fits) == ("one GPU", 0, 0, True)


@pytest.mark.parametrize(("copies", "number"), [("gpu", 13 / 7), ("expert", 2), ("all", 4)])
def test_copies_of_a_token(copies: str, number: float) -> None:
    found = row(compared(MIXTRAL_8X7B, PRO, replace(LOAD, copies=copies)), "EP4")
    assert found.link_bytes_per_token == pytest.approx(32 * number * 16384 * 3 / 4)
    assert found.link_hops == 32 * (6 if copies == "all" else 2)


def test_latency_is_what_is_given() -> None:
    assert row(compared(MIXTRAL_8X7B, PRO, latency=0), "EP4").link_seconds == pytest.approx(
        32 * 13 / 7 * 16384 * 3 / 4 * 8 / 64e9
    )


def test_the_busiest_gpu_reads_one_expert_at_least() -> None:
    """One token chooses 2 of 8 experts: a quarter of one on each of 8 GPUs on average, a whole one on two."""
    one = replace(LOAD, tokens=1)
    found = row(compared(MIXTRAL_8X7B, B200, one), "EP8")
    assert found.weight_seconds == pytest.approx((MIXTRAL_REST - 0.262 + MIXTRAL_EXPERTS / 8) / 8000, rel=2e-3)


def test_the_best_by_tokens_covers_what_was_looked_at() -> None:
    found = compared(DEEPSEEK_V3, B200).stretches
    assert (found[0].first, found[0].name, found[-1].last, found[-1].name) == (1, "TP8", 16384, "EP8")
    assert all(later.first == 2 * former.last for former, later in pairwise(found))


def test_what_is_unverified_is_told() -> None:
    assert sum(each.startswith("unverified") for each in compared(LLAMA_70B, SPARK).remarks) == 2
    assert not [each for each in compared(LLAMA_70B, PRO).remarks if each.startswith("unverified")]


def test_how_tokens_are_exchanged_is_told() -> None:
    for gpus, words in ((PRO, "atomics"), (SPARK, "RDMA"), (B200, "")):
        told = [each for each in compared(MIXTRAL_8X7B, gpus).remarks if each.startswith("EP over")]
        assert bool(told) == bool(words) and all(words in each for each in told)
    assert not [each for each in compared(LLAMA_70B, PRO).remarks if each.startswith("EP over")]


def test_without_access_to_a_peer_copies_go_through_the_host() -> None:
    assert any("through the host" in each for each in compared(LLAMA_70B, "8x5090").remarks)


@pytest.mark.parametrize(
    ("text", "gpus", "product", "link"),
    [
        ("4xRTX-PRO-6000", 4, "RTX PRO 6000", "pcie5x16"),
        ("4x RTX PRO 6000 Blackwell", 4, "RTX PRO 6000", "pcie5x16"),
        ("8xB200", 8, "B200", "nvlink5"),
        ("8 x b200", 8, "B200", "nvlink5"),
        ("2xGB10", 2, "GB10", "cx7-200"),
        ("2xSpark", 2, "GB10", "cx7-200"),
        ("2xDGX-Spark", 2, "GB10", "cx7-200"),
        ("5090", 1, "RTX 5090", "pcie5x16"),
        ("2XRTX5090", 2, "RTX 5090", "pcie5x16"),
        ("8*H100", 8, "H100", "nvlink4"),
        ("4xH100-PCIe", 4, "H100 PCIe", "pcie5x16"),
        ("8xA100", 8, "A100", "nvlink3"),
        ("2xL40S", 2, "L40S", "pcie4x16"),
        ("2\u00d74090", 2, "RTX 4090", "pcie4x16"),
    ],
)
def test_names_that_people_use(text: str, gpus: int, product: str, link: str) -> None:
    found = machine(text, None, None)
    assert (found.gpus, found.product.name, found.link.name) == (gpus, product, link)
    assert found.latency_us == found.link.latency_us


@pytest.mark.parametrize(
    ("gpus", "link", "words"),
    [
        ("4xRTX-PRO-600", None, "did you mean RTX PRO 6000?"),
        ("8xB20", None, "did you mean B200?"),
        ("2xSprak", None, "did you mean GB10?"),
        ("4x5009", None, "did you mean RTX 5090?"),
        ("8xTPU", None, "known are RTX PRO 6000"),
        ("8xB200", "nvlnk5", "did you mean nvlink5?"),
        ("8xB200", "pcie6", "did you mean pcie"),
        ("4xRTX-PRO-6000", "nvlink5", "bwlint knows no NVLink 5 for RTX PRO 6000: its links are pcie5x16"),
        ("2x4090", "pcie5x16", "bwlint knows no PCIe 5.0 x16 for RTX 4090"),
        ("0xB200", None, "0 GPUs"),
        ("999999999xB200", None, "from 1 to 1024"),
        ("9999999999xB200", None, "unknown GPU"),
        ("", None, "name the GPUs"),
        ("4x", None, "unknown GPU"),
        ("x" * 100_000, None, "unknown GPU"),
    ],
)
def test_near_misses(gpus: str, link: str | None, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        machine(gpus, link, None)
    assert words in str(raised.value)
    assert len(str(raised.value)) < 400


def test_a_network_joins_any() -> None:
    assert machine("2xB200", "cx7-200", 4.0).latency_us == 4.0


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("pcie5x16", 64),
        ("pcie4x16", 32),
        ("pcie5x8", 32),
        ("nvlink5", 900),
        ("nvlink4", 450),
        ("nvlink3", 300),
        ("cx7-200", 25),
    ],
)
def test_rates_are_those_of_one_direction(name: str, rate: float) -> None:
    assert next(link.gb_per_s for link in links() if link.name == name) == rate


def test_rows_fit_together() -> None:
    assert {product.chip for product in products()} <= {chip.name for chip in all_chips()}
    assert {name for product in products() for name in product.links} <= {link.name for link in links()}
    for product in products():
        known = (product.memory_gb, product.memory_gb_per_s, product.peer)
        assert all(known) if product.links else not any(known), product.name
