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
    readers: Mapping[str, Anchored]

    @classmethod
    def of(cls, readers: Mapping[str, Anchored]) -> Scan:
        """`readers` by name."""
        by_word: dict[bytes, list[str]] = {}
        for name, reader in readers.items():
            for word in reader.ANCHORS:
                by_word.setdefault(word.lower(), []).append(name)
        return cls(BytesAhoCorasick(list(by_word)), tuple(map(tuple, by_word.values())), readers)

    def asking(self, data: bytes) -> Iterator[str]:
        """The names of the readers that have something to read in a file, in the order of `readers`."""
        hits = {match[0] for match in self.automaton.find_matches_as_indexes(data.lower(), overlapping=True)}
        near = {name for hit in hits for name in self.asked[hit]}
        return (name for name, reader in self.readers.items() if name in near and reader.may_hold(data))
