"""A bar on stderr, for runs that take longer than one would look at an empty line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0


@contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """What to tell of files that are done, out of how many; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    """Nothing is drawn, and rich not loaded, before the run has taken a second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def advance(self, done: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._start < _PATIENCE:
                return
            self._drawn = _draw(total)
        bar, task = self._drawn
        bar.update(task, completed=done)

    def stop(self) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()


def _draw(total: int) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TextColumn("files"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.start()
    return bar, bar.add_task("", total=total)
