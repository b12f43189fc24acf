"""A progress bar on stderr for runs that take more than a moment."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bwlint.model.progress import Advance, quiet

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0
"""Seconds in which nothing is drawn, and rich not loaded."""


@contextmanager
def progress() -> Iterator[Advance]:
    """What to tell of what is done; nothing is shown where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield quiet
        return
    bar = _Bar(time.monotonic())
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """One bar for each thing that is done: the one before goes, and with it the thread that draws it.

    Processes are forked when nothing of their kind is done yet, and so without such a thread.
    """

    def __init__(self, start: float) -> None:
        self._start = start
        self._what = ""
        self._since = start
        self._drawn: tuple[Progress, TaskID] | None = None

    def advance(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self.stop()
            self._what, self._since = what, now
        if now - self._start < _PATIENCE or (total and not done):
            return
        if self._drawn is None:
            self._drawn = _draw(what)
        bar, task = self._drawn
        bar.update(task, completed=done, total=total or None, counts=_counts(done, total, now - self._since))

    def stop(self) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()
            self._drawn = None


def _counts(done: int, total: int, seconds: float) -> str:
    """How many of how many, and how many a second."""
    if not done:
        return ""
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of}, {done / max(seconds, 0.001):,.0f} a second"


def _draw(what: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[counts]}"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task(what, total=None, counts="")
