"""One look at the bytes of a file for the words of all readers of Python: who may have something to read there.

Each reader has `ANCHORS`, one of which stands in every file that it reads something in, and `may_hold`, which decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ahocorasick_rs import BytesAhoCorasick


class Anchored(Protocol):
    """What a reader tells of the files that it reads something in: `ANCHORS` are found whatever their case."""

    @property
    def ANCHORS(self) -> tuple[bytes, ...]: ...

    def may_hold(self, data: bytes, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Literally:
    """Something is read wherever one of the words stands as it is written."""

    ANCHORS: tuple[bytes, ...]

    def may_hold(self, data: bytes, /) -> bool:
        return any(word in data for word in self.ANCHORS)


@dataclass(frozen=True, slots=True)
class Scan:
    """The anchors of some readers in one automaton: `asked` are the readers by anchor."""

    automaton: BytesAhoCorasick
    asked: tuple[tuple[str, ...], ...]
    within: tuple[frozenset[str], ...]
    readers: Mapping[str, Anchored]

    @classmethod
    def of(cls, readers: Mapping[str, Anchored]) -> Scan:
        """`readers` by name."""
        asked: dict[bytes, list[str]] = {}
        within: dict[bytes, set[str]] = {}
        for name, reader in readers.items():
            for word in reader.ANCHORS:
                asked.setdefault(word.lower(), []).append(name)
            for word in getattr(reader, "WITHIN", reader.ANCHORS):
                within.setdefault(word.lower(), set()).add(name)
        words = [*asked, *(word for word in within if word not in asked)]
        return cls(
            BytesAhoCorasick(words),
            tuple(tuple(asked.get(word, ())) for word in words),
            tuple(frozenset(within.get(word, ())) for word in words),
            readers,
        )

    def asking(self, data: bytes) -> Iterator[str]:
        """The names of the readers that have something to read in a file, in the order of `readers`."""
        return self._asking({match[0] for match in self._matches(data)}, data)

    def look(self, data: bytes) -> tuple[frozenset[str], list[int]]:
        """The same, and the places of their words, in order."""
        matches = self._matches(data)
        asking = frozenset(self._asking({match[0] for match in matches}, data))
        wanted = {hit for hit, names in enumerate(self.within) if not asking.isdisjoint(names)}
        return asking, sorted(start for hit, start, _ in matches if hit in wanted)

    def _matches(self, data: bytes) -> list[tuple[int, int, int]]:
        return self.automaton.find_matches_as_indexes(data.lower(), overlapping=True)

    def _asking(self, hits: set[int], data: bytes) -> Iterator[str]:
        near = {name for hit in hits for name in self.asked[hit]}
        return (name for name, reader in self.readers.items() if name in near and reader.may_hold(data))
