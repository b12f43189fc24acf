"""Texts of sources by real path, and the paths that reports show."""

# ruff: noqa: PTH118, PTH206

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from bwlint.sources.read import SourceText, read_bytes, text_of
from bwlint.sources.recorder import memory
from bwlint.sources.walk import SourceFile


@dataclass(slots=True)
class Texts:
    """Sources by real path, each read once."""

    _known: dict[str, SourceText | None] = field(default_factory=memory)

    def of(self, real: str) -> SourceText | None:
        """The text of a file; None where it cannot be read."""
        if real not in self._known:
            self._known[real] = self._read(real)
        return self._known[real]

    def source(self, real: str) -> str | None:
        """The text of a file that is not kept; None where it cannot be read."""
        return text_of(read_bytes(real))

    def _read(self, real: str) -> SourceText | None:
        source = self.source(real)
        return None if source is None else SourceText(source)


@dataclass(slots=True)
class Names:
    """Reported paths and what they stand for."""

    files: Mapping[str, SourceFile]
    reals: dict[str, str] = field(default_factory=dict)
    """What those stand for that were reported."""

    def reported(self, real: str, near: SourceFile) -> str:
        """The path to report for `real`, told like that of the file `near` where no argument reaches it."""
        path = self.files[real].path if real in self.files else _beside(real, near)
        self.reals[path] = real
        return path

    def real(self, reported: str) -> str:
        """What a path that was reported stands for."""
        return self.reals.get(reported, reported)


def _beside(real: str, near: SourceFile) -> str:
    """`real` as below the argument that `near` was found in: the shared ends of its two paths say where that ends."""
    theirs, ours = PurePosixPath(near.path).parts, near.real.split(os.sep)
    shared = 0
    while shared < min(len(theirs), len(ours)) and theirs[-1 - shared] == ours[-1 - shared]:
        shared += 1
    base = os.sep.join(ours[: len(ours) - shared]) or os.sep
    relative = os.path.relpath(real, base).replace(os.sep, "/")
    return os.path.normpath(str(PurePosixPath(*theirs[: len(theirs) - shared], relative))).replace(os.sep, "/")
