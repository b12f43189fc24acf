"""The weights, and the score that they add up to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import bwlint
from bwlint.chips.suspicion import weights
from bwlint.ledger.ranking import parts
from bwlint.model.kinds import CarryKind, GateKind, OperationKind
from bwlint.model.ledger import ROW_FORMS, WHATS

LEDGER = "".join(file.read_text("utf-8") for file in (Path(bwlint.__file__).parent / "ledger").glob("*.py"))
ASIDE = (Path(bwlint.__file__).parent / "judging/aside.py").read_text("utf-8")
MADE = {
    *(f"is-{kind}" for kind in (*get_args(GateKind), *get_args(CarryKind), *ROW_FORMS)),
    *(f"is-op-{kind}" for kind in get_args(OperationKind)),
    *(f"form-{form}" for form in ROW_FORMS),
    *(f"speaks-of-{what}" for what in WHATS),
    *re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+|aside)"', LEDGER + ASIDE),
}


@pytest.mark.parametrize("name", weights())
def test_a_weight_is_of_a_mark_that_a_question_can_have(name: str) -> None:
    assert name in MADE
    assert weights()[name].points != 0


def test_the_parts_of_a_score() -> None:
    found = parts({"is-flag", "in-test", "found-by-check", "no-such-mark"})
    assert [part.name for part in found] == ["found-by-check", "in-test", "is-flag"]
    assert all(part.says for part in found)


def test_no_marks_no_score() -> None:
    assert parts(()) == ()
