"""From questions and findings to rows: what is asked once is one row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

import bwlint
from bwlint.chips import ChipSet
from bwlint.chips.suspicion import weights
from bwlint.ledger.question import Question
from bwlint.ledger.rows import FoundAt, fingerprint, parts, rows, told_of
from bwlint.model.findings import Finding, Region, Related, Severity, Suppressed
from bwlint.model.kinds import CarryKind, GateKind, OperationKind
from bwlint.model.ledger import ROW_FORMS, WHATS, Row, RowForm, RowGroup, RowPlace

BOTH = ChipSet.of("12.0", "12.1")
SPLIT = (("12.0", "yes"), ("12.1", "no"), ("8.9", "no"), ("9.0", "no"), ("10.0", "no"))
ALIKE = tuple((chip, "yes") for chip, _ in SPLIT)
NEGATED = tuple((chip, "no" if answer == "yes" else "yes") for chip, answer in SPLIT)
DEPENDING = tuple((chip, "may") for chip, _ in SPLIT)
LEDGER = "".join(file.read_text("utf-8") for file in (Path(bwlint.__file__).parent / "ledger").glob("*.py"))
ASIDE = (Path(bwlint.__file__).parent / "judging/aside.py").read_text("utf-8")
MADE = {
    *(f"is-{kind}" for kind in (*get_args(GateKind), *get_args(CarryKind), *ROW_FORMS)),
    *(f"is-op-{kind}" for kind in get_args(OperationKind)),
    *(f"form-{form}" for form in ROW_FORMS),
    *(f"speaks-of-{what}" for what in WHATS),
    *re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+|aside)"', LEDGER + ASIDE),
}


def ask(at: str = "a.py:3", marks: str = "splits-family", **changes: Any) -> Question:
    """A gate; `at` are its places, "file:line" or "file:line-line"."""
    values: dict[str, Any] = {
        "form": "gate",
        "subject": "f",
        "text": "cap == (12, 0)",
        "places": tuple(map(place, at.split())),
        "table": ALIKE if "all-alike" in marks else SPLIT,
        "marks": frozenset(marks.split()),
    }
    return Question(**{**values, **changes})


def place(at: str, says: str = "checked here") -> RowPlace:
    path, _, lines = at.rpartition(":")
    first, _, last = lines.partition("-")
    return RowPlace(f"/{path}", int(first), int(last or first), says)


def finding(at: str = "a.py:3", severity: Severity = "warning", **changes: Any) -> Finding:
    there = place(at)
    values: dict[str, Any] = {
        "rule": "BW101",
        "name": "family-split",
        "category": "gates",
        "severity": severity,
        "confidence": "high",
        "path": there.path,
        "region": Region(there.line, 1, there.end_line, 9),
        "message": f"{severity} at {at}",
        "fingerprint": f"{severity[0]}:{at}",
    }
    return Finding(**{**values, **changes})


def silenced(at: str = "a.py:3", reason: str = "measured") -> FoundAt:
    (told,) = told_of([], [Suppressed(finding(at), reason)], str)
    return told


def whose(real: str) -> RowGroup:
    return "vendored" if "third_party" in real else "own"


def made(*questions: Question, told: tuple[Finding | FoundAt, ...] = (), asked: ChipSet = BOTH) -> tuple[Row, ...]:
    findings = [one for one in told if isinstance(one, Finding)]
    every = (*told_of(findings, [], str), *(one for one in told if isinstance(one, FoundAt)))
    return rows(questions, every, asked, lambda real: real.lstrip("/"), whose)


def at(row: Row) -> list[str]:
    return [f"{one.path}:{one.line}" for one in row.places]


def test_a_row_tells_its_question() -> None:
    question = ask("a.py:3 a.py:9", "splits-family names-asked", behind="`f`: wgmma, works on 9.0, seen at /b.cu:7")
    (row,) = made(question)
    assert (row.kind, row.form, row.group, row.subject, row.question) == (
        "review",
        "gate",
        "own",
        "f",
        "cap == (12, 0)",
    )
    assert row.verdicts == (("12.0", "review"), ("12.1", "review"))
    assert (row.table, row.rough, row.ways, row.findings, row.same_subject) == (SPLIT, False, (), (), ())
    assert row.behind == "`f`: wgmma, works on 9.0, seen at b.cu:7"
    assert {part.name for part in row.parts} == {"names-asked", "form-gate", "is-to-review", "splits-family"}
    assert row.score == sum(part.points for part in row.parts)
    assert at(row) == ["a.py:3", "a.py:9"]
    assert re.fullmatch(r"[0-9a-f]{32}", row.fingerprint) and row.fingerprint == fingerprint(question)


def test_nothing_asked_is_no_row() -> None:
    assert made() == ()


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ({"key": ("k",)}, {"key": ("k",), "subject": "g", "text": "other"}, 1),
        ({"key": ("k",)}, {"key": ("l",), "subject": "g"}, 1),
        ({"key": ("k",)}, {"key": ("l",), "subject": "g", "text": "other"}, 2),
        ({"key": ("k",)}, {"key": ("k",), "form": "guard"}, 2),
        ({"key": ()}, {"key": (), "subject": "g", "text": "other"}, 2),
        ({}, {}, 1),
        ({}, {"marks": "names-asked"}, 1),
        ({}, {"text": "cap  ==\n(12,0)"}, 1),
        ({}, {"text": "cap == (12, 1)"}, 2),
        ({}, {"table": ALIKE}, 2),
        ({}, {"subject": "g"}, 1),
        ({}, {"subject": "g", "marks": "splits-family in-test"}, 2),
        ({}, {"subject": "g", "marks": "splits-family is-refused"}, 2),
        ({}, {"subject": "g", "marks": "all-alike"}, 2),
        ({"asks": ("is_new",)}, {"asks": ("is_new",), "subject": "g", "text": "other"}, 1),
        ({"asks": ("is_new",)}, {"asks": ("is_new",), "subject": "g", "text": "other", "table": NEGATED}, 1),
        ({"asks": ("is_new",)}, {"asks": ("is_new",), "subject": "g", "text": "other", "table": DEPENDING}, 2),
        (
            {"asks": ("is_new",)},
            {"asks": ("is_new",), "subject": "g", "text": "other", "table": DEPENDING, "decided": SPLIT},
            1,
        ),
        ({"asks": ("is_new",)}, {"asks": ("is_old",), "subject": "g", "text": "other"}, 2),
        ({}, {"form": "list"}, 2),
    ],
)
def test_what_is_one_row(one: dict[str, Any], other: dict[str, Any], count: int) -> None:
    found = made(ask("a.py:3", **one), ask("b.py:9", **other))
    assert len(found) == count
    assert sorted(place for row in found for place in at(row)) == ["a.py:3", "b.py:9"]


def test_questions_of_one_key_have_the_marks_and_places_of_all() -> None:
    first = ask("a.py:3", "is-flag", key=("k",), subject="first")
    (row,) = made(first, ask("a.py:3 b.py:9", "names-asked", key=("k",), behind="`x`"), ask("c.py:1", "", key=("k",)))
    assert (row.subject, row.behind, at(row)) == ("first", "`x`", ["a.py:3", "b.py:9", "c.py:1"])
    assert {part.name for part in row.parts} == {"is-flag", "names-asked", "form-gate", "is-to-review"}


def test_of_equal_rows_the_more_suspicious_is_told() -> None:
    (row,) = made(ask("b.py:1", ""), ask("a.py:9", "found-by-check"), ask("third_party/c.py:1", "found-by-check"))
    assert (row.group, at(row)) == ("own", ["a.py:9", "b.py:1", "third_party/c.py:1"])


def test_what_stands_in_many_places_is_said() -> None:
    few, many = (" ".join(f"a.py:{line}" for line in range(count)) for count in (7, 8))
    assert "many-places" not in {part.name for part in made(ask(few))[0].parts}
    assert "many-places" in {part.name for part in made(ask(many))[0].parts}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"places": (place("a.py:300"),)}, True),
        ({"places": (place("renamed.py:3"),)}, True),
        ({"text": " cap==(12,0) "}, True),
        ({"marks": ""}, True),
        ({"behind": "`f`"}, True),
        ({"passes": "fits"}, True),
        ({"rough": True}, True),
        ({"key": ("k",)}, True),
        ({"table": (*SPLIT, ("8.0", "yes"))}, True),
        ({"table": tuple(reversed(SPLIT))}, True),
        ({"text": "cap == (12, 1)"}, False),
        ({"table": ALIKE}, False),
        ({"table": ()}, False),
        ({"subject": "g"}, False),
        ({"form": "guard"}, False),
    ],
)
def test_what_a_fingerprint_rests_on(changes: dict[str, Any], same: bool) -> None:
    assert (fingerprint(ask(**changes)) == fingerprint(ask())) == same


@pytest.mark.parametrize("asked", [("12.0",), ("12.1",), ("9.0", "12.0"), ("8.0",)])
def test_a_fingerprint_does_not_depend_on_who_is_asked_about(asked: tuple[str, ...]) -> None:
    (row,) = made(ask(table=(*((chip, "no") for chip in asked if chip == "8.0"), *SPLIT)), asked=ChipSet.of(*asked))
    assert row.fingerprint == fingerprint(ask())
    assert [chip for chip, _ in row.verdicts] == list(asked)


def test_a_text_with_half_letters_has_a_fingerprint() -> None:
    assert len(fingerprint(ask(text="\udce9"))) == 32


@pytest.mark.parametrize(
    ("told", "kind", "why", "findings"),
    [
        ((), "review", "different answers for 12.0 and 12.1", ""),
        ((finding(),), "fail", "warning at a.py:3", "w:a.py:3"),
        ((finding(severity="error"),), "fail", "error at a.py:3", "e:a.py:3"),
        ((finding(severity="note"),), "review", "note at a.py:3", "n:a.py:3"),
        ((finding(severity="note"), finding()), "fail", "warning at a.py:3", "n:a.py:3 w:a.py:3"),
        ((silenced(),), "pass", "a comment silences it: measured", ""),
        ((silenced(), finding()), "fail", "warning at a.py:3", "w:a.py:3"),
        ((silenced(), finding(severity="note")), "review", "note at a.py:3", "n:a.py:3"),
        ((finding("a.py:1-3"),), "fail", "warning at a.py:1-3", "w:a.py:1-3"),
        ((finding("a.py:1-9"),), "fail", "warning at a.py:1-9", "w:a.py:1-9"),
        ((silenced("a.py:9"),), "review", "different answers for 12.0 and 12.1", ""),
    ],
)
def test_what_is_told_of_a_question(told: tuple[Finding | FoundAt, ...], kind: str, why: str, findings: str) -> None:
    (row,) = made(ask(), told=told)
    assert (row.kind, row.why, list(row.findings)) == (kind, why, findings.split())
    assert {kind for _, kind in row.verdicts} == {kind}
    assert ("found-by-check" in {part.name for part in row.parts}) == (kind == "fail")


@pytest.mark.parametrize(
    ("question", "where"),
    [
        (ask("a.py:3"), "a.py:2"),
        (ask("a.py:3"), "a.py:4-9"),
        (ask("a.py:3"), "b.py:3"),
        (ask("a.py:3", form="text"), "a.py:3"),
        (ask("a.py:3", form="name"), "a.py:3"),
        (ask("a.py:3", form="word"), "a.py:3"),
        (ask("a.py:3", form="unit"), "a.py:3"),
        (ask("a.py:3", form="product"), "a.py:3"),
        (ask(places=(place("a.py:3"), place("a.py:7", "its message"))), "a.py:7"),
    ],
)
def test_a_finding_about_which_nobody_asks_is_a_row(question: Question, where: str) -> None:
    found = made(question, told=(finding(where),))
    alone, other = sorted(found, key=lambda row: row.form != "finding")
    assert (alone.form, alone.kind, alone.question) == ("finding", "fail", f"warning at {where}")
    assert (alone.table, list(alone.findings)) == ((), [f"w:{where}"])
    assert other.kind != "fail" and other.findings == ()


def test_what_a_comment_silences_and_nobody_asks_is_no_row() -> None:
    assert made(told=(silenced(),)) == ()


def test_a_finding_counts_where_another_was_told_in_it() -> None:
    there = Region(9, 1, 9, 2)
    told = finding("a.py:3", related=(Related("/b.py", there, "too", "BW102"), Related("/c.py", there, "seen here")))
    found = made(ask("b.py:9", subject="b"), ask("c.py:9", subject="c"), told=(told,))
    assert {row.subject: row.kind for row in found} == {"b": "fail", "c": "review"}
    assert [f"{place.path}:{place.line} {place.says}" for place in found[0].places] == [
        "b.py:9 checked here",
        "a.py:3 found here",
    ]


def test_the_order_of_rows() -> None:
    found = made(
        ask("a.py:1", "all-alike found-by-check", text="passes", subject="a"),
        ask("third_party/a.py:1", text="found at others", subject="b"),
        ask("third_party/a.py:9", "all-alike", text="passes elsewhere", subject="c"),
        ask("third_party/a.py:5", "splits-family found-by-check", text="of others", subject="d"),
        ask("a.py:40", "names-asked", text="names only", form="text", subject="e", table=()),
        ask("a.py:2", "names-asked is-flag", text="open", subject="f", table=()),
        ask("a.py:3", "is-not-checked in-test", text="open and light", form="name", subject="g", table=()),
        ask("b.py:9", text="later", subject="h"),
        ask("b.py:1", text="line", subject="i"),
        ask("a.py:9", text="path", subject="j"),
        ask("z.py:9", "splits-family names-asked", text="heavy", subject="k"),
        ask("y.py:9", "splits-family in-test", text="found", subject="l"),
        told=(finding("third_party/a.py:1", "error"), finding("y.py:9")),
    )
    # What is found leads whatever it weighs; then a heavy open row comes before a light one to review.
    assert [row.question for row in found] == [
        *("found", "open", "heavy", "path", "line", "later", "names only", "open and light"),
        *("found at others", "of others"),
        *("passes", "passes elsewhere"),
    ]


def named(at: str, form: RowForm = "name", **changes: Any) -> Question:
    """Words that only name something."""
    return ask(at, **{"form": form, "marks": "names-others", "table": (), "text": at, "subject": at, **changes})


def test_what_only_names_is_one_row_in_a_folder() -> None:
    found = made(
        *(named("moe/a.cu:3"), named("moe/b.cu:9"), named("moe/b.cu:20", "unit")),
        *(named("moe/deep/c.cu:1"), named("moe/d.cu:2", marks="names-nobody", form="word", passes="no number")),
    )
    told = {(row.form, row.subject, *at(row)) for row in found}
    assert told == {
        ("name", "moe/", "moe/a.cu:3", "moe/b.cu:9"),
        ("name", "moe/deep/c.cu:1", "moe/deep/c.cu:1"),
        ("unit", "moe/b.cu:20", "moe/b.cu:20"),
        ("word", "moe/d.cu:2", "moe/d.cu:2"),
    }
    (joined,) = [row for row in found if row.subject == "moe/"]
    assert len(joined.questions) == 2


def test_one_note_in_many_tests_is_one_row() -> None:
    notes = [finding(at, "note", message="peer access") for at in ("tests/a.py:3", "tests/b.py:9", "src/c.py:1")]
    told = told_of(notes, [], str)
    found = rows(
        [], told, BOTH, lambda real: real.lstrip("/"), whose, lambda real: "in-test" if "tests" in real else ""
    )
    assert {(*at(row), row.score > 15) for row in found} == {
        ("tests/a.py:3", "tests/b.py:9", False),
        ("src/c.py:1", True),
    }


def test_findings_come_first() -> None:
    found = made(
        ask("a.py:3", "splits-family names-asked is-flag"), ask("b.py:3", subject="g"), told=(finding("b.py:3"),)
    )
    assert [row.subject for row in found] == ["g", "f"]


def test_rows_of_one_subject_know_each_other() -> None:
    found = made(
        ask(text="one"), ask(text="two", table=NEGATED), ask(text="three", subject="g"), ask("b.py:3", text="four")
    )
    by_text = {row.question: row for row in found}
    assert by_text["one"].same_subject == (by_text["two"].fingerprint,)
    assert by_text["two"].same_subject == (by_text["one"].fingerprint,)
    assert by_text["three"].same_subject == by_text["four"].same_subject == ()
    many = made(*(ask(f"a.py:{number}", text=str(number), form="name") for number in range(20)))
    assert {len(row.same_subject) for row in many} == {8}


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
