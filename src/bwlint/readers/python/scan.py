"""One look at the bytes of a file for the `ANCHORS` of all readers of Python; `may_hold` then decides for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
class _Word:
    """Who is asked where a word stands, and the name that it is itself, "" of others."""

    asked: frozenset[str]
    name: str


@dataclass(frozen=True, slots=True)
class Looked:
    """The words that stand in a file."""

    data: bytes
    words: tuple[_Word, ...]
    readers: Mapping[str, Anchored]

    def asking(self) -> Iterator[str]:
        """The names of the readers that have something to read in the file, in their order."""
        near = frozenset[str]().union(*(word.asked for word in self.words))
        return (name for name, reader in self.readers.items() if name in near and reader.may_hold(self.data))

    def named(self) -> tuple[str, ...]:
        """Those of the names looked for that stand in the file."""
        return tuple(sorted(word.name for word in self.words if word.name and word.name.encode() in self.data))


@dataclass(frozen=True, slots=True)
class Scan:
    """The anchors of some readers, and some names, in one automaton."""

    automaton: BytesAhoCorasick
    words: tuple[_Word, ...]
    readers: Mapping[str, Anchored]

    @classmethod
    def of(cls, readers: Mapping[str, Anchored], names: Iterable[str]) -> Scan:
        """`readers` by name, and names that are looked for as they are written."""
        asked: dict[bytes, list[str]] = {}
        for name, reader in readers.items():
            for word in reader.ANCHORS:
                asked.setdefault(word.lower(), []).append(name)
        by_name = {name.encode().lower(): name for name in names}
        words = {word: _Word(frozenset(asked.get(word, ())), by_name.get(word, "")) for word in (*asked, *by_name)}
        return cls(BytesAhoCorasick(list(words)), tuple(words.values()), readers)

    def look(self, data: bytes) -> Looked:
        hits = {match[0] for match in self.automaton.find_matches_as_indexes(data.lower(), overlapping=True)}
        return Looked(data, tuple(self.words[hit] for hit in sorted(hits)), self.readers)
