"""PTX as a whole, measured with ptxas (ptx.toml): which version a target needs, how much static shared memory."""

from __future__ import annotations

from functools import cache
from typing import Any

from bwlint.chips.targets import Target
from bwlint.data import table

Version = tuple[int, int]


@cache
def _rows() -> dict[Target, dict[str, Any]]:
    return {Target.parse(name): row for name, row in table("ptx")["target"].items()}


def first_isa(target: Target) -> Version | None:
    """The lowest `.version` of PTX that names the target: (8, 7) for sm_120. None where ptxas does not know it."""
    row = _rows().get(target)
    if row is None:
        return None
    major, minor = row["isa"].split(".")
    return int(major), int(minor)


def static_shared(target: Target, toolkit: Version | None = None) -> int | None:
    """The most static shared memory of a kernel in bytes, by target and CUDA version; None: ptxas does not know it."""
    row = _rows().get(target)
    if toolkit is not None and toolkit < (13, 0):
        return 48 * 1024
    return None if row is None else int(row["shared"])
