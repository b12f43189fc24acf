"""The edited file as a proof reads it, parsed once for all proofs of the same text."""

from __future__ import annotations

from bwlint.model.facts import Gate, Module, Operation
from bwlint.readers import again

MOST_KEPT = 8
"""Texts of which the facts are kept: a place is proved, then judged together with others, in turns."""
_kept: dict[tuple[int, str], tuple[Module, Module]] = {}


def outline(fact: Gate | Operation) -> tuple[str, str, str]:
    """By what a fact is known again in a file that was edited."""
    return fact.kind, fact.qualname, fact.name


def edited(module: Module, text: str) -> Module:
    """The facts of a file in another state. Raises `ReadError`."""
    key = id(module), text
    known = _kept.pop(key, None) or (module, again(module, text))
    _kept[key] = known  # the last one now; with who it was, so that nobody else gets its number
    if len(_kept) > MOST_KEPT:
        del _kept[next(iter(_kept))]
    return known[1]
