"""What the answers of asked chips are like beside those of their neighbours."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.question import NEIGHBOURS, columns, shape

ASKED = ("12.0", "12.1")
SHAPES = {
    # 8.9, 9.0, 10.0, 12.0, 12.1
    "y y y y y": {"all-alike"},
    "n n n n n": {"all-alike"},
    "n y y y y": {"with-9-and-10-unlike-8"},
    "n n y y y": {"with-10-unlike-9"},
    "n y n n n": {"with-10-and-8-unlike-9"},
    "n n y n n": {"with-8-and-9-unlike-10"},
    "y n n y y": {"with-8-unlike-9-and-10"},
    "y y n y y": {"with-8-and-9-unlike-10"},
    "n y n y y": {"with-9-unlike-10"},
    "n n n y y": {"unlike-8-and-9-and-10"},
    "a b c d d": {"unlike-all"},
    "n n n y n": {"splits-family", "unlike-8-and-9-and-10", "all-alike"},
    "y y y - -": {"nobody-gets-here"},
    "y y y ? ?": {"not-evaluated"},
}


@pytest.mark.parametrize("answers", SHAPES)
def test_a_shape(answers: str) -> None:
    table = tuple(zip(("8.9", "9.0", "10.0", "12.0", "12.1"), answers.split(), strict=True))
    assert shape(table, ASKED) == SHAPES[answers]


def test_no_table_is_not_evaluated() -> None:
    assert shape((), ASKED) == {"not-evaluated"}


@pytest.mark.parametrize("asked", [("12.0", "12.1"), ("12.1",), ("9.0",), ("8.0",)])
def test_columns_begin_with_the_chips_asked_about_and_have_all_neighbours(asked: tuple[str, ...]) -> None:
    found = columns(ChipSet.of(*asked))
    assert found[: len(asked)] == asked
    assert set(NEIGHBOURS) <= set(found) and len(set(found)) == len(found)
