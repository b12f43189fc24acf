"""What one file may take: more of it is the end of that file's reading, and of nothing else."""

from __future__ import annotations

import contextlib
import signal
import sys

import pytest

from bwlint.sources import disk
from bwlint.sources.errors import ReadError
from bwlint.sources.limits import MOST_NESTED, bounded, is_nested_too_deep


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError, "needs more memory than available"), (RecursionError, "nested too deep to analyse")],
)
def test_too_much_is_said_in_words(error: type[Exception], reason: str) -> None:
    with pytest.raises(ReadError, match=reason), bounded():
        raise error


@pytest.mark.parametrize(("error", "is_kept"), [(MemoryError, False), (RecursionError, True)])
def test_what_another_machine_reads_is_no_answer_for_ever(error: type[Exception], is_kept: bool) -> None:
    with disk.watching() as watch:
        with pytest.raises(ReadError), bounded():
            raise error
        assert watch.is_steady is is_kept


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_time_ends_what_takes_every_error_for_its_own() -> None:
    with pytest.raises(ReadError, match=r"takes more than 0.05 seconds to read"), bounded(0.05):
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_the_timer_goes_with_the_file() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with bounded(0.05):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no such timer")
def test_a_limit_around_another_goes_on_behind_it() -> None:
    with bounded(100):
        with bounded(50):
            pass
        left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
        assert left > 50


@pytest.mark.parametrize(
    ("data", "too_deep"),
    [
        (b"x = [" * MOST_NESTED + b"]" * MOST_NESTED, False),
        (b"[" * (MOST_NESTED + 1) + b"]" * (MOST_NESTED + 1), True),
        (b"{" * (MOST_NESTED + 1), True),
        (b"[]" * 10 * MOST_NESTED, False),
    ],
)
def test_brackets_in_brackets(data: bytes, too_deep: bool) -> None:
    assert is_nested_too_deep(data) is too_deep
