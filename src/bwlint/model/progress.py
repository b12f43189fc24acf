"""The progress of a run, for a caller that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

Advance = Callable[[str, int, int], None]
"""Called with what is being done ("reading"), how many things of it are done, and of how many (0: nobody knows)."""


def quiet(what: str, done: int, total: int) -> None:
    """For whoever does not want to show it."""


def each(advance: Advance, what: str, things: Sequence[T]) -> Iterator[T]:
    """The things, each told when it is done."""
    for number, thing in enumerate(things):
        advance(what, number, len(things))
        yield thing
    advance(what, len(things), len(things))
