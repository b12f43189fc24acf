"""A log of pending disk writes, so that a killed repair can be completed or undone."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from typing import BinaryIO

from platformdirs import user_state_path

from bwlint.sources.held import hold, take
from bwlint.sources.worktree import is_in


@dataclass(frozen=True, slots=True)
class Step:
    """A file, what lies beside it to take its place, the digests of both, and the new inode (0: none yet)."""

    real: str
    temporary: str
    before: str
    after: str
    inode: int = 0


LeftBehind = tuple[Step, ...]
"""The last group of files that a killed run wrote."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One group at a time, the newest line counts. Its owner holds the file, until its process ends."""

    file: BinaryIO | None

    def staging(self, steps: Sequence[Step]) -> None:
        """New contents of a group are about to be laid beside its files, or then to take their places."""
        if self.file is not None:
            self.file.write(json.dumps([astuple(step) for step in steps]).encode() + b"\n")
            self.file.flush()
        if self.file is not None and len(steps) > 1:
            os.fsync(self.file.fileno())

    def is_over(self) -> None:
        """Nothing lies beside the files any more."""
        if self.file is not None:
            self.file.seek(0)
            self.file.truncate()

    @property
    def is_clear(self) -> bool:
        return self.file is None or not self.file.tell()


@contextmanager
def journal() -> Iterator[Journal]:
    """The journal of a run; it goes where nothing is left to be ended."""
    path = user_state_path("bwlint", appauthor=False) / f"{os.urandom(8).hex()}.fix"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = hold(path)
    except OSError:
        yield Journal(None)
        return
    with file:
        made = Journal(file)
        try:
            yield made
        finally:
            if made.is_clear:
                path.unlink(missing_ok=True)


def left_behind(paths: Sequence[str]) -> Iterator[LeftBehind]:
    """What killed runs have left in files below `paths`. When the next is asked for, it is forgotten."""
    tops = [os.path.realpath(path) for path in paths]
    for path in sorted(user_state_path("bwlint", appauthor=False).glob("*.fix")):
        if (file := take(path)) is None:
            continue
        with file:
            found = _read(file.read())
            if all(any(is_in(step.real, top) for top in tops) for step in found):
                yield found
                path.unlink(missing_ok=True)


def _read(data: bytes) -> LeftBehind:
    for line in reversed(data.splitlines()):
        with suppress(ValueError, TypeError):  # killed while it wrote this one: the one before holds
            return tuple(Step(*row) for row in json.loads(line))
    return ()


def digest(data: bytes) -> str:
    """What contents are known by."""
    return hashlib.sha256(data).hexdigest()
