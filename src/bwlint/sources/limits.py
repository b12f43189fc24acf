"""Limits on reading one file; a file over them is skipped with the reason."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bwlint.sources import disk
from bwlint.sources.errors import NestedTooDeep, ReadError

MOST_NESTED = 200
"""Brackets in brackets of a configuration file: the parsers of Python's library follow some 400."""
SECONDS = 120
"""Of a processor's time: a hundred times what the slowest file of any tree that was read takes."""

_BRACKET = re.compile(rb"[][{}]")


class _TooSlow(BaseException):
    """Nothing on its way may take it for a fault of the file."""


@contextmanager
def bounded(seconds: float = SECONDS) -> Iterator[None]:
    """Read one file within its limits.

    Raises `ReadError` where that takes more memory or stack than there is, or more than `seconds`; there is no limit
    on time in a thread, nor where the system has no such timer. A limit around this one goes on behind it.
    """
    has_timer = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGVTALRM, _stop) if has_timer else None
    around, _ = signal.setitimer(signal.ITIMER_VIRTUAL, seconds) if has_timer else (0.0, 0.0)
    try:
        yield
    except _TooSlow:
        disk.rests_on_more()
        raise ReadError(f"takes more than {seconds:g} seconds to read") from None
    except MemoryError:
        disk.rests_on_more()
        raise ReadError("needs more memory than available") from None
    except RecursionError:
        raise NestedTooDeep("nested too deep to analyse") from None
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_VIRTUAL, around)
            signal.signal(signal.SIGVTALRM, before)


def is_nested_too_deep(data: bytes) -> bool:
    """Whether brackets stand in more brackets than a parser follows; those in strings count too."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(data) if data.count(b"[") + data.count(b"{") > MOST_NESTED else ():
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest > MOST_NESTED


def _stop(*_: object) -> None:
    raise _TooSlow
