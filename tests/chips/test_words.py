"""What people call chips and how they say for whom a test is: words.toml."""

from __future__ import annotations

import re

import pytest

from bwlint.chips import all_chips, group, words
from bwlint.data import table

CONSUMER, SECOND = group("consumer-blackwell"), group("second-consumer")


@pytest.mark.parametrize("row", table("words")["vocabulary"], ids=lambda row: row["name"])
def test_every_word_is_an_expression_without_groups(row: dict[str, list[str]]) -> None:
    assert all(re.compile(word).groups == 0 for word in row["words"])


def test_nicknames_are_those_of_chips() -> None:
    names = {chip.name for chip in all_chips()}
    assert {row["chip"] for row in table("words")["nickname"]} <= names


@pytest.mark.parametrize(
    ("piece", "yes", "no"),
    [
        (words.said("on-purpose"), ("exactly this part", "Deliberately", "by design"), ("purpose",)),
        (words.said("workaround", "tuning"), ("work-around", "WORK_AROUND", "tuned"), ("working around",)),
        (words.said("open-ended"), ("SM90 or newer", "and up"), ("newer",)),
        (words.nicknames(SECOND), ("GB10", "DGX Spark"), ("RTX 5090",)),
        (words.nicknames(CONSUMER), ("GB10", "RTX 5090"), ("B200",)),
        (words.numbers(SECOND), ("sm_121", "SM121a", "12.1"), ("sm_120", "121")),
        (words.pinned(CONSUMER), ("120a", "sm_121a", "is_12_0"), ("120f", "100a")),
        (words.families(CONSUMER), ("sm_12x", "120f", "blackwell"), ("100f", "sm_120a")),
        (words.nicknames(group("thor")), (), ("thor",)),
    ],
)
def test_pieces(piece: str, yes: tuple[str, ...], no: tuple[str, ...]) -> None:
    found = re.compile(piece, re.I)
    for text in yes:
        assert found.search(text), text
    for text in no:
        assert not found.search(text), text


def test_a_vocabulary_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        words.said("nonsense")
