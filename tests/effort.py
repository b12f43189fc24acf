"""How much work something is: time of this process alone, and several tries, as others may use the machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
_TRIES = 5


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail where a block takes more time of the processor: give ten times what it takes."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < seconds, f"{took:.1f} s of work"


def grows_as_its_input(work: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Fail where an input four times as long is always much more than four times the work: its square is sixteen."""
    short, long = make(size), make(4 * size)
    for _ in range(_TRIES):
        once, more = _seconds(work, short), _seconds(work, long)
        if more < 10 * once + 0.05:
            return
    raise AssertionError(f"{more:.2f} s after {once:.2f} s")


def _seconds(work: Callable[[T], object], on: T) -> float:
    began = time.process_time()
    work(on)
    return time.process_time() - began
