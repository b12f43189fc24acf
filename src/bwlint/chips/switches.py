"""Helpers of libraries that compile to nothing unless a build sets a macro for them (macros.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from bwlint.chips.targetset import NO_TARGET, TargetSet
from bwlint.data import table


@dataclass(frozen=True, slots=True)
class Switch:
    """A macro, the targets on which it leaves something of the helpers, and the first release for each chip."""

    macro: str
    targets: TargetSet
    since: tuple[tuple[str, str], ...] = ()


@cache
def switches(helper: str) -> tuple[Switch, ...]:
    """The macros one of which a helper needs; none where it needs none."""
    return _rows().get(helper, ())


@cache
def macros() -> frozenset[str]:
    """All of them."""
    return frozenset(one.macro for rows in _rows().values() for one in rows)


def left_by(helper: str, defined: frozenset[str]) -> TargetSet:
    """The targets for which something is left of a helper in a build that sets some macros."""
    found = NO_TARGET
    for one in switches(helper):
        if one.macro in defined:
            found |= one.targets
    return found


@cache
def _rows() -> Mapping[str, tuple[Switch, ...]]:
    found: dict[str, tuple[Switch, ...]] = {}
    for row in table("macros")["switch"]:
        since = tuple(sorted(row.get("since", {}).items()))
        one = Switch(row["macro"], TargetSet.of(*row["targets"]), since)
        for helper in row["helpers"]:
            found[helper] = (*found.get(helper, ()), one)
    return MappingProxyType(found)
