"""PTX as a whole: which version a target needs, and how much shared memory is static.

The numbers are measured with ptxas and stand in ptx.toml.
"""

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
    """The most static shared memory of a kernel in bytes; None where ptxas does not know the target.

    It depends on the suffix, and on the CUDA version: before 13.0 it is 48 KiB for all. None assumes 13.0 or newer.
    """
    row = _rows().get(target)
    if toolkit is not None and toolkit < (13, 0):
        return 48 * 1024
    return None if row is None else int(row["shared"])
