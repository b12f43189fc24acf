"""Record how a process ends, and its exceptions: uncaught ones, and those that pytest reports."""

from __future__ import annotations

import atexit
import sys
import threading
import traceback
from types import ModuleType, TracebackType
from typing import Any

from . import journal

_DEEPEST = 12
"""Frames of an exception that are told, the innermost."""


def watch() -> None:
    journal.note("start", " ".join(getattr(sys, "orig_argv", sys.argv)), where=None)
    atexit.register(_end)
    hook, of_thread = sys.excepthook, threading.excepthook

    def uncaught(kind: type[BaseException], error: BaseException, way: TracebackType | None) -> None:
        raised(error)
        hook(kind, error, way)

    def uncaught_in_thread(given: Any) -> None:
        if given.exc_value is not None:
            raised(given.exc_value)
        of_thread(given)

    sys.excepthook, threading.excepthook = uncaught, uncaught_in_thread


def _end() -> None:
    # A library may have put its own hook in the place of ours.
    last = getattr(sys, "last_value", None)
    if last is not None:
        raised(last)
    journal.note("end", "", where=None)


def raised(error: BaseException) -> None:
    """Write an exception down, with the way to where it was raised."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return
    way = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if not journal.is_own(frame)]
    frames = [journal.place(frame, line) for frame, line in way[-_DEEPEST:]]
    chosen = next((one for one in reversed(way) if not journal.passes_on(one[0])), way[-1] if way else None)
    where = None if chosen is None else journal.place(*chosen)
    journal.note("exception", type(error).__name__, message=_words(error), where=where, way=frames)


def _words(error: BaseException) -> str:
    try:
        return str(error)[:1000]
    except Exception:
        return ""


def apply(runner: ModuleType) -> None:
    """pytest's runner: what a test, its preparation or the collection of its file has raised, skips included."""
    made = runner.CallInfo.from_call.__func__

    def from_call(cls: Any, *arguments: Any, **named: Any) -> Any:
        call = made(cls, *arguments, **named)
        if call.excinfo is not None:
            raised(call.excinfo.value)
        return call

    runner.CallInfo.from_call = classmethod(from_call)
