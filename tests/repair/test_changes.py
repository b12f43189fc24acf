"""Changes of one text, and rounds of them as one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bwlint.repair.changes import TextChange, changed, combined, get_on, moved, origin


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (TextChange(0, 2, "a"), TextChange(2, 4, "b"), True),
        (TextChange(0, 2, "a"), TextChange(1, 4, "b"), False),
        (TextChange(0, 2, "a"), TextChange(0, 2, "a"), True),
        (TextChange(0, 2, "a"), TextChange(0, 2, "b"), False),
        (TextChange(2, 2, "a"), TextChange(2, 2, "a"), True),
        (TextChange(2, 2, "a"), TextChange(2, 2, "b"), False),
        (TextChange(2, 2, "a"), TextChange(2, 4, "b"), False),
        (TextChange(0, 2, "a"), TextChange(2, 2, "b"), False),
        (TextChange(0, 4, "a"), TextChange(2, 2, "b"), False),
        (TextChange(0, 2, "a"), TextChange(3, 3, "b"), True),
        (TextChange(0, 9, "a"), TextChange(2, 3, "b"), False),
        (TextChange(2, 3, "a"), TextChange(0, 9, "b"), False),
    ],
)
def test_which_get_on(first: TextChange, second: TextChange, together: bool) -> None:
    assert get_on([first, second]) is together
    assert get_on([second, first]) is together


@pytest.mark.parametrize(("offset", "after"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 3), (5, 4), (6, 8), (7, 9), (8, 10)])
def test_moved(offset: int, after: int) -> None:
    changes = [TextChange(1, 4, "XX"), TextChange(6, 6, "YYY")]
    assert changed("abcdefgh", changes) == "aXXefYYYgh"
    assert moved(offset, changes) == after


@st.composite
def rounds(draw: st.DrawFn) -> tuple[str, list[TextChange], list[TextChange]]:
    source = draw(st.text("ab\n", max_size=12))
    first = draw(some_changes(source))
    return source, first, draw(some_changes(changed(source, first)))


def some_changes(source: str) -> st.SearchStrategy[list[TextChange]]:
    places = st.tuples(st.integers(0, len(source)), st.integers(0, len(source)), st.text("XY\n", max_size=3))
    made = places.map(lambda place: TextChange(min(place[:2]), max(place[:2]), place[2]))
    return st.lists(made, max_size=4).map(_fitting)


def _fitting(some: list[TextChange]) -> list[TextChange]:
    kept: list[TextChange] = []
    for change in some:
        if change not in kept and get_on([*kept, change]):
            kept.append(change)
    return sorted(kept)


@given(rounds())
@settings(max_examples=400, deadline=None)
def test_two_rounds_are_one(case: tuple[str, list[TextChange], list[TextChange]]) -> None:
    source, first, second = case
    both = combined(source, first, second)
    assert changed(source, both) == changed(changed(source, first), second)
    assert list(both) == sorted(both)
    assert all(one.end < other.start for one, other in pairwise(both))


@given(rounds())
@settings(max_examples=200, deadline=None)
def test_a_later_change_stands_within_one_of_the_whole(case: tuple[str, list[TextChange], list[TextChange]]) -> None:
    source, first, second = case
    both = combined(source, first, second)
    for change in second:
        start, end = origin(change.start, change.end, first)
        assert 0 <= start <= end <= len(source)
        assert any(whole.start <= start and end <= whole.end for whole in both)
