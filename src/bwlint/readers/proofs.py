"""Which questions about a pair of GPUs a stretch of code asks, and which path needs which: see chips/peers.toml."""

from __future__ import annotations

import re
from functools import cache

from bwlint.data import table


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((row["kind"], re.compile(row["name"])) for row in table("peers")["proof"])


@cache
def _needed() -> dict[str, frozenset[str]]:
    return {row["name"]: frozenset(row["proofs"]) for row in table("peers")["path"]}


def proofs(code: str) -> frozenset[str]:
    """The kinds of proof that a text names. Comments and messages should be taken out of it before."""
    return frozenset(kind for kind, pattern in _patterns() if pattern.search(code))


def proved(path: str, found: frozenset[str]) -> bool:
    """Whether one of the kinds shows that a path works."""
    return not found.isdisjoint(_needed()[path])
