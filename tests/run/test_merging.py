"""Which drafts of one file are about one fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bwlint.chips import NONE
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Gate, Module, Side
from bwlint.model.findings import Severity
from bwlint.rules import checks, file_checks, guard_checks
from bwlint.run.merging import one_each

HERE = Module(path="a.py", language="python", name="a")
TEST, PART, TEXT, OTHER = Span(3, 4, 3, 40), Span(3, 8, 3, 20), Span(4, 8, 4, 30), Span(9, 4, 9, 40)
RULES = {rule.name: rule for rule, _ in (*checks(), *guard_checks(), *file_checks())}


def draft(rule: str, severity: Severity, at: Span, about: Span | None = None, cause: str = "") -> Draft:
    related = (RelatedSpan(HERE, about, "the test"),) if about else ()
    behind = (cause, TEST) if cause else None
    return Draft(
        rule=RULES[rule],
        place=DraftPlace(module=HERE, at=at, admitted=NONE, certain=NONE),
        severity=severity,
        confidence="high",
        message="",
        label="",
        advice="",
        related=related,
        cause=behind,
    )


CASES = {
    "a test and its text": (
        [draft("test-gate", "note", TEST), draft("message", "note", TEXT, TEST)],
        [("test-gate", TEST)],
    ),
    "a text and the test that it is as wrong as": (
        [draft("leak", "warning", TEST), draft("message", "warning", TEXT, TEST)],
        [("leak", TEST)],
    ),
    "tests that lead to one refusal": (
        [draft("leak", "warning", TEST, cause="b.py"), draft("leak", "warning", OTHER, cause="b.py")],
        [("leak", TEST)],
    ),
    "a guard and the kernel that it empties": (
        [draft("empty-body", "warning", OTHER, TEST), draft("family-split", "warning", TEST)],
        [("family-split", TEST)],
    ),
    "one rule at a test and at a part of it": (
        [draft("test-gate", "note", TEST), draft("test-gate", "warning", PART)],
        [("test-gate", PART)],
    ),
    "two rules at one test": (
        [draft("excluded", "note", TEST), draft("leak", "note", TEST)],
        [("leak", TEST)],
    ),
    "a text that is wrong, and a test that may be": (
        [draft("test-gate", "note", TEST), draft("message", "warning", TEXT, TEST)],
        [("test-gate", TEST), ("message", TEXT)],
    ),
    "tests that lead to two refusals": (
        [draft("leak", "warning", TEST, cause="b.py"), draft("leak", "warning", OTHER, cause="c.py")],
        [("leak", TEST), ("leak", OTHER)],
    ),
    "a text alone": ([draft("message", "note", TEXT, TEST)], [("message", TEXT)]),
    "the text of another test": (
        [draft("leak", "note", OTHER), draft("message", "note", TEXT, TEST)],
        [("message", TEXT), ("leak", OTHER)],
    ),
    "two tests": (
        [draft("leak", "note", TEST), draft("leak", "note", OTHER)],
        [("leak", TEST), ("leak", OTHER)],
    ),
    "two texts of one test": (
        [draft("message", "note", TEXT, TEST), draft("message", "note", OTHER, TEST)],
        [("message", TEXT), ("message", OTHER)],
    ),
    "limits of one launch are faults of their own": (
        [draft("smem", "warning", TEST), draft("unchecked-launch", "warning", TEST)],
        [("smem", TEST), ("unchecked-launch", TEST)],
    ),
    "nothing": ([], []),
}


@pytest.mark.parametrize("name", CASES)
def test_one_fault_is_one_finding(name: str) -> None:
    drafts, expected = CASES[name]
    for order in (drafts, drafts[::-1]):
        assert [(found.rule.name, found.at) for found in one_each(order)] == expected


def test_what_is_left_out_is_related() -> None:
    (found,) = one_each([draft("leak", "warning", TEST), draft("message", "note", TEXT, TEST)])
    assert [(related.at, related.rule) for related in found.related] == [(TEXT, "message")]


@pytest.mark.parametrize(
    ("severities", "kept"),
    [(("note", "note", "note"), 1), (("warning", "warning"), 2), (("note",), 1)],
)
def test_the_same_test_is_told_once(severities: tuple[Severity, ...], kept: int) -> None:
    """Uses of one skip helper, say: the first is told with the number of the others and where they are."""
    found = one_each(
        replace(draft("excluded", severity, Span(line, 4, line, 40)), place=of_test(Span(line, 4, line, 40)))
        for line, severity in enumerate(severities, start=1)
    )
    assert len(found) == kept
    assert len(found[0].related) == len(severities) - kept
    assert ("2 other places" in found[0].message) == (kept == 1 < len(severities))


def of_test(at: Span, test: Expr = Expr("name", ("has_fa3",))) -> DraftPlace:  # noqa: B008 - never changed
    gate = Gate(kind="skipif", qualname="f", test=test, at=at, leaf=None, yes=Side(ends="skip"), no=Side(ends="fall"))
    return DraftPlace(module=HERE, at=at, admitted=NONE, certain=NONE, gate=gate)


def test_no_place_is_lost() -> None:
    places = [Span(line, 4, line, 40) for line in range(1, 60)]
    (found,) = one_each(draft("leak", "warning", at, cause="b.py") for at in places)
    assert [found.at, *(related.at for related in found.related)] == places
