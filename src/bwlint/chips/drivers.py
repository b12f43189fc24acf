"""Releases of CUDA, the PTX that they know and the drivers (x86_64) that go with them (drivers.toml)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from bwlint.chips.devices import Chip
from bwlint.chips.toolkits import version
from bwlint.data import table

Version = tuple[int, int]
System = Literal["linux", "windows"]

_KEYS: dict[System, str] = {"linux": "driver", "windows": "windows"}


def toolkit_of_isa(isa: Version) -> str | None:
    """The first release of CUDA that knows this version of PTX: (9, 0) came with "13.0". None: not known."""
    row = _by_isa().get(isa)
    return None if row is None else str(row["cuda"])


def driver_for_jit(isa: Version, system: System = "linux") -> str | None:
    """The first driver whose compiler knows this version of PTX, or None where that is not known."""
    row = _by_isa().get(isa)
    return None if row is None else _of(row, system)


def driver_for_cubin(toolkit: Version, system: System = "linux") -> str | None:
    """The first driver that runs cubins of a release (from CUDA 11 on of its major version), None where unknown."""
    for row in table("drivers")["compatible"]:
        if version(row["first"]) <= toolkit < version(row["below"]):
            return _of(row, system)
    return next((_of(row, system) for row in _releases() if version(row["cuda"]) == toolkit), None)


def driver_for_chip(chip: Chip, system: System = "linux") -> str | None:
    """The driver of the first release of CUDA that knows a chip, or None where that is not known."""
    return next((_of(row, system) for row in _releases() if row["cuda"] == chip.min_cuda), None)


def jit_seconds(size: int) -> tuple[float, float]:
    """How long a driver's compiler takes for so many bytes of PTX, about: seconds of one core, from and to."""
    row = table("drivers")["jit"]
    return size * row["least"], size * row["most"]


def minimum(*drivers: str | None) -> str | None:
    """The first driver that is enough for all of these: the newest; None where one of them is not known."""
    known = [driver for driver in drivers if driver]
    return max(known, key=version, default=None) if len(known) == len(drivers) else None


@cache
def _by_isa() -> dict[tuple[int, ...], Mapping[str, str]]:
    """The first release of each PTX version."""
    rows: dict[tuple[int, ...], Mapping[str, str]] = {}
    for row in _releases():
        rows.setdefault(version(row["isa"]), row)
    return rows


def _releases() -> Sequence[Mapping[str, str]]:
    found: Sequence[Mapping[str, str]] = table("drivers")["release"]
    return found


def _of(row: Mapping[str, str], system: System) -> str | None:
    return row.get(_KEYS[system])
