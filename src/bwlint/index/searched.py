"""Cached text searches: which files of a project contain a word.

What is said of a file holds while it is as it was; one that has changed, or is new, may have anything.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from bwlint.index import kept
from bwlint.sources import disk
from bwlint.sources.read import LIMIT, is_given
from bwlint.sources.walk import SourceFile

_MOST_CHANGED = 16
"""Files beyond which all are read, as without an index."""
_MOST_WANTED = 20_000
"""Things looked for beyond which only those of the last run are kept."""


@dataclass(slots=True)
class Searched:
    """What is known of `files`, all of one kind in one folder. `looks` are at those that are as they were, by real
    path; `found` has the real paths of those of them that may have what was looked for."""

    key: bytes
    files: tuple[SourceFile, ...]
    looks: dict[str, disk.Look] = field(default_factory=dict)
    found: dict[str, frozenset[str]] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Bytes that all files have at most."""
        known = sum(look.status[2] for look in self.looks.values() if look.status is not None)
        return known + LIMIT * (len(self.files) - len(self.looks))

    def where(self, wanted: str) -> tuple[SourceFile, ...] | None:
        """The files that may have something, in order; None where nobody knows."""
        found = self.found.get(wanted)
        if found is None or len(self.files) - len(self.looks) > _MOST_CHANGED:
            return None
        return tuple(file for file in self.files if file.real in found or file.real not in self.looks)

    def tell(self, wanted: str, files: Iterable[SourceFile]) -> None:
        """These files have something, and no other."""
        self.found[wanted] = frozenset(file.real for file in files)
        self._told.add(wanted)

    def keep(self) -> None:
        """Keep what is known for the runs to come."""
        store, watch = kept.store(), disk.watch()
        if store is None or watch is None or not watch.is_steady or not self._told:
            return
        changed = {file.real for file in self.files} - self.looks.keys()
        rows = [(real, look) for file in self.files if (look := watch.looks.get(("file", real := file.real)))]
        known = [(real, look) for real, look in rows if look.status and look.seen and not is_given(real)]
        at = {real: number for number, (real, _) in enumerate(known)}
        found = {
            wanted: [at[real] for real in (reals if wanted in self._told else reals | changed) if real in at]
            for wanted, reals in self.found.items()
            if wanted in self._told or len(self.found) < _MOST_WANTED
        }
        looks = [(real, look.status, look.seen) for real, look in known]
        store.put(self.key, zlib.compress(json.dumps([watch.began, looks, found]).encode(), 1))


def searched(folder: str, kind: str, files: tuple[SourceFile, ...]) -> Searched | None:
    """What is known of the files of a kind in a folder; None where nothing is kept, or nobody watches what is read."""
    store, watch = kept.store(), disk.watch()
    if store is None or watch is None:
        return None
    known = Searched(kept.key("searched", b"", folder, kind), files)
    data = store.get(known.key)
    with suppress(zlib.error, ValueError, TypeError, LookupError):
        began, looks, found = json.loads(zlib.decompress(data or b""))
        old = {real: disk.Look(tuple(status), seen) for real, status, seen in looks}
        for real in (file.real for file in files if file.real in old and not is_given(file.real)):
            look = disk.now("file", real, old[real], began)
            if look is not None:
                known.looks[real] = look
                watch.note("file", real, look)
        names = [real for real, _, _ in looks]
        known.found.update(
            (wanted, frozenset(names[number] for number in numbers)) for wanted, numbers in found.items()
        )
    return known
