"""The compute capabilities as rows of data (devices.toml), each claim with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bwlint.data import table


@dataclass(frozen=True, slots=True)
class Chip:
    """One compute capability with its limits. Sizes are bytes; 0 is "has none", None is "not known"."""

    name: str
    major: int
    minor: int
    generation: str
    products: tuple[str, ...] = ()
    card: str = ""
    """Under which of its products most people have it, where that is not the first."""
    family: str | None = None
    suffixes: tuple[str, ...] = ()
    renamed_to: str | None = None
    hypothetical: bool = False
    note: str | None = None
    tegra: bool = False
    smem_per_block_optin: int | None = None
    smem_per_block_default: int | None = None
    smem_per_sm: int | None = None
    smem_reserved: int | None = None
    max_threads_per_sm: int | None = None
    max_warps_per_sm: int | None = None
    max_blocks_per_sm: int | None = None
    cluster_portable: int | None = None
    cluster_optin: int | None = None
    tmem_per_sm: int | None = None
    min_cuda: str | None = None
    source: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def joined(self) -> int:
        """The capability as joined digits: 120 for 12.0."""
        return self.major * 10 + self.minor

    def __str__(self) -> str:
        return self.name


@cache
def all_chips() -> tuple[Chip, ...]:
    """Every chip that is judged, in ascending order."""
    return tuple(_chip(row) for row in _table()["chip"])


@cache
def sold_chips() -> tuple[Chip, ...]:
    """Those that stand for a product under their present name: the columns of a table that is for users."""
    return tuple(chip for chip in all_chips() if chip.products and not chip.renamed_to)


@cache
def hypothetical_chips() -> tuple[Chip, ...]:
    """Chips that can be shown and judge nothing."""
    return tuple(_chip(row, hypothetical=True) for row in _table()["hypothetical"])


@cache
def _by_name() -> dict[str, Chip]:
    return {chip.name: chip for chip in all_chips()}


def chip(name: str) -> Chip:
    """The chip of a name such as "12.0"; raises `ValueError` for any other."""
    found = _by_name().get(name)
    if found is None:
        first, last = all_chips()[0], all_chips()[-1]
        raise ValueError(f"unknown compute capability {name!r}: bwlint knows those from {first} to {last}")
    return found


def chip_of_number(joined: int) -> Chip | None:
    """The chip with these joined digits (120 is 12.0), or None."""
    return _by_name().get(f"{joined // 10}.{joined % 10}")


@cache
def _table() -> dict[str, Any]:
    return table("devices")


def _chip(row: dict[str, Any], *, hypothetical: bool = False) -> Chip:
    fields = dict(row, hypothetical=hypothetical)
    if not hypothetical:
        major, minor = row["name"].split(".")
        fields |= {"major": int(major), "minor": int(minor)}
    for key in ("products", "suffixes"):
        fields[key] = tuple(row.get(key, ()))
    return Chip(**fields)
