"""The weights that rank the rows of `bwlint audit` (suspicion.toml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bwlint.data import table


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`points` for a question with the mark `name`; `says` completes "it ...", `source` are the counts behind it."""

    name: str
    points: int
    says: str
    source: str


@cache
def weights() -> dict[str, Suspicion]:
    rows = table("suspicion")["weight"]
    return {row["name"]: Suspicion(row["name"], row["points"], row["says"], row["source"]) for row in rows}
