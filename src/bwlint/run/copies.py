"""Report a finding in byte-identical files once, at the first of them."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from bwlint.judging.drafts import Draft
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.tree import checkout_folder
from bwlint.sources.walk import SourceFile

Found = tuple[SourceFile, tuple[Draft, ...]]
"""A file and what was found in it."""


def without_copies(found: Sequence[Found], enabled: Callable[[SourceFile], Hashable]) -> Iterator[Found]:
    """The drafts of each file without those that a copy of it in the same checkout has, with the same rules enabled."""
    names = Counter(os.path.basename(file.real) for file, _ in found)
    groups: dict[Hashable, list[Found]] = {}
    for one in found:
        file = one[0]
        alone = names[os.path.basename(file.real)] == 1
        key = file.real if alone else (checkout_folder(file.root), enabled(file), _content(file))
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        yield from _told_at_the_first(group)


def _told_at_the_first(group: Sequence[Found]) -> Iterator[Found]:
    (first, told), *others = group
    yield first, tuple(replace(draft, copies=tuple(_again(draft, others))) for draft in told) if others else told
    known = set(map(_said, told))
    for file, drafts in others:
        left = tuple(draft for draft in drafts if _said(draft) not in known)
        if left:
            yield file, left


def _again(draft: Draft, others: Iterable[Found]) -> Iterator[Draft]:
    """The same draft of the copies."""
    said = _said(draft)
    return (other for _, drafts in others for other in drafts if _said(other) == said)


def _said(draft: Draft) -> Hashable:
    return draft.rule.name, draft.at, draft.severity, draft.message


def _content(file: SourceFile) -> bytes | str:
    data = read_bytes(file.real)
    return file.real if isinstance(data, Unread) else data
