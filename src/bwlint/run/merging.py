"""Merge drafts about the same check into one finding with related places, and those of byte-identical files; drop what
is about chips that never reach the place.

Gates of different files are left apart, even where one leads to the other: each is wrong by itself and mended by
itself, and a run on one file must say what a run on the whole tree says of it.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from bwlint.chips import NONE, ChipSet
from bwlint.judging.drafts import Draft, RelatedSpan, Remedy
from bwlint.judging.path_conditions import bare
from bwlint.model.expr import Span
from bwlint.model.findings import CONFIDENCES, SEVERITIES
from bwlint.model.naming import counted
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.tree import checkout_folder
from bwlint.sources.walk import SourceFile
from bwlint.world.native import Native

if TYPE_CHECKING:
    from bwlint.world.arrivals import Arrivals
    from bwlint.world.native_arrivals import NativeArrivals


_MAX_RELATED = 1_000
"""Places that a finding has at most: reports say how many of them they show."""


def one_each(drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts of one file without those that say of a test what another says better, in the order of the file."""
    best: dict[tuple[str, Span], Draft] = {}
    for draft in drafts:
        key = (draft.rule.name, draft.at)
        if key not in best or _order(draft) < _order(best[key]):
            best[key] = draft
    ordered = sorted(best.values(), key=_order)
    kept: list[Draft] = []
    for draft in ordered:
        index = next((i for i, other in enumerate(kept) if _same_fault(other, draft)), None)
        if index is None:
            kept.append(draft)
        else:
            kept[index] = _with_related(kept[index], draft)
    return list(_told_once(sorted(kept, key=lambda draft: (draft.at, draft.rule.name))))


