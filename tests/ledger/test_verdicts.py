"""Of what kind a question is before `check` has a say, and why."""

from __future__ import annotations

import pytest

from bwlint.ledger.question import Question
from bwlint.ledger.verdicts import verdict
from bwlint.model.ledger import RowForm, RowPlace

PASSES: list[tuple[RowForm, set[str], str]] = [
    ("gate", {"all-alike"}, "12.x, 10.0, 9.0 and 8.9 get the same answer"),
    ("guard", {"all-alike", "is-guard"}, "12.x, 10.0, 9.0 and 8.9 get the same answer"),
    ("gate", {"nobody-gets-here"}, "no asked chip gets here"),
    ("word", {"names-nobody"}, "no number and no chip is compared here: where that is done, it is a row of its own"),
    ("text", {"names-others"}, "a comment or a text that names no asked chip decides nothing"),
]
OTHERS: list[tuple[RowForm, set[str], str, str]] = [
    # Half of the family alike, the other not: nothing passes.
    ("gate", {"all-alike", "splits-family"}, "review", "12.0 and 12.1 get different answers"),
    ("gate", {"all-alike", "nobody-gets-here"}, "open", "what stands behind it is not known"),
    ("build", {"all-alike"}, "open", "what is built is known, what needs it is not"),
    ("asked", {"all-alike", "is-rough"}, "open", "recognised by its spelling alone"),
    ("list", {"all-alike"}, "open", "what stands behind it is not known"),
    ("gate", {"with-10-unlike-9"}, "review", "12.x goes with 10.0 and not with 9.0"),
    ("asked", {"with-9-and-10-unlike-8"}, "review", "12.x goes with 9.0 and 10.0, and 8.9 goes elsewhere"),
    ("gate", {"not-evaluated"}, "open", "the test could not be evaluated"),
    ("text", {"names-asked"}, "open", "names an asked chip: nothing compares the text with the code"),
    (
        "text",
        {"names-others", "names-one-twin"},
        "open",
        "names an asked chip: nothing compares the text with the code",
    ),
    ("name", set(), "open", "names a generation: the tests in front of it decide who gets here"),
    ("word", {"has-a-number"}, "open", "a number stands beside it that may be a chip's"),
    ("amount", set(), "open", "asks for what chips differ in: nothing proves that it fits"),
]


def question(form: RowForm, marks: set[str], passes: str = "") -> Question:
    place = (RowPlace("/a.py", 1, 1),)
    return Question(form=form, subject="f", text="x", places=place, marks=frozenset(marks), passes=passes)


@pytest.mark.parametrize(("form", "marks", "why"), PASSES)
def test_what_passes(form: RowForm, marks: set[str], why: str) -> None:
    found = verdict(question(form, marks))
    assert (found.kind, found.why) == ("pass", why)


@pytest.mark.parametrize(("form", "marks", "kind", "why"), OTHERS)
def test_what_does_not(form: RowForm, marks: set[str], kind: str, why: str) -> None:
    found = verdict(question(form, marks))
    assert (found.kind, found.why) == (kind, why)


def test_a_reason_of_its_own() -> None:
    assert verdict(question("amount", {"with-10-unlike-9"}, "asks for 1 KiB")).kind == "pass"
