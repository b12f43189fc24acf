"""Edits on a text, and the edited file as a proof reads it, parsed once for all proofs of the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bwlint.model.facts import Gate, Module, Operation
from bwlint.model.findings import Edit
from bwlint.readers import again
from bwlint.sources.read import SourceText, replaced

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


def apply(source: str, edits: Iterable[Edit]) -> str:
    """`source` after edits of one file. Of two that overlap the first wins, the other has to wait."""
    return replaced(source, _in_order(SourceText(source), edits))


def _in_order(text: SourceText, edits: Iterable[Edit]) -> Iterator[tuple[int, int, str]]:
    places = {(*text.bounds(edit.region), edit.text) for edit in edits}
    last = -1
    for start, end, new in sorted(places):
        # two insertions at one place, or one at the end of a replacement, have no order of their own
        if start < last or start == end == last:
            continue
        yield start, end, new
        last = end
