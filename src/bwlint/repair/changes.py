"""Combine edits of one text: detect conflicts, and merge several rounds into one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.model.findings import Edit
from bwlint.sources.read import SourceText, replaced


@dataclass(frozen=True, slots=True, order=True)
class TextChange:
    """Put `text` in place of what stands between two offsets (code points, half open)."""

    start: int
    end: int
    text: str

    @classmethod
    def of(cls, edit: Edit, text: SourceText) -> TextChange:
        start, end = text.bounds(edit.region)
        return cls(start, max(start, end), edit.text)

    @property
    def growth(self) -> int:
        return len(self.text) - (self.end - self.start)


@dataclass(slots=True)
class Changes:
    """Changes of one text that get on with each other, in order."""

    kept: list[TextChange] = field(default_factory=list)

    def takes(self, change: TextChange) -> bool:
        """Whether nothing here stands in the way of `change`. The same change once more never does."""
        at = bisect_left(self.kept, change)
        if at < len(self.kept) and self.kept[at] == change:
            return True
        return not any(_collide(other, change) for other in self.kept[max(at - 1, 0) : at + 1])

    def add(self, change: TextChange) -> None:
        at = bisect_left(self.kept, change)
        if at == len(self.kept) or self.kept[at] != change:
            insort(self.kept, change)


def _collide(one: TextChange, other: TextChange) -> bool:
    if one.start == one.end or other.start == other.end:
        # two insertions at one place have no order, nor have one and what is replaced right beside it
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def get_on(changes: Iterable[TextChange]) -> bool:
    """Whether changes of one text can all be made."""
    kept = Changes()
    for change in changes:
        if not kept.takes(change):
            return False
        kept.add(change)
    return True


def changed(source: str, changes: Iterable[TextChange]) -> str:
    """`source` after changes that are in order and get on."""
    return replaced(source, ((change.start, change.end, change.text) for change in changes))


def moved(offset: int, changes: Iterable[TextChange]) -> int:
    """Where a place stands after changes; what was replaced is where its replacement begins."""
    growth = 0
    for change in changes:
        if change.start > offset or change.start == offset < change.end:
            break
        if offset < change.end:
            return change.start + growth
        growth += change.growth
    return offset + growth


def origin(start: int, end: int, changes: Sequence[TextChange]) -> tuple[int, int]:
    """The stretch of the first text from which a stretch of the text after `changes` came."""
    return _back(start, changes, at_end=False), _back(end, changes, at_end=True)


def _back(offset: int, changes: Sequence[TextChange], *, at_end: bool) -> int:
    growth = 0
    for begins, ends, change in _placed(changes):
        if offset < begins:
            break
        if offset <= ends:
            return change.end if at_end else change.start
        growth += change.growth
    return offset - growth


def combined(source: str, first: Sequence[TextChange], second: Sequence[TextChange]) -> tuple[TextChange, ...]:
    """`first` on `source`, then `second` on what came of it, as changes of `source`."""
    between = changed(source, first)
    return tuple(_merged(between, _placed(first), [(c.start, c.end, c) for c in second]))


def _placed(first: Sequence[TextChange]) -> list[tuple[int, int, TextChange]]:
    """Each change with the stretch that its text takes afterwards."""
    placed, growth = [], 0
    for change in first:
        begins = change.start + growth
        placed.append((begins, begins + len(change.text), change))
        growth += change.growth
    return placed


def _merged(
    between: str, first: list[tuple[int, int, TextChange]], second: list[tuple[int, int, TextChange]]
) -> Iterator[TextChange]:
    """Changes that touch in the text between the two rounds become one."""
    growth = 0
    for start, end, ours, theirs in _groups(first, second):
        opening = start - growth
        growth += sum(change.growth for change in ours)
        shifted = [TextChange(c.start - start, c.end - start, c.text) for c in theirs]
        yield TextChange(opening, end - growth, changed(between[start:end], shifted))


def _groups(
    first: list[tuple[int, int, TextChange]], second: list[tuple[int, int, TextChange]]
) -> Iterator[tuple[int, int, list[TextChange], list[TextChange]]]:
    entries = sorted([(*entry, True) for entry in first] + [(*entry, False) for entry in second])
    start, end = -1, -1
    ours: list[TextChange] = []
    theirs: list[TextChange] = []
    for begins, ends, change, is_first in entries:
        if begins > end and (ours or theirs):
            yield start, end, ours, theirs
            ours, theirs = [], []
        if not (ours or theirs):
            start, end = begins, ends
        end = max(end, ends)
        (ours if is_first else theirs).append(change)
    if ours or theirs:
        yield start, end, ours, theirs
