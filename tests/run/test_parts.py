"""Work in copies of a process: cut in order, answered by name, and done again where a copy breaks off."""

from __future__ import annotations

import os

import pytest

from bwlint.run import parts

needs_fork = pytest.mark.skipif(not parts.can_copy(), reason="this system has no fork")


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
    assert parts.stretches(weights, count) == expected


@needs_fork
def test_what_both_sides_know_is_the_same_object_in_an_answer() -> None:
    known = [object.__new__(_Thing), object.__new__(_Thing)]
    copy = parts.begin(0, 2, lambda start, stop: {"found": known[start:stop], "pid": os.getpid()}, known)
    answer = parts.ended(copy, known)
    assert [id(one) for one in answer["found"]] == [id(one) for one in known]
    assert answer["pid"] != os.getpid()


@needs_fork
def test_a_copy_that_breaks_off_answers_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def fails(start: int, stop: int) -> object:
        raise ValueError(f"{start} to {stop}")

    assert parts.ended(parts.begin(0, 1, fails, ()), ()) is None
    assert capfd.readouterr() == ("", "")


class _Thing:
    """What pickle could carry, but need not."""
