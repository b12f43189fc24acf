"""What a run takes from the index and adds to it. Without `using`, nothing is read or stored."""

# ruff: noqa: PTH120

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from typing import TypeVar

import bwlint
from bwlint.data import rules_folder
from bwlint.index.packed import NotData as NotData
from bwlint.index.packed import packed as packed
from bwlint.index.packed import unpacked as unpacked
from bwlint.index.store import Store

_Answer = TypeVar("_Answer")
_KEY = 20
_store: Store | None = None


@contextmanager
def using() -> Iterator[Store]:
    """Until it ends, what is found out is kept, and what was kept is found."""
    global _store
    _store = Store()
    try:
        yield _store
    finally:
        _store.close()
        _store = None


def store() -> Store | None:
    """The index in use."""
    return _store


def let_go() -> None:
    """Before this process goes on as two: SQLite takes no open file through that."""
    if _store is not None:
        _store.close()


def use_again(is_used: bool) -> None:
    """In a process that works for a run: use the index as the run does."""
    global _store
    _store = Store() if is_used else None


@cache
def basis() -> bytes:
    """A digest of bwlint's own code and of Python, on which each result rests: an edit of a source makes another."""
    found = blake2b(f"{bwlint.__version__}\0{sys.version}\0{sys.byteorder}".encode(), digest_size=16)
    for folder in (os.path.dirname(bwlint.__file__), str(rules_folder())):
        for path, status in sorted(_files(folder)):
            found.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return found.digest()


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for entry in listing:
                if entry.is_dir():
                    waiting += [] if entry.name == "__pycache__" else [entry.path]
                else:
                    yield entry.path, entry.stat()


def key(kind: str, data: bytes, *parts: object) -> bytes:
    """What something is kept by: its kind, the bytes it was made of, and all else that it rests on. `parts` are
    scalars, sequences, and sets of scalars."""
    rest = json.dumps([kind, *parts], default=sorted).encode()
    return blake2b(b"\0".join((basis(), blake2b(data).digest(), rest)), digest_size=_KEY).digest()


def answered(name: bytes, make: Callable[[], _Answer]) -> _Answer:
    """What was kept by a key, or what is made now and kept."""
    if _store is None:
        return make()
    known = _store.get(name)
    if known is not None:
        with suppress(NotData):
            found: _Answer = unpacked(known)
            return found
    made = make()
    with suppress(NotData):
        _store.put(name, packed(made))
    return made


def in_bytes(name: bytes, make: Callable[[], _Answer]) -> bytes | _Answer:
    """The same as bytes for `unpacked`, which another process has sooner than the answer itself."""
    known = _store.get(name) if _store is not None else None
    if known is not None:
        return known
    made = make()
    if _store is None:
        return made
    try:
        written = packed(made)
    except NotData:
        return made
    _store.put(name, written)
    return written
