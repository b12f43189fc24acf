from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest
from questions import fingerprint, make_ledger, make_row

from bwlint.model.findings import Finding, Fix, Proof, Report, Severity, Skipped
from bwlint.model.ledger import Decision, RowKind, Said
from bwlint.report.summary import at_least, looks, next_step, not_read, questions, statistics, summary
from bwlint.settings.decisions import apply

_PROOF = Proof((), (), (), (), "")


@pytest.mark.parametrize(
    ("severities", "shown", "seconds", "expected"),
    [
        ("", "warning", None, "no findings"),
        ("", "warning", 0.04, "no findings in 0.0 s"),
        ("w", "warning", 1.25, "1 warning in 1.2 s"),
        ("ewwwnn", "warning", None, "1 error, 3 warnings, 2 notes (shown with --severity note)"),
        ("ewwwnn", "note", None, "1 error, 3 warnings, 2 notes"),
        ("en", "error", None, "1 error, 1 note (shown with --severity note)"),
    ],
)
def test_summary(
    severities: str,
    shown: Severity,
    seconds: float | None,
    expected: str,
    finding: Callable[..., Finding],
    report: Callable[..., Report],
) -> None:
    names = {"e": "error", "w": "warning", "n": "note"}
    found = report(*(finding(severity=names[letter]) for letter in severities))
    assert summary(found, shown, seconds) == expected


def test_summary_counts_what_is_not_reported(rich_report: Report) -> None:
    assert summary(rich_report) == "1 error, 1 warning, 1 fixable with --fix, 2 suppressed, 2 files skipped"


@pytest.mark.parametrize(
    ("fixes", "expected"),
    [
        ("", "3 warnings"),
        ("ss", "3 warnings, 2 fixable with --fix"),
        ("u", "3 warnings, 1 fixable with --fix --unsafe-fixes"),
        ("ssu", "3 warnings, 2 fixable with --fix, 1 more with --fix --unsafe-fixes"),
    ],
)
def test_fixes_that_were_looked_for_are_counted(
    fixes: str, expected: str, finding: Callable[..., Finding], report: Callable[..., Report]
) -> None:
    how: dict[str, Literal["safe", "unsafe"]] = {"s": "safe", "u": "unsafe"}
    found = report(
        *(finding(fix=Fix(how[one], "family", "x", (), _PROOF) if one in how else None) for one in f"{fixes:3}")
    )
    assert summary(found) == expected
    columns = ["rule", "name", "error", "warning", "note", *(["fixable"] if fixes else [])]
    header, *_, total = statistics(found).splitlines()
    assert header.split() == columns
    assert total.split() == ["total", "0", "3", "0", *([str(len(fixes))] if fixes else [])]


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        ({}, ""),
        ({"questions": 0, "questions_left": 0}, ""),
        ({"questions": 1593, "questions_left": 41}, "1,593 places concern the chip: 41 are for you to judge"),
        ({"questions": 1, "questions_left": 1}, "1 place concerns the chip: 1 is for you to judge"),
        ({"questions": 7, "questions_left": 0}, "7 places concern the chip: none is for you to judge"),
    ],
)
def test_what_is_left_of_the_ledger(stats: dict[str, int], expected: str, report: Callable[..., Report]) -> None:
    assert looks(report(stats={"files": 1, **stats})) == expected


