"""The rows of devices.toml against values measured or read elsewhere."""

from __future__ import annotations

import pytest

from bwlint.chips import Chip, all_chips, chip, hypothetical_chips, sold_chips
from bwlint.chips.devices import chip_of_number
from bwlint.data import table

NAMES = "7.0 7.2 7.5 8.0 8.6 8.7 8.8 8.9 9.0 10.0 10.1 10.3 10.7 11.0 12.0 12.1"

# Opt-in shared memory a block, shared memory an SM (bytes), threads, warps, blocks an SM, cluster portable
# and opt-in (0 none, None not known), TMEM an SM (bytes). From deviceQuery, cuda_occupancy.h, ptxas probes.
LIMITS = {
    "8.9": (101376, 102400, 1536, 48, 24, 0, 0, 0),
    "9.0": (232448, 233472, 2048, 64, 32, 8, 16, 0),
    "10.0": (232448, 233472, 2048, 64, 32, 8, 16, 262144),
    "10.3": (232448, 233472, 2048, 64, 32, 8, 16, 262144),
    "11.0": (232448, 233472, 1536, 48, 24, 8, None, 262144),
    "12.0": (101376, 102400, 1536, 48, 24, 8, None, 0),
    "12.1": (101376, 102400, 1536, 48, 24, 8, None, 0),
}

OPTIN_BYTES = {
    "7.0": 98304,
    "7.2": 98304,
    "7.5": 65536,
    "8.0": 166912,
    "8.6": 101376,
    "8.7": 166912,
    "8.8": 101376,
    "10.1": 232448,
    "10.7": 232448,
}

MIN_CUDA = {
    "10.0": "12.8",
    "10.1": "12.8",
    "12.0": "12.8",
    "10.3": "12.9",
    "12.1": "12.9",
    "11.0": "13.0",
}


def test_sixteen_chips_in_ascending_order() -> None:
    assert " ".join(each.name for each in all_chips()) == NAMES
    numbers = [each.joined for each in all_chips()]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(("name", "limits"), LIMITS.items())
def test_limits(name: str, limits: tuple[int | None, ...]) -> None:
    found = chip(name)
    assert limits == (
        found.smem_per_block_optin,
        found.smem_per_sm,
        found.max_threads_per_sm,
        found.max_warps_per_sm,
        found.max_blocks_per_sm,
        found.cluster_portable,
        found.cluster_optin,
        found.tmem_per_sm,
    )
    assert found.smem_per_block_default == 49152
    assert found.smem_reserved == 1024


@pytest.mark.parametrize(("name", "size"), OPTIN_BYTES.items())
def test_optin_shared_memory(name: str, size: int) -> None:
    assert chip(name).smem_per_block_optin == size


@pytest.mark.parametrize(("name", "version"), MIN_CUDA.items())
def test_first_toolkit(name: str, version: str) -> None:
    assert chip(name).min_cuda == version


@pytest.mark.parametrize("each", all_chips(), ids=str)
def test_numbers_of_a_row_agree(each: Chip) -> None:
    assert (each.major, each.minor) == (each.joined // 10, each.joined % 10)
    assert chip_of_number(each.joined) is each
    if each.max_threads_per_sm and each.max_warps_per_sm:
        assert each.max_threads_per_sm == 32 * each.max_warps_per_sm
    if each.smem_per_sm and each.smem_per_block_optin and each.smem_reserved is not None:
        assert each.smem_per_sm == each.smem_per_block_optin + each.smem_reserved


@pytest.mark.parametrize("each", all_chips(), ids=str)
def test_every_claim_has_a_source(each: Chip) -> None:
    claims = {"shared", "threads", "cluster", "tmem", "min_cuda"}
    if each.products:
        claims.add("products")
    if each.family:
        claims.add("family")
    if each.tegra:
        claims.add("tegra")
    assert set(each.source) == claims
    kinds = ("assembled:", "run:", "read:", "reported:", "documented:")
    texts = (table("devices")["sources"][key] for keys in each.source.values() for key in keys.split())
    assert all(text.startswith(kinds) for text in texts)


def test_hypothetical_chips_are_shown_only() -> None:
    assert [each.name for each in hypothetical_chips()] == ["12.x-next", "13.0"]
    assert all(each.hypothetical for each in hypothetical_chips())
    assert not any(each.hypothetical for each in all_chips())
    assert chip_of_number(130) is None


@pytest.mark.parametrize("name", ["13.0", "12.x-next", "6.1", "", "120"])
def test_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"knows those from 7\.0 to 12\.1"):
        chip(name)


def test_sold_chips() -> None:
    names = " ".join(each.name for each in sold_chips())
    assert names == "7.0 7.2 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.3 10.7 11.0 12.0 12.1"
