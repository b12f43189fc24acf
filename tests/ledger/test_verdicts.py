"""Of what kind a question is before `check` has a say, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.question import Question, Table, columns, shape
from bwlint.ledger.verdicts import verdict
from bwlint.model.ledger import RowForm, RowPlace, RowWay

TCGEN05 = (
    "Does code that depends on this need tcgen05, tensor memory or more than 99 KiB of shared memory, which 12.x lack?"
)
WGMMA = "Does code that depends on this need wgmma or tcgen05, which 12.x lack? TMA and clusters are there."
OTHER_WAY = "Would 12.x run what the others get, or is this the right way for them?"

BOTH = ChipSet.of("12.0", "12.1")
YES = "8.9 9.0 10.0 10.3 11.0 12.0 12.1"


def table(yes: str, asked: ChipSet = BOTH, other: str = "no", **told: str) -> Table:
    """A table that says yes for some chips and `other` for the rest; `told` by "c9_0"."""
    said = {chip[1:].replace("_", "."): answer for chip, answer in told.items()}
    return tuple((chip, said.get(chip, "yes" if chip in yes.split() else other)) for chip in columns(asked))


def question(
    form: RowForm, answers: Table = (), marks: str = "", passes: str = "", asked: ChipSet = BOTH, decided: Table = ()
) -> Question:
    place = (RowPlace("/a.py", 1, 1),)
    found = frozenset({*marks.split(), *shape(decided or answers, asked.names)})
    return Question(
        form=form, subject="f", text="x", places=place, table=answers, decided=decided, marks=found, passes=passes
    )


@pytest.mark.parametrize(
    ("form", "answers", "marks", "why"),
    [
        ("gate", table(YES), "", "12.x, 10.0, 9.0 and 8.9 get the same answer"),
        ("gate", table(""), "", "12.x, 10.0, 9.0 and 8.9 get the same answer"),
        ("guard", table(YES), "is-guard", "12.x, 10.0, 9.0 and 8.9 get the same answer"),
        (
            "gate",
            table(YES),
            "is-helper-call",
            "this call checks nothing itself; the check inside has its own row",
        ),
        ("gate", table("9.0", c12_0="-", c12_1="-"), "", "no checked chip gets here"),
        ("word", (), "", "compares no number and no chip; a comparison elsewhere has its own row"),
        ("text", (), "names-others", "a comment or a text that names no checked chip decides nothing"),
    ],
)
def test_what_passes(form: RowForm, answers: Table, marks: str, why: str) -> None:
    found = verdict(question(form, answers, marks), BOTH)
    assert (found.kind, found.why) == ("pass", why)


@pytest.mark.parametrize(
    ("does", "named"),
    [
        ("calls `fp4_gemm`", "the call of `fp4_gemm`"),
        ("calls `prepare`, `fp4_gemm` and returns", "the call of `prepare`, `fp4_gemm`"),
        ("sets 3", "code that depends on this"),
        ("`is_new` is true", "code that depends on this"),
    ],
)
def test_what_is_behind_is_named(does: str, named: str) -> None:
    asked = replace(question("gate", table("10.0 12.0 12.1")), ways=(RowWay(("12.0", "12.1"), does),))
    assert verdict(asked, BOTH).why.endswith(TCGEN05.replace("code that depends on this", named))


@pytest.mark.parametrize(
    ("form", "answers", "marks", "kind", "why"),
    [
        ("gate", table("8.9 9.0 10.0 12.0"), "", "review", "different answers for 12.0 and 12.1"),
        ("gate", table(YES, c12_1="-"), "", "review", "different answers for 12.0 and 12.1"),
        ("build", table("12.0"), "", "review", "code for these targets loads on only one of 12.0 and 12.1"),
        ("build", table(YES), "", "open", "bwlint knows what this builds, but not what needs it"),
        ("asked", table(YES), "", "open", "bwlint knows it by its spelling alone"),
        ("gate", table("", other="error"), "", "open", "bwlint does not know the code behind it"),
        ("list", table(YES), "", "open", "bwlint does not know the code behind it"),
        # A neighbour of which nothing is known lets nothing pass, and is not compared.
        ("gate", table(YES, c9_0="?"), "", "open", "bwlint does not know the code behind it"),
        (
            "gate",
            table("12.0 12.1 10.0", c9_0="?"),
            "",
            "review",
            "Treats 12.x and 10.0 alike, and 8.9 differently. " + TCGEN05,
        ),
        (
            "gate",
            table("10.0 12.0 12.1"),
            "",
            "review",
            "Treats 12.x and 10.0 alike, and 8.9 and 9.0 differently. " + TCGEN05,
        ),
        (
            "gate",
            table("9.0"),
            "",
            "review",
            "Treats 12.x, 8.9 and 10.0 alike, and 9.0 differently. " + OTHER_WAY,
        ),
        (
            "asked",
            table("9.0 10.0 12.0 12.1"),
            "",
            "review",
            "Treats 12.x, 9.0 and 10.0 alike, and 8.9 differently. " + WGMMA,
        ),
        (
            "gate",
            table("12.0 12.1"),
            "",
            "review",
            "Treats 12.x unlike 8.9, 9.0 and 10.0. Is there a reason?",
        ),
        (
            "gate",
            table("", other="else", c8_9="arm 1", c9_0="arm 1", c10_0="arm 2"),
            "",
            "review",
            "Treats 12.x like no neighbour. Is there a reason?",
        ),
        # Who is built for is told first, whichever way the asked chips go.
        (
            "build",
            table("8.9"),
            "",
            "review",
            "code for these targets loads on 8.9, and not on 12.x, 9.0 and 10.0",
        ),
        (
            "build",
            table("8.9 9.0"),
            "",
            "review",
            "code for these targets loads on 8.9 and 9.0, and not on 12.x and 10.0",
        ),
        (
            "build",
            table("9.0 12.0 12.1"),
            "",
            "review",
            "code for these targets loads on 12.x and 9.0, and not on 8.9 and 10.0",
        ),
        (
            "build",
            table("12.0 12.1"),
            "",
            "review",
            "code for these targets loads on 12.x, and not on 8.9, 9.0 and 10.0",
        ),
        ("gate", table(YES, c12_0="?", c12_1="?"), "", "open", "bwlint could not evaluate this check"),
        ("gate", (), "", "open", "bwlint could not evaluate this check"),
        ("text", (), "names-asked", "open", "names a checked chip; nothing compares the text with the code"),
        ("name", (), "", "open", "names a generation; bwlint does not know what that decides"),
        ("word", (), "has-a-number", "open", "a number beside it may name a chip"),
        ("amount", (), "", "open", "needs something that chips differ in; nothing proves that it fits"),
    ],
)
def test_what_does_not(form: RowForm, answers: Table, marks: str, kind: str, why: str) -> None:
    found = verdict(question(form, answers, marks), BOTH)
    assert (found.kind, found.why) == (kind, why)


@pytest.mark.parametrize(
    ("asked", "answers", "why"),
    [
        ("9.0", "9.0", "Treats 9.0 unlike 8.9 and 10.0. Is there a reason?"),
        ("9.0", "8.9 9.0", "Treats 9.0 and 8.9 alike, and 10.0 differently. Is there a reason?"),
        # That the twins differ is no matter of Hopper's.
        ("9.0", "8.9 9.0 10.0 12.0", "8.9"),
        ("10.0", "10.0 12.0 12.1", "Treats 10.0 unlike 8.9 and 9.0. Is there a reason?"),
        ("9.0 12.0", "9.0", "different answers for 9.0 and 12.0"),
        ("12.0", "12.0", "different answers for 12.0 and 12.1"),
    ],
)
def test_other_chips_are_asked_about(asked: str, answers: str, why: str) -> None:
    chips = ChipSet.of(*asked.split())
    found = verdict(question("gate", table(answers, chips), asked=chips), chips)
    assert why in found.why


def test_what_depends_on_more_than_the_chip_says_so() -> None:
    told, decided = table("", other="may"), table("10.0 12.0 12.1")
    found = verdict(question("gate", told, decided=decided), BOTH)
    assert (
        found.why == "The chip's part of this check treats 12.x and 10.0 alike, and 8.9 and 9.0 differently. " + TCGEN05
    )


def test_what_depends_on_more_for_some_chips_is_not_alike() -> None:
    told, decided = table("8.9 9.0 10.0", other="may"), table(YES)
    assert verdict(question("gate", told, decided=decided), BOTH).kind == "open"


def test_a_reason_of_its_own() -> None:
    assert verdict(question("amount", table("10.0 12.0 12.1"), passes="asks for 1 KiB"), BOTH).kind == "pass"
