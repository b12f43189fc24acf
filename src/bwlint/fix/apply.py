"""Edits on a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bwlint.model.findings import Edit
from bwlint.sources.read import SourceText


def apply(source: str, edits: Iterable[Edit]) -> str:
    """`source` after edits of one file. Of two that overlap the first wins, the other has to wait."""
    pieces: list[str] = []
    position = 0
    for start, end, text in _in_order(SourceText(source), edits):
        pieces += [source[position:start], text]
        position = end
    return "".join([*pieces, source[position:]])


def _in_order(text: SourceText, edits: Iterable[Edit]) -> Iterator[tuple[int, int, str]]:
    places = {(*text.bounds(edit.region), edit.text) for edit in edits}
    last = -1
    for start, end, new in sorted(places):
        # two insertions at one place, or one at the end of a replacement, have no order of their own
        if start < last or start == end == last:
            continue
        yield start, end, new
        last = end
