"""Find files of a project that contain a name, by a search over their bytes."""

# Paths are plain strings here, as in `sources.tree`.

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import islice
from typing import Protocol

from bwlint.sources import disk, recorder
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.walk import Discovery, SourceFile, discover

MAX_BYTES = 256 * 1024 * 1024
"""How much of a project is searched, in bytes, for each kind of file."""
MAX_ENTRIES = 300_000
"""How many files and folders of a project are walked: more are no project, but somebody's home."""
MAX_HITS = 200
"""How many places of one name are given: a name that stands in more is nobody's own."""
_BORDER = b"\n\0\n"
_IN_WORD = re.compile(rb"\w")
_WORD = re.compile(rb"\w+")
_SPACED = bytes(byte if _WORD.match(bytes([byte])) else ord(" ") for byte in range(256))
"""Leaves nothing but words, with spaces between them."""
_FEW = 20
"""How many words are looked for one by one: an index of all of them takes about as long."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A word in a file: its 1-based line, and what stands on that line."""

    file: SourceFile
    line: int
    text: str


@dataclass(frozen=True)
class _Pool:
    """All files of one kind, one after the other; `starts` are their places in `data`."""

    files: tuple[SourceFile, ...]
    starts: tuple[int, ...]
    data: bytes
    complete: bool

    def places(self, word: bytes, indexed: bool) -> Iterator[int]:
        """Where something stands in all bytes that is no part of a word, by the index of words or without one."""
        words = _WORD.findall(word) if indexed else ()
        if not words:
            yield from self._between(word, 0, len(self.data))
            return
        for index in min((self.files_with.get(one, ()) for one in words), key=len):
            yield from self._between(word, *self.stretches[index])

    def _between(self, word: bytes, start: int, stop: int) -> Iterator[int]:
        find, at = self.data.find, self.data.find(word, start, stop)
        while word and at >= 0:
            end = at + len(word)
            if not _IN_WORD.match(self.data, at - 1, at) and not _IN_WORD.match(self.data, end, end + 1):
                yield at
            at = find(word, end, stop)

    @cached_property
    def stretches(self) -> list[tuple[int, int]]:
        return list(zip(self.starts, (*self.starts, len(self.data))[1:], strict=True))

    @cached_property
    def files_with(self) -> Mapping[bytes, Sequence[int]]:
        """The files that have a word, by their places in `files`."""
        found: defaultdict[bytes, list[int]] = defaultdict(list)
        for index, stretch in enumerate(self.stretches):
            for word in set(self.data[slice(*stretch)].translate(_SPACED).split()):
                found[word].append(index)
        return found

    def hits(self, places: Iterable[int]) -> Iterator[Hit]:
        """What stands at some places, which are in order."""
        index, line, counted = -1, 0, 0
        for at in places:
            if self.file_at(at) != index:
                index = self.file_at(at)
                line, counted = 1, self.starts[index]
            line, counted = line + self.data.count(b"\n", counted, at), at
            start, stop = self.data.rfind(b"\n", 0, at) + 1, self.data.find(b"\n", at)
            yield Hit(self.files[index], line, self.data[start:stop].decode("utf-8", "replace"))

    def holding(self, texts: Iterable[bytes]) -> list[int]:
        """The files that have one of some texts, by their places in `files`."""
        found: set[int] = set()
        for text in texts:
            at = self.data.find(text)
            while at >= 0:
                index = self.file_at(at)
                found.add(index)
                at = self.data.find(text, self.stretches[index][1])
        return sorted(found)

    def file_at(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1


class Memory(Protocol):
    """What is known of the files of one kind in a folder without reading them."""

    @property
    def size(self) -> int:
        """Bytes that all of them have at most."""

    def where(self, wanted: str) -> tuple[SourceFile, ...] | None:
        """Those that may have something, in order; None where nobody knows."""

    def tell(self, wanted: str, files: Iterable[SourceFile]) -> None:
        """These have it, and no other."""

    def keep(self) -> None:
        """Keep what is known for the runs to come."""


Remember = Callable[[str, str, tuple[SourceFile, ...]], Memory | None]
"""Gives what is known of the files of a kind in a folder; None where nothing is to be."""
_remember: Remember | None = None


def remember_by(remember: Remember) -> None:
    """From now on searches ask this one before they read."""
    global _remember
    _remember = remember


@dataclass(slots=True)
class Search:
    """The files of one project folder (a real path). Those that nobody remembers are read once for each kind."""

    folder: str
    _found: Discovery | None = None
    _pools: dict[str, _Pool] = field(default_factory=dict)
    _hits: defaultdict[str, dict[str, tuple[Hit, ...]]] = field(default_factory=lambda: defaultdict(dict))
    _kinds: dict[str, tuple[SourceFile, ...]] = field(default_factory=dict)
    often: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    """Words, by kind, that stand in too many places: in how many of each of the first files."""
    _tops: frozenset[str] | None = None
    _memories: dict[str, Memory | None] = field(default_factory=dict)

    def files(self, kind: str) -> tuple[SourceFile, ...]:
        """The files of a kind, by path; ignore files count."""
        recorder.read("files", self.folder, kind)
        if kind not in self._kinds:
            found = sorted(self._discovery().files, key=lambda file: file.real)
            self._kinds[kind] = tuple(file for file in found if file.kind == kind)
        return self._kinds[kind]

    @property
    def tops(self) -> frozenset[str]:
        """The names with which imports of the project's own Python modules begin."""
        recorder.read("files", self.folder, "python")
        if self._tops is None:
            below = (file.real[len(file.root) + 1 :] for file in self.files("python"))
            self._tops = frozenset(path.partition(os.sep)[0].removesuffix(".py") for path in below)
        return self._tops

    def complete(self, kind: str) -> bool:
        """Whether every file of a kind was within the limits."""
        recorder.read("complete", self.folder, kind)
        with recorder.apart():
            memory = self._memory(kind)
            is_small = memory is not None and memory.size < MAX_BYTES // 2
            return self._discovery().complete and (is_small or self._pool(kind).complete)

    def word(self, kind: str, name: str) -> tuple[Hit, ...]:
        """Where a whole word stands in the files of a kind, in order; none where it stands in too many places."""
        recorder.read("word", self.folder, kind, name)
        known = self._hits[kind]
        if name not in known:
            with recorder.apart():
                known[name] = self._word(kind, name)
        return known[name]

    def keep(self) -> None:
        """Keep where something was found for the runs to come."""
        for memory in self._memories.values():
            if memory is not None:
                memory.keep()

    def _word(self, kind: str, name: str) -> tuple[Hit, ...]:
        found: list[int] = []
        for pool, least in self._pools_with(kind, name):
            indexed = pool is self._pools.get(kind) and len(self._hits[kind]) > _FEW
            found = list(islice(pool.places(name.encode(), indexed), MAX_HITS + 1))
            if len(found) >= least:
                break
        is_often = len(found) > MAX_HITS
        if is_often:
            self.often[kind, name] = Counter(pool.files[pool.file_at(at)].real for at in found)
        self._tell(kind, _word_of(name, is_often=is_often), {pool.files[pool.file_at(at)] for at in found})
        return () if is_often else tuple(pool.hits(found))

    def _pools_with(self, kind: str, name: str) -> Iterator[tuple[_Pool, int]]:
        """Files that have all places of a word, where there are at least so many in them; the last ones always do."""
        for is_often in (True, False):
            pool = self._remembered(kind, _word_of(name, is_often=is_often))
            if pool is not None:
                yield pool, MAX_HITS + 1 if is_often else 0
        yield self._pool(kind), 0

    def matches(
        self, kind: str, pattern: re.Pattern[bytes], texts: Sequence[bytes] = ()
    ) -> Iterator[tuple[SourceFile, re.Match[bytes]]]:
        """Where an expression matches in files of a kind that have one of `texts`, in order."""
        wanted = f"{sorted(texts)}" if texts else f"{pattern.pattern!r} {pattern.flags}"
        said = pattern.pattern.decode("latin-1"), str(pattern.flags), *(text.decode("latin-1") for text in texts)
        recorder.read("match", self.folder, kind, *said)
        with recorder.apart():
            pool = self._remembered(kind, wanted) or self._pool(kind)
        if not texts:
            found = [(pool.files[pool.file_at(match.start())], match) for match in pattern.finditer(pool.data)]
            with recorder.apart():
                self._tell(kind, wanted, dict.fromkeys(file for file, _ in found))
            yield from found
            return
        holding = pool.holding(texts)
        with recorder.apart():
            self._tell(kind, wanted, [pool.files[index] for index in holding])
        for index in holding:
            for match in pattern.finditer(pool.data, *pool.stretches[index]):
                yield pool.files[index], match

    def _memory(self, kind: str) -> Memory | None:
        if kind not in self._memories:
            self._memories[kind] = _remember(self.folder, kind, self.files(kind)) if _remember else None
        return self._memories[kind]

    def _remembered(self, kind: str, wanted: str) -> _Pool | None:
        """The files that may have something; None where nobody knows."""
        memory = self._memory(kind)
        files = memory.where(wanted) if memory is not None else None
        return None if files is None else _read(files)

    def _tell(self, kind: str, wanted: str, files: Iterable[SourceFile]) -> None:
        memory = self._memory(kind)
        if memory is not None:
            memory.tell(wanted, files)

    def _discovery(self) -> Discovery:
        if self._found is None:
            with recorder.apart():
                self._found = discover([self.folder], most_entries=MAX_ENTRIES)
        return self._found

    def _pool(self, kind: str) -> _Pool:
        if kind not in self._pools:
            self._pools[kind] = _read(self.files(kind))
        return self._pools[kind]


def _word_of(name: str, *, is_often: bool) -> str:
    return f"{'often' if is_often else 'word'} {name}"


def _read(files: tuple[SourceFile, ...]) -> _Pool:
    kept: list[SourceFile] = []
    starts: list[int] = []
    joined = BytesIO()  # unlike a list of bytes, it is never there twice
    size = joined.write(_BORDER)
    for file in files:
        data = read_bytes(file.real)
        if isinstance(data, Unread):
            continue  # told by the run itself
        if size + len(data) > MAX_BYTES:
            return _Pool(tuple(kept), tuple(starts), joined.getvalue(), complete=False)
        kept.append(file)
        starts.append(size)
        size += joined.write(data) + joined.write(_BORDER)
    return _Pool(tuple(kept), tuple(starts), joined.getvalue(), complete=True)


def search_of(root: str, known: dict[str, Search]) -> Search:
    """The search over the project of a package root; one for each folder."""
    from bwlint.sources.tree import project_folder

    folder = disk.real(project_folder(root))
    if folder not in known:
        known[folder] = Search(folder)
    return known[folder]