def _told_once(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Notes that say the same of the same test, as each use of a skip helper or of a decorator does, as one.

    What can be mended stands alone: each place has a fix of its own.
    """
    groups: dict[Hashable, list[Draft]] = {}
    for draft in drafts:
        gate = draft.gate or next(iter(draft.rests_on), None)
        ours = gate is not None and gate.kind != "preprocessor"  # a guard says nothing of what is behind it
        alone = not ours or draft.severity != "note" or isinstance(draft.remedy, Remedy)
        said = (draft.rule.name, draft.message, tuple(related.message for related in draft.related))
        chips = (draft.place.admitted, draft.place.certain)
        key = id(draft) if alone or gate is None else (*said, *chips, draft.module.path, bare(gate.test))
        groups.setdefault(key, []).append(draft)
    for first, *others in groups.values():
        again = tuple(
            RelatedSpan(draft.module, draft.at, "here too", draft.rule.name) for draft in others[:_MAX_RELATED]
        )
        times = f" This file has {counted(len(others), 'other place')} like it." if others else ""
        yield replace(first, message=f"{first.message}{times}", related=(*first.related, *again))


def _order(draft: Draft) -> tuple[int, float, int, Span, str]:
    """The severest first, then what explains most, the surest, and the smaller place of two that begin together."""
    says = inf if draft.rule.explains is None else draft.rule.explains
    return -_rank(draft), says, -CONFIDENCES.index(draft.confidence), draft.at, draft.rule.name


def _rank(draft: Draft) -> int:
    return SEVERITIES.index(draft.severity)


def _same_fault(first: Draft, second: Draft) -> bool:
    if first.module is not second.module:
        return False
    same_cause = first.cause is not None and first.cause == second.cause
    if first.rule.follows or second.rule.follows:
        if first.rule == second.rule:
            return same_cause
        return _rests_on(first, second) or _rests_on(second, first)
    if first.rule == second.rule:
        return same_cause or second.at.holds(first.at) or first.at.holds(second.at)
    if _stands_apart(first) or _stands_apart(second):
        return False
    return first.at == second.at or (first.gate is not None and first.gate is second.gate)


def _stands_apart(draft: Draft) -> bool:
    """Whether a draft may stand beside others at the same test."""
    return draft.rule.explains is None or (draft.rule.notes_stand_apart and draft.severity == "note")


def _rests_on(dependent: Draft, other: Draft) -> bool:
    """Whether a draft is about what follows from the test of another."""
    if not dependent.rule.follows or other.rule.follows or not dependent.related:
        return False
    if dependent.rule.follows == "unless-severer" and _rank(dependent) > _rank(other):
        return False  # the text is what is surely wrong
    test = dependent.related[0].at
    told = (other.at, *(related.at for related in other.related if related.module is other.module))
    return test in told or (other.gate is not None and test == other.gate.at)


def _on_its_line(at: Span, part: Span) -> bool:
    return at.holds(part) and at.line == part.end_line


def _with_related(kept: Draft, other: Draft) -> Draft:
    """A draft with the place of another that is about the same fault, and is mended with it."""
    if kept.rule == other.rule and isinstance(other.remedy, Remedy):
        kept = replace(kept, merged=(*kept.merged, other))
    shown = [kept.at, *(related.at for related in kept.related if related.module is kept.module)]
    told = kept.at.holds(other.at) or any(other.at.holds(at) or _on_its_line(at, other.at) for at in shown)
    if told or len(kept.related) >= _MAX_RELATED:
        return kept
    return replace(kept, related=(*kept.related, RelatedSpan(other.module, other.at, other.message, other.rule.name)))


Found = tuple[SourceFile, tuple[Draft, ...]]
"""A file and what was found in it."""


def without_copies(found: Sequence[Found], enabled: Callable[[SourceFile], Hashable]) -> Iterator[Found]:
    """The drafts of each file without those that a copy of it in the same checkout has, with the same rules enabled."""
    names = Counter(os.path.basename(file.real) for file, _ in found)
    groups: dict[Hashable, list[Found]] = {}
    for one in found:
        file = one[0]
        alone = names[os.path.basename(file.real)] == 1
        key = file.real if alone else (checkout_folder(file.root), enabled(file), _content_of(file))
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        yield from _told_at_the_first(group)


def _told_at_the_first(group: Sequence[Found]) -> Iterator[Found]:
    (first, told), *others = group
    yield first, tuple(replace(draft, copies=tuple(_of_copies(draft, others))) for draft in told) if others else told
    known = set(map(_said, told))
    for file, drafts in others:
        left = tuple(draft for draft in drafts if _said(draft) not in known)
        if left:
            yield file, left


def _of_copies(draft: Draft, others: Iterable[Found]) -> Iterator[Draft]:
    """The same draft of the copies."""
    said = _said(draft)
    return (other for _, drafts in others for other in drafts if _said(other) == said)


def _said(draft: Draft) -> Hashable:
    return draft.rule.name, draft.at, draft.severity, draft.message


def _content_of(file: SourceFile) -> bytes | str:
    data = read_bytes(file.real)
    return file.real if isinstance(data, Unread) else data


@dataclass(slots=True)
class Unreached:
    """Tells which findings are out of reach. Who uses something is looked for only where there is a finding."""

    native: Native
    arrivals: Arrivals
    targets: ChipSet
    _of_cpp: NativeArrivals | None = None

    def holds(self, root: str, draft: Draft) -> bool:
        """Whether none of the chips that a finding of a file below the package root `root` is about gets there."""
        concerned = self._concerned(draft)
        if not concerned or draft.module.language not in ("python", "cuda"):
            return False
        if draft.module.language == "python":
            found = self.arrivals.arriving(draft.module.path, root, draft.at)
        else:
            found = self._asked_of_cpp().arriving(draft.module.path, draft.at)
        return bool(found.stops) and not found.chips & concerned

    def _concerned(self, draft: Draft) -> ChipSet:
        """The chips that a finding is about: those kept out, those let in, or all that are asked for."""
        if draft.rule.concerns == "kept-out":
            return self.targets - draft.place.admitted
        if draft.rule.concerns == "let-in":
            return self.targets & draft.place.admitted - (draft.legal or NONE)
        return self.targets

    def _asked_of_cpp(self) -> NativeArrivals:
        if self._of_cpp is None:
            from bwlint.world.native_arrivals import NativeArrivals

            self._of_cpp = NativeArrivals(self.native, self.arrivals, self.targets)
        return self._of_cpp
