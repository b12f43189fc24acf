from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pytest

from bwlint.model.findings import Finding, Fix, Proof, Report, Severity
from bwlint.report import statistics
from bwlint.report.summary import at_least, skipped, summary

_PROOF = Proof((), (), (), (), "")


@pytest.mark.parametrize(
    ("severities", "shown", "seconds", "expected"),
    [
        ("", "warning", None, "no findings"),
        ("", "warning", 0.04, "no findings in 0.0 s"),
        ("w", "warning", 1.25, "1 warning in 1.2 s"),
        ("ewwwnn", "warning", None, "1 error, 3 warnings, 2 notes (not shown)"),
        ("ewwwnn", "note", None, "1 error, 3 warnings, 2 notes"),
        ("en", "error", None, "1 error, 1 note (not shown)"),
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
    some = replace(found, stats={**found.stats, "untried": 2})
    assert summary(some) == re.sub(r"(\d+ (?:fixable|more))", r"at least \1", expected)
    columns = ["rule", "name", "error", "warning", "note", *(["fixable"] if fixes else [])]
    header, *_, total = statistics.render(found).splitlines()
    assert header.split() == columns
    assert total.split() == ["total", "0", "3", "0", *([str(len(fixes))] if fixes else [])]


def test_skipped_files_with_reasons(rich_report: Report) -> None:
    assert skipped(rich_report) == ("skipped pkg/big\\x1b[31m.py: 30 MB, more than 10 MB\nskipped x.py: a folder\n")


@pytest.mark.parametrize(("severity", "rules"), [("note", 2), ("warning", 2), ("error", 1)])
def test_at_least(severity: Severity, rules: int, rich_report: Report) -> None:
    kept = at_least(rich_report, severity)
    assert len(kept.findings) == rules
    assert kept.skipped == rich_report.skipped


def test_statistics(rich_report: Report, report: Callable[..., Report]) -> None:
    assert statistics.render(rich_report) == (
        "rule   name          error  warning  note  fixable\n"
        "BW101  family-split      0        1     0        1\n"
        "BW102  leak              1        0     0        0\n"
        "total                    1        1     0        1\n"
    )
    assert statistics.render(report()) == ""