@pytest.mark.parametrize(
    ("fixes", "left", "paths", "target", "expected"),
    [
        ("", 0, ["."], [], ""),
        ("", 4, ["."], [], "bwlint audit ."),
        ("s", 0, ["."], [], "bwlint check --fix --diff ."),
        ("s", 0, [], [], "bwlint check --fix --diff"),
        ("s", 0, ["a", "b", "c", "d"], [], "bwlint check --fix --diff ."),
        ("s", 0, ["/k/a", "/k/b/c", "/k/b/d", "/k/e"], [], "bwlint check --fix --diff /k"),
        ("su", 0, ["a b", "c"], [], "bwlint check --fix --unsafe-fixes --diff 'a b' c"),
        ("u", 0, ["\x1b"], [], "bwlint check --fix --unsafe-fixes --diff '\\x1b'"),
        ("s", 1, ["a"], ["spark"], "bwlint audit --target spark a, bwlint check --fix --diff --target spark a"),
        ("", 1, ["a"], ["12.0", "RTX 5090"], "bwlint audit --target 12.0 --target 'RTX 5090' a"),
    ],
)
def test_the_next_command(
    fixes: str,
    left: int,
    paths: list[str],
    target: list[str],
    expected: str,
    finding: Callable[..., Finding],
    report: Callable[..., Report],
) -> None:
    how: dict[str, Literal["safe", "unsafe"]] = {"s": "safe", "u": "unsafe"}
    found = report(*(finding(fix=Fix(how[one], "family", "x", (), _PROOF)) for one in fixes), finding())
    found = replace(found, stats={"files": 1, "questions": 9, "questions_left": left})
    assert next_step(found, paths, target) == (f"bwlint: next: {expected}\n" if expected else "")


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("", "no checks of the chip"),
        ("p", "1 check of the chip; for 12.0 and 12.1: 1 pass"),
        ("pfrro", "5 checks of the chip; for 12.0: 5 pass; for 12.1: 1 pass, 1 fail, 2 review, 1 open"),
        ("p" * 1200, "1,200 checks of the chip; for 12.0 and 12.1: 1,200 pass"),
    ],
)
def test_what_the_ledger_comes_to(kinds: str, expected: str) -> None:
    names: dict[str, RowKind] = {"p": "pass", "f": "fail", "r": "review", "o": "open"}
    assert questions(make_ledger(*(make_row("a", names[letter]) for letter in kinds))) == expected


def test_what_people_have_decided_is_counted() -> None:
    said: dict[str, Said] = {"a": "fine", "b": "fine", "c": "later"}
    rows = [make_row("a", "fail"), make_row("b"), make_row("c"), make_row("d")]
    ledger = apply(
        make_ledger(*rows, skipped=(Skipped("x", "a folder"),)),
        [Decision(fingerprint(digit), word, "r") for digit, word in said.items()],
    )
    assert questions(ledger, " new") == (
        "4 checks of the chip new; for 12.0: 4 pass; for 12.1: 2 pass, 2 review; 3 decided: "
        "2 fine (1 against what check reports), 1 later; 1 file skipped"
    )


def test_skipped_files_with_reasons(rich_report: Report) -> None:
    told = "skipped pkg/big\\x1b[31m.py: 30 MB, more than 10 MB\nskipped x.py: a folder\n"
    assert not_read(rich_report.skipped, every=False) == told


@pytest.mark.parametrize(("number", "lines", "last"), [(3, 3, "c3"), (4, 4, "c4"), (9, 4, "6 more files")])
def test_of_many_files_a_few_are_named_for_each_reason(number: int, lines: int, last: str) -> None:
    files = [Skipped(f"c{at}", "a socket") for at in range(1, number + 1)]
    told = not_read(files, every=False).splitlines()
    assert (len(told), last in told[-1]) == (lines, True)
    assert len(not_read(files, every=True).splitlines()) == number
    assert len(not_read([*files, Skipped("d", "a folder")], every=False).splitlines()) == lines + 1


def test_no_findings_is_said_of_what_was_read_alone(report: Callable[..., Report]) -> None:
    assert summary(report(skipped=(Skipped("x", "a folder"),))) == "no findings in what was read, 1 file skipped"
    assert summary(report(stats={"ignored": 3})) == "no findings, 3 left out by .gitignore"


@pytest.mark.parametrize(("severity", "rules"), [("note", 2), ("warning", 2), ("error", 1)])
def test_at_least(severity: Severity, rules: int, rich_report: Report) -> None:
    kept = at_least(rich_report, severity)
    assert len(kept.findings) == rules
    assert kept.skipped == rich_report.skipped


def test_statistics(rich_report: Report, report: Callable[..., Report]) -> None:
    assert statistics(rich_report) == (
        "rule   name          error  warning  note  fixable\n"
        "BW101  family-split      0        1     0        1\n"
        "BW102  leak              1        0     0        0\n"
        "total                    1        1     0        1\n"
    )
    assert statistics(report()) == ""
