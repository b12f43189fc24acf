"""Limit on the files that a run reads beyond those it was given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bwlint.sources.recorder import read

LINK_FILES = 4000
"""Files that are read for the sake of others, if nobody says how many."""


@dataclass(slots=True)
class Budget:
    """`limit` counts files by their real paths, each once; `given` are those of the run itself and cost nothing."""

    limit: int = LINK_FILES
    given: frozenset[str] = frozenset()
    refused: set[str] = field(default_factory=set)
    _read: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, limit: int | None, given: Iterable[str]) -> Budget:
        return cls(LINK_FILES if limit is None else limit, frozenset(given))

    def allows(self, real: str) -> bool:
        """Whether a file may be read; from then on it may."""
        if real in self.given or real in self._read:
            return True
        if len(self._read) >= self.limit:
            self.refused.add(real)
            read("the rest")
            return False
        self._read.add(real)
        return True

    @property
    def read(self) -> frozenset[str]:
        """What was read beyond those given."""
        return frozenset(self._read)

    def adds(self, others: frozenset[str]) -> bool:
        """Whether what copies of this run have read would have been allowed to it; then it counts as read."""
        together = self._read | others
        if len(together) > self.limit:
            return False
        self._read = together
        return True

    @property
    def ended(self) -> bool:
        """Whether a file was refused, so that something may be missing."""
        return bool(self.refused)
