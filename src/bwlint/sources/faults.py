"""Internal errors: each costs one file or check, and is reported at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from bwlint.sources import disk

_Item = TypeVar("_Item")


class Fault(NamedTuple):
    """An error of bwlint's own: the real path of the file at hand, what was being done, a line where one is known."""

    path: str
    doing: str
    line: int
    error: str

    @property
    def reason(self) -> str:
        """Why not all is said of a file, in words that follow its path."""
        at = f" at line {self.line}" if self.line else ""
        return f"internal error in {self.doing}{at} ({self.error}): please report"


_noted: list[Fault] = []


def noted(since: int = 0) -> tuple[Fault, ...]:
    """What was noted in this process, from a place in the list on."""
    return tuple(_noted[since:])


def forget() -> None:
    """Begin a run."""
    _noted.clear()


def adopt(faults: Iterable[Fault]) -> None:
    """Note what another process has met for the same run; this one's own are noted already."""
    _noted.extend(fault for fault in faults if fault not in _noted)


def note(error: Exception, path: str, doing: str, line: int = 0) -> Fault:
    """An error that was caught. With BWLINT_DEBUG=1 the traceback goes to stderr at once."""
    if os.environ.get("BWLINT_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    disk.rests_on_more()  # what was kept from being said is tried again
    text = " ".join(str(error).split())
    kind = type(error).__name__
    fault = Fault(path, doing, line, f"{kind}: {text}"[:200] if text else kind)
    _noted.append(fault)
    return fault


@contextmanager
def contained(path: str, doing: str, line: int = 0) -> Iterator[None]:
    """What goes wrong until it ends costs what is inside, and nothing else."""
    try:
        yield
    except Exception as error:
        note(error, path, doing, line)


def as_far_as_it_goes(items: Callable[[], Iterable[_Item]], path: str, doing: str, line: int = 0) -> Iterator[_Item]:
    """Items up to the one that cannot be had."""
    with contained(path, doing, line):
        yield from items()
