"""Macros that programmatic dependent launch needs: how such kernels wait, and what launches them (macros.toml)."""

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
    return frozenset(row["macro"] for row in table("macros")["switch"])


@cache
def macros_of_projects() -> frozenset[str]:
    """Those that count where a file defines them: the others are defined by the library's own header."""
    return frozenset(row["macro"] for row in table("macros")["switch"] if not row.get("by_header"))


def left_by(helper: str, defined: frozenset[str]) -> TargetSet:
    """The targets for which something is left of a helper in a build that sets some macros."""
    found = NO_TARGET
    for one in switches(helper):
        if one.macro in defined:
            found |= one.targets
    return found


@cache
def waits() -> frozenset[str]:
    """What keeps a kernel that may begin early from reading too early, in PTX and CUDA C++."""
    return frozenset(name for row in table("macros")["wait"] for name in row["names"])


@dataclass(frozen=True, slots=True)
class EarlyLaunch:
    """A member of a library's class that launches early where its last argument is true; `arguments`: their number."""

    library: str
    member: str
    arguments: frozenset[int]


@cache
def early_launches() -> tuple[EarlyLaunch, ...]:
    rows = table("macros")["early_launch"]
    return tuple(EarlyLaunch(row["library"], row["member"], frozenset(row["arguments"])) for row in rows)


@cache
def _rows() -> Mapping[str, tuple[Switch, ...]]:
    found: dict[str, tuple[Switch, ...]] = {}
    for row in table("macros")["switch"]:
        since = tuple(sorted(row.get("since", {}).items()))
        one = Switch(row["macro"], TargetSet.of(*row["targets"]), since)
        for helper in row["helpers"]:
            found[helper] = (*found.get(helper, ()), one)
    return MappingProxyType(found)
