"""What the includes of a C++ file bring that carries the device: short functions of other files that ask it.

As in `carried`, it is known from the bytes of the files alone, so that a run on one file sees what a run on the tree
sees. A header brings what it defines, what the file that implements it defines, and what its own includes bring.
"""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bwlint.readers.cuda import may_matter
from bwlint.readers.cuda.program import asks_device
from bwlint.sources.read import Unread, read_bytes
from bwlint.world.headers import implementing, resolve

MAX_DEPTH = 3
"""Headers from the file that asks to the one that says."""
MAX_BODY = 800
"""Bytes of a function that may be a question; a longer one is nobody's predicate."""
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*"([^"\n]{1,200})"')
"""In angle brackets are what other projects give, at most files, and each costs a look into every folder above."""
_HEAD = re.compile(rb"\b(?:bool|auto)\s+(?:\w+::)*(\w{4,})\s*\([^(){};]{0,300}\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NOTHING = frozenset[str]()


@dataclass(slots=True)
class _Included:
    """What is known in one run."""

    own: dict[str, frozenset[str]] = field(default_factory=dict)
    brought: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)

    def of(self, folder: str, data: bytes, depth: int) -> frozenset[str]:
        """The functions that the includes of some text bring."""
        found = _NOTHING
        for text in dict.fromkeys(_INCLUDE.findall(data)):
            header = resolve(folder, text.decode("utf-8", "replace"))
            if header is not None:
                found |= self._of_header(header, depth)
        return found

    def _of_header(self, path: str, depth: int) -> frozenset[str]:
        key = (path, depth)
        if key not in self.brought:
            self.brought[key] = _NOTHING  # a header that includes itself on some way
            data = _bytes(path)
            further = self.of(os.path.dirname(path), data, depth - 1) if depth > 1 else _NOTHING
            self.brought[key] = further.union(*map(self._own, (path, *implementing(path))))
        return self.brought[key]

    def _own(self, path: str) -> frozenset[str]:
        if path not in self.own:
            data = _bytes(path)
            self.own[path] = frozenset(_questions(data)) if may_matter(data) else _NOTHING
        return self.own[path]


_known = _Included()


def forget() -> None:
    """Begin a run: files may have changed since the last one."""
    global _known
    _known = _Included()


def included(real: str, data: bytes) -> frozenset[str]:
    """The functions of other files that ask the device and that a C++ file names."""
    found = _known.of(os.path.dirname(real), data, MAX_DEPTH)
    return frozenset(name for name in found if name.encode() in data)


def _questions(data: bytes) -> Iterator[str]:
    """The short functions that answer yes or no by the device."""
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


def _bytes(path: str) -> bytes:
    data = read_bytes(path)
    return b"" if isinstance(data, Unread) else data
