"""Names that stand for instructions in template libraries (atoms.toml), and where those assemble."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bwlint.chips.targetset import NO_TARGET, TargetSet
from bwlint.data import table


@dataclass(frozen=True, slots=True)
class Atom:
    """One row: the targets on which it assembles, those of them with a slow path, and where that was read."""

    group: str
    legal: TargetSet
    slow: TargetSet
    what: str
    source: str


@cache
def _rows() -> tuple[tuple[re.Pattern[str], Atom], ...]:
    return tuple(
        (
            re.compile(row["name"]),
            Atom(
                row["group"],
                TargetSet.of(*row["legal"].split()),
                TargetSet.of(*row["slow"].split()) if "slow" in row else NO_TARGET,
                row["what"],
                row["source"],
            ),
        )
        for row in table("atoms")["atom"]
    )


@cache
def atom(name: str) -> Atom | None:
    """The atom of a name, or None where the table does not know it."""
    return next((found for pattern, found in _rows() if pattern.fullmatch(name)), None)


@cache
def pattern() -> re.Pattern[str]:
    """Finds the names of atoms in a text."""
    names = "|".join(f"(?:{row['name']})" for row in table("atoms")["atom"])
    return re.compile(rf"(?<![\w:])(?:cute::|cutlass::|arch::)*({names})(?!\w)")
