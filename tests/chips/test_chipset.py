"""The algebra of chip sets and the words for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bwlint.chips import EVERY, NONE, ChipSet, all_chips, chip, families, siblings

SETS = st.integers(min_value=0, max_value=EVERY.mask).map(ChipSet)


def from_to(oldest: int, newest: int = 999) -> ChipSet:
    return ChipSet.where(lambda each: oldest <= each.joined <= newest)


def major(*numbers: int) -> ChipSet:
    return ChipSet.where(lambda each: each.major in numbers)


WORDS = [
    (NONE, "no chip"),
    (EVERY, "every chip"),
    (ChipSet.of("12.0"), "12.0 only"),
    (ChipSet.of("12.1"), "12.1 only"),
    (ChipSet.of("10.1"), "10.1 only"),
    (ChipSet.of("12.0", "12.1"), "12.x"),
    (major(8), "8.x"),
    (ChipSet.of("10.0", "10.3", "10.7"), "10.x"),
    (ChipSet.of("10.0", "10.1", "10.3", "10.7"), "10.x"),
    (ChipSet.of("10.0", "10.3"), "10.0 and 10.3"),
    (ChipSet.of("8.6", "8.7", "8.8"), "8.6 to 8.8"),
    (ChipSet.of("8.9", "9.0"), "8.9 and 9.0"),
    (ChipSet.of("9.0", "12.0"), "9.0 and 12.0"),
    (ChipSet.of("8.9", "12.0"), "8.9 and 12.0"),
    (ChipSet.of("11.0", "12.0"), "11.0 and 12.0"),
    (from_to(90), "9.0 and newer"),
    (from_to(90) - ChipSet.of("10.1"), "9.0 and newer"),
    (from_to(103), "10.3 and newer"),
    (from_to(72), "7.2 and newer"),
    (from_to(110), "11.0 and newer"),
    (from_to(80, 90), "8.x and 9.0"),
    (from_to(100, 110), "10.x and 11.0"),
    (from_to(70, 90), "7.0 to 9.0"),
    (from_to(70, 107), "7.x to 10.x"),
    (major(8) | ChipSet.of("9.0", "12.0"), "8.x, 9.0 and 12.0"),
    (major(9, 10, 12), "9.0, 10.x and 12.x"),
    (major(9, 12), "9.0 and 12.x"),
    (ChipSet.of("8.0", "9.0", "10.0", "12.0"), "8.0, 9.0, 10.0 and 12.0"),
    (~major(12), "every chip but 12.x"),
    (~major(12) - ChipSet.of("10.1"), "every chip but 12.x"),
    (~ChipSet.of("10.1"), "every chip but 10.1"),
    (~major(10), "every chip but 10.x"),
    (~ChipSet.of("12.1"), "every chip but 12.1"),
    (~ChipSet.of("8.9"), "every chip but 8.9"),
    (~major(9, 12), "every chip but 9.0 and 12.x"),
]


@pytest.mark.parametrize(("chips", "words"), WORDS, ids=[words for _, words in WORDS])
def test_words(chips: ChipSet, words: str) -> None:
    assert str(chips) == words


@given(SETS, SETS)
def test_algebra_is_that_of_sets(left: ChipSet, right: ChipSet) -> None:
    one, two, every = set(left), set(right), set(all_chips())
    assert set(left | right) == one | two
    assert set(left & right) == one & two
    assert set(left - right) == one - two
    assert set(~left) == every - one
    assert (left <= right) == (one <= two)
    assert (left == right) == (one == two)
    assert bool(left) == bool(one)
    assert len(left) == len(one)


@given(SETS)
def test_names_lead_back_to_the_set(chips: ChipSet) -> None:
    assert ChipSet.of(*chips.names) == chips
    assert hash(ChipSet(chips.mask)) == hash(chips)
    assert [each.joined for each in chips] == sorted(each.joined for each in chips)


@given(SETS)
def test_words_say_one_thing(chips: ChipSet) -> None:
    """Only the former name of 11.0 may go unmentioned."""
    others = ChipSet.where(lambda each: each.major == 10 and each.name != "10.1")
    untold = (
        {chips, ChipSet(chips.mask ^ ChipSet.of("10.1").mask)} if others <= chips or not others & chips else {chips}
    )
    assert str(chips)
    for other in (ChipSet(chips.mask ^ 1 << place) for place in range(len(EVERY))):
        assert other in untold or str(other) != str(chips)


def test_membership_by_name_and_by_chip() -> None:
    consumer = ChipSet.of("12.0", "12.1")
    assert "12.0" in consumer
    assert chip("12.1") in consumer
    assert "10.0" not in consumer
    assert "13.0" not in EVERY


def test_unknown_chips_are_refused() -> None:
    with pytest.raises(ValueError, match=r"13\.0"):
        ChipSet.of("13.0")
    with pytest.raises(ValueError, match="mask"):
        ChipSet(1 << 16)
    with pytest.raises(ValueError, match="mask"):
        ChipSet(-1)
    with pytest.raises(ValueError, match="100f, 101f, 110f, 120f"):
        ChipSet.family("90f")


def test_families() -> None:
    assert {name: chips.names for name, chips in families().items()} == {
        "100f": ("10.0", "10.3", "10.7"),
        "101f": ("10.1",),
        "110f": ("11.0",),
        "120f": ("12.0", "12.1"),
    }


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("12.1", ("12.0", "12.1")),
        ("10.3", ("10.0", "10.3", "10.7")),
        ("10.1", ("10.1",)),
        ("11.0", ("11.0",)),
        ("9.0", ("9.0",)),
        ("8.9", ("8.9",)),
    ],
)
def test_siblings(name: str, names: tuple[str, ...]) -> None:
    assert siblings(chip(name)).names == names
