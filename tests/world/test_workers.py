"""Processes that read end with the one that began them."""

from __future__ import annotations

import os
import signal

import pytest
from processes import SECONDS, begun, line

from bwlint.world import workers

ENDLESS = """
import os, time
from bwlint.world.workers import workers

def endless(_):
    os.write(1, b"begun\\n")  # in one piece, whoever else writes
    time.sleep(3600)

def nothing():
    pass

if __name__ == "__main__":
    with workers(3, begin=nothing) as pool:
        list(pool.map(endless, range(3)))
"""
needs_fork = pytest.mark.skipif(not workers.can_copy(), reason="this system has no fork")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_workers_end_with_a_parent_that_a_signal_ends(name: str) -> None:
    process = begun(ENDLESS)
    assert [line(process) for _ in range(3)] == [b"begun\n"] * 3
    process.send_signal(getattr(signal, name))
    # They hold the pipe too: this comes back when the last of them is gone.
    process.communicate(timeout=SECONDS)
    assert process.returncode == -getattr(signal, name)


@pytest.mark.parametrize(
    ("weights", "count", "expected"),
    [
        ([1, 1, 1, 1], 2, [(0, 2), (2, 4)]),
        ([1, 1, 1, 1], 4, [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ([10, 1, 1, 1], 2, [(0, 1), (1, 4)]),
        ([1, 1, 1, 10], 2, [(0, 4)]),
        ([100, 1], 4, [(0, 1), (1, 2)]),
        ([5], 3, [(0, 1)]),
    ],
)
def test_stretches_are_whole_and_in_order(weights: list[int], count: int, expected: list[tuple[int, int]]) -> None:
    assert workers.stretches(weights, count) == expected


@needs_fork
def test_what_both_sides_know_is_the_same_object_in_an_answer() -> None:
    known = [object.__new__(_Thing), object.__new__(_Thing)]
    copy = workers.begin(0, 2, lambda start, stop: {"found": known[start:stop], "pid": os.getpid()}, known)
    answer = workers.ended(copy, known)
    assert [id(one) for one in answer["found"]] == [id(one) for one in known]
    assert answer["pid"] != os.getpid()


@needs_fork
def test_a_copy_that_breaks_off_answers_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def fails(start: int, stop: int) -> object:
        raise ValueError(f"{start} to {stop}")

    assert workers.ended(workers.begin(0, 1, fails, ()), ()) is None
    assert capfd.readouterr() == ("", "")


class _Thing:
    """What pickle could carry, but need not."""
