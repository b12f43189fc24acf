from __future__ import annotations

import pytest

from bwlint.chips.devices import all_chips
from bwlint.chips.links import links
from bwlint.chips.products import products
from bwlint.plan.machine import machine
from bwlint.settings.config import UsageError


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
