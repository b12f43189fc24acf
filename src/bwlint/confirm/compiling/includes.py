"""Includes of a tree's C++: which files a file reaches, in which folders they are found, and who reaches a header."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH117, PTH118, PTH119, PTH120, PTH123, PTH206

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bwlint.confirm.compiling.paths import is_file

UNITS = (".cu",)
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".inc", ".ipp", ".tcc", ".def", ".cu", ".cpp", ".cc", ".cxx")
_DEVICE_HEADERS = (".cuh", ".hpp", ".inl", ".cu")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\r\n]{1,300})[>"]', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z]+\d*")
_NAMED = re.compile(rb"[A-Za-z]{2,20}\d{2,4}")
_NUMBERED = 4
_SKIPPED = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv"})
_MOST_ENTRIES = 300_000
_MOST_READ = 1 << 20
_MOST_FILES = 3000
_MOST_CANDIDATES = 2000
_MOST_UNITS = 400


@dataclass(slots=True)
class IncludeTree:
    """The C++ files of a tree by their names, and what each includes; read once, as it is asked for."""

    root: str
    by_name: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    units: list[str] = field(default_factory=list)
    _included: dict[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)
    _lacking: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def at(cls, root: str) -> IncludeTree:
        tree = cls(os.path.realpath(root))
        seen = 0
        for folder, folders, files in os.walk(tree.root):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            seen += len(files) + len(folders)
            if seen > _MOST_ENTRIES:
                break
            for name in sorted(files):
                if name.endswith(_HEADERS):
                    tree.by_name[name].append(os.path.join(folder, name))
                if name.endswith(UNITS):
                    tree.units.append(os.path.join(folder, name))
        return tree

    def folders(self, unit: str) -> tuple[str, ...]:
        """The folders that a compiler has to look in to find what a file includes, directly or not."""
        found: dict[str, None] = {}
        for _, folder in self._walk(unit):
            if folder is not None:
                found[folder] = None
        return tuple(found)

    def including(self, header: str) -> Iterator[str]:
        """The files to be compiled that reach a header, the nearest first; of these, those with a name like its own."""
        real = os.path.realpath(header)
        words = _words(real)
        nearest = sorted(
            self.units,
            key=lambda unit: (
                -_common(unit, real),
                -_weight(words & (_words(unit) | _numbered(unit))),
                len(unit),
                unit,
            ),
        )
        for unit in nearest[:_MOST_UNITS]:
            if any(path == real for path, _ in self._walk(unit)):
                yield unit

    def missing(self, unit: str, known: Sequence[str]) -> frozenset[str]:
        """The headers that a file reaches and that are neither in the tree nor in some folders."""
        reached = [os.path.realpath(unit), *(path for path, _ in self._walk(unit))]
        names = {text for path in reached for text in self._lacking.get(path, ())}
        return frozenset(text for text in names if not any(is_file(os.path.join(folder, text)) for folder in known))

    def _walk(self, unit: str) -> Iterator[tuple[str, str | None]]:
        """Files that a file reaches, with the folder that each was found in (None: beside the one that includes it)."""
        seen = {os.path.realpath(unit)}
        queue = deque(seen)
        while queue and len(seen) < _MOST_FILES:
            for path, folder in self._direct(queue.popleft()):
                if path not in seen:
                    seen.add(path)
                    queue.append(path)
                    yield path, folder

    def _direct(self, path: str) -> tuple[tuple[str, str | None], ...]:
        if path not in self._included:
            found = {text: self._resolve(path, quote, text) for quote, text in _texts(path)}
            self._included[path] = tuple(one for one in found.values() if one is not None)
            # Without an ending it is one of the language's.
            self._lacking[path] = tuple(text for text, one in found.items() if one is None and "." in text)
        return self._included[path]

    def _resolve(self, includer: str, quote: str, text: str) -> tuple[str, str | None] | None:
        if os.path.isabs(text):
            return None
        beside = os.path.normpath(os.path.join(os.path.dirname(includer), text))
        if quote == '"' and is_file(beside):
            return os.path.realpath(beside), None
        ending = os.path.normpath(text)
        if ending.startswith("..") or (os.sep not in ending and not _is_own(ending, quote)):
            return None
        named = self.by_name.get(os.path.basename(ending), ())[:_MOST_CANDIDATES]
        near = [one for one in named if one.endswith(os.sep + ending) and is_file(one)]
        if not near:
            return None
        best = max(near, key=lambda one: (_common(one, includer), -len(one)))
        return os.path.realpath(best), best[: -len(ending) - 1]


def _is_own(name: str, quote: str) -> bool:
    """Whether a name without a folder may be a file of the tree: `<math.h>` is the system's."""
    return quote == '"' or name.endswith(_DEVICE_HEADERS)


def _common(one: str, other: str) -> int:
    """How many folders two paths share from the root on."""
    count = 0
    for mine, theirs in zip(one.split(os.sep), other.split(os.sep), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _words(path: str) -> frozenset[str]:
    """The words of a path: a test of sm120_mma_tma.hpp is one of sm120, too."""
    return frozenset(word.lower() for word in _WORD.findall(path))


@lru_cache(maxsize=4096)
def _numbered(path: str) -> frozenset[str]:
    """The words with a number in a text: what names Sm120 has to do with sm120_mma_tma.hpp."""
    return frozenset(word.lower().decode() for word in _NAMED.findall(_read(path)))


def _weight(words: frozenset[str]) -> int:
    """A word with a number says more of what a file is about."""
    return sum(_NUMBERED if word[-1].isdigit() else 1 for word in words)


def _texts(path: str) -> Iterator[tuple[str, str]]:
    for quote, text in dict.fromkeys(_INCLUDE.findall(_read(path))):
        name = text.decode("utf-8", "replace").strip()
        if name and "\0" not in name:
            yield quote.decode(), name


def _read(path: str) -> bytes:
    """The beginning of a file; b"" for what is none."""
    if not is_file(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_READ)
    except OSError:
        return b""
