"""Named sets of chips (groups.toml), for rules to speak of."""

from __future__ import annotations

from functools import cache

from bwlint.chips.chipset import ChipSet
from bwlint.data import table


@cache
def group(name: str) -> ChipSet:
    """The chips of a group; raises KeyError for a name that the table lacks."""
    return ChipSet.of(*table("groups")["group"][name]["chips"])
