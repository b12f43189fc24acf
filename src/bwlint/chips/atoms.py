"""Names that stand for instructions in template libraries (atoms.toml), and where those assemble."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from bwlint.chips.targetset import NO_TARGET, TargetSet
from bwlint.data import table


@dataclass(frozen=True, slots=True)
class Atom:
    """Targets that assemble it and that are slow, and the source; what `traps` compiles to an assertion elsewhere."""

    group: str
    legal: TargetSet
    slow: TargetSet
    what: str
    source: str
    traps: bool = False


_LONGEST = 100
"""Characters of a name on each side of what gives it away."""


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
                traps=row.get("traps", False),
            ),
        )
        for row in table("atoms")["atom"]
    )


@cache
def atom(name: str) -> Atom | None:
    """The atom of a name, or None where the table does not know it."""
    return next((found for pattern, found in _rows() if pattern.fullmatch(name)), None)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    rows = table("atoms")["atom"]
    names = "|".join(f"(?:{row['name']})" for row in rows)
    hints = "|".join(row["hint"] for row in rows)
    around = "|".join(table("atoms")["namespaces"])
    return re.compile(hints), re.compile(rf"(?:(?:{around})::)*({names})(?!\w)")


def is_builder(name: str) -> bool:
    """Whether a dotted name is that of a builder of kernels."""
    row = table("atoms")["collective"]
    *around, last = name.split(".")
    return last == row["builder"] and row["no_kernel"] not in around


def runs_everywhere(operator: str) -> bool:
    """Whether what a builder makes for a class of operators (`OpClassSimt`) needs no architecture of its own."""
    return bool(operator == table("atoms")["collective"]["everywhere"])


@cache
def builder(tag: str) -> Atom | None:
    """What CUTLASS's collective builder makes for an architecture (`Sm90`); None where it runs on all chips."""
    row = next((row for row in table("atoms")["builder"] if row["tag"] == tag), None)
    if row is None:
        return None
    return Atom("builder", TargetSet.of(*row["legal"].split()), NO_TARGET, row["what"], row["source"])


def find(text: str) -> Iterator[tuple[str, int, int]]:
    """The names of atoms in a text, with where they begin and end."""
    hint, name = _patterns()
    done = 0
    for match in hint.finditer(text):
        start, least = match.start(), max(done, match.start() - _LONGEST)
        while start > least and (text[start - 1].isalnum() or text[start - 1] in "_:"):
            start -= 1
        end = match.end() + _LONGEST
        found = name.match(text, start, end + 1)
        if found is not None and done < found.end() <= end:
            done = found.end()
            yield found[1], found.start(1), done
