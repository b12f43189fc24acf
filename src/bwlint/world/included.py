"""Device queries that the includes of a C++ file bring in."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.recorder import memory
from bwlint.world.headers import implementing, resolve

MAX_DEPTH = 3
"""Headers from the file that asks to the one that says."""
MAX_BODY = 800
"""Bytes of a function that may be a question; a longer one is nobody's predicate."""
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*"([^"\n]{1,200})"')
"""In angle brackets are what other projects give, at most files, and each costs a look into every folder above."""
_HEAD = re.compile(rb"\b(?:bool|auto)\s+(?:\w+::)*(\w{4,})\s*\([^(){};]{0,300}\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NOTHING = frozenset[str]()


@dataclass(frozen=True, slots=True)
class _IncludedFile:
    """What a header, or what implements one, says by itself."""

    includes: tuple[bytes, ...]
    questions: frozenset[str]

    @classmethod
    def of(cls, data: bytes) -> _IncludedFile:
        from bwlint.readers.cuda import may_matter

        return cls(_includes(data), frozenset(_questions(data)) if may_matter(data) else _NOTHING)


@dataclass(slots=True)
class _Included:
    """What is known in one run."""

    read: dict[str, _IncludedFile] = field(default_factory=memory)
    brought: dict[tuple[str, int], frozenset[str]] = field(default_factory=memory)

    def of(self, folder: str, includes: Iterable[bytes], depth: int) -> frozenset[str]:
        """The functions that some includes of a file bring."""
        found = _NOTHING
        for text in includes:
            header = resolve(folder, text.decode("utf-8", "replace"))
            if header is not None:
                found |= self._of_header(header, depth)
        return found

    def _of_header(self, path: str, depth: int) -> frozenset[str]:
        key = (path, depth)
        if key not in self.brought:
            header = self._read(path)
            further = self.of(os.path.dirname(path), header.includes, depth - 1) if depth > 1 else _NOTHING
            own = (self._read(one).questions for one in (path, *implementing(path)))
            self.brought[key] = further.union(*own)
        return self.brought[key]

    def _read(self, path: str) -> _IncludedFile:
        if path not in self.read:
            data = read_bytes(path)
            self.read[path] = _IncludedFile.of(b"" if isinstance(data, Unread) else data)
        return self.read[path]


_known = _Included()


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    global _known
    _known = _Included()


def included(real: str, data: bytes) -> frozenset[str]:
    """The functions of other files that ask the device and that a C++ file names."""
    found = _known.of(os.path.dirname(real), _includes(data), MAX_DEPTH)
    return frozenset(name for name in found if name.encode() in data)


def _includes(data: bytes) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(_INCLUDE.findall(data)))


def _questions(data: bytes) -> Iterator[str]:
    """The short functions that answer yes or no by the device."""
    from bwlint.readers.cuda.given import asks_device

    for match in _HEAD.finditer(data):
        body = _body(data[match.end() : match.end() + MAX_BODY])
        if b"return" in body and asks_device(body.decode("utf-8", "replace")):
            yield match[1].decode()


def _body(text: bytes) -> bytes:
    """What stands before the brace that closes the one in front of a text; nothing where that is too far."""
    depth = 1
    for brace in re.finditer(rb"[{}]", text):
        depth += 1 if brace[0] == b"{" else -1
        if not depth:
            return text[: brace.start()]
    return b""
