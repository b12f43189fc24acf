"""The weights that rank the rows of `bwlint audit` (suspicion.toml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bwlint.data import made, table


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`points` for a question with the mark `name`; `says` completes "it ...", `source` are the counts behind it."""

    name: str
    points: int
    says: str
    source: str


@cache
def weights() -> dict[str, Suspicion]:
    return {row["name"]: made(Suspicion, row) for row in table("suspicion")["weight"]}
