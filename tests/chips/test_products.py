from __future__ import annotations

import pytest

from bwlint.chips import all_chips, chip
from bwlint.chips.products import card, cards


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("12.0", (), "RTX 5090 (12.0)"),
        ("12.1", (), "DGX Spark (GB10, 12.1)"),
        ("12.1", ("spark",), "DGX Spark (GB10, 12.1)"),
        ("12.1", ("gb10",), "GB10 (12.1)"),
        ("12.1", ("sm_121a",), "DGX Spark (GB10, 12.1)"),
        ("12.1", ("5090",), "DGX Spark (GB10, 12.1)"),
        ("12.0", ("5090",), "RTX 5090 (12.0)"),
        ("12.0", ("pro-6000",), "RTX PRO 6000 (12.0)"),
        ("12.0", ("RTX PRO 6000 Max-Q",), "RTX PRO 6000 (12.0)"),
        ("12.0", ("5080",), "RTX 5080 (12.0)"),
        ("12.0", ("5060",), "RTX 5060 (12.0)"),
        ("12.0", ("RTX 5050",), "RTX 5050 (12.0)"),
        ("12.0", ("pro-6000,spark", "5090"), "RTX PRO 6000 / RTX 5090 (12.0)"),
        ("12.0", ("120", "sm_120"), "RTX 5090 (12.0)"),
        ("10.0", ("b200",), "B200 (10.0)"),
        ("8.8", (), "8.8"),
    ],
)
def test_a_chip_by_its_product(name: str, said: tuple[str, ...], expected: str) -> None:
    assert card(chip(name), said) == expected


def test_the_product_that_people_name_is_one_of_its_chip() -> None:
    assert [one.name for one in all_chips() if one.card and one.card not in one.products[1:]] == []


@pytest.mark.parametrize(
    ("chips", "expected"),
    [
        (("12.0",), "RTX 5090 (12.0)"),
        (("12.0", "12.1"), "RTX 5090 (12.0) and DGX Spark (GB10, 12.1)"),
        (("10.0", "12.0", "12.1"), "B200 (10.0), RTX 5090 (12.0) and DGX Spark (GB10, 12.1)"),
    ],
)
def test_chips_in_a_sentence(chips: tuple[str, ...], expected: str) -> None:
    assert cards(chips) == expected
