"""Releases of CUDA, the PTX that they know and the Linux drivers (x86_64) that go with them (drivers.toml)."""

from __future__ import annotations

from functools import cache
from typing import Any

from bwlint.chips.devices import Chip
from bwlint.data import table

Version = tuple[int, int]


def toolkit_of_isa(isa: Version) -> str | None:
    """The first release of CUDA that knows this version of PTX: (9, 0) came with "13.0". None: not known."""
    row = _by_isa().get(isa)
    return None if row is None else str(row["cuda"])


def driver_for_jit(isa: Version) -> str | None:
    """The first driver whose compiler knows this version of PTX, or None where that is not known."""
    row = _by_isa().get(isa)
    return None if row is None else row.get("driver")


def driver_for_cubin(toolkit: Version) -> str | None:
    """The first driver that runs cubins of this release of CUDA, or None where that is not known.

    From CUDA 11 on every driver of a major version runs the cubins of all its minor versions.
    """
    for row in table("drivers")["compatible"]:
        if _numbers(row["first"]) <= toolkit < _numbers(row["below"]):
            return str(row["driver"])
    exact = {_numbers(row["cuda"]): row.get("driver") for row in table("drivers")["release"]}
    return exact.get(toolkit)


def driver_for_chip(chip: Chip) -> str | None:
    """The driver of the first release of CUDA that knows a chip, or None where that is not known."""
    return next((row.get("driver") for row in table("drivers")["release"] if row["cuda"] == chip.min_cuda), None)


def minimum(*drivers: str | None) -> str | None:
    """The first driver that is enough for all of these: the newest; None where none of them is known."""
    return max((driver for driver in drivers if driver), key=_numbers, default=None)


@cache
def _by_isa() -> dict[tuple[int, ...], dict[str, Any]]:
    """The first release of each PTX version."""
    rows: dict[tuple[int, ...], dict[str, Any]] = {}
    for row in table("drivers")["release"]:
        rows.setdefault(_numbers(row["isa"]), row)
    return rows


def newer(driver: str, other: str) -> bool:
    """Whether a driver is newer than another."""
    return _numbers(driver) > _numbers(other)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
