from __future__ import annotations

from collections.abc import Callable

import pytest

from bwlint.model.findings import Finding, Report, Severity
from bwlint.report import statistics
from bwlint.report.summary import at_least, skipped, summary


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
    assert summary(rich_report) == "1 error, 1 warning, 2 suppressed, 2 files skipped"


def test_skipped_files_with_reasons(rich_report: Report) -> None:
    assert skipped(rich_report) == ("skipped pkg/big\\x1b[31m.py: 30 MB, more than 10 MB\nskipped x.py: a folder\n")


@pytest.mark.parametrize(("severity", "rules"), [("note", 2), ("warning", 2), ("error", 1)])
def test_at_least(severity: Severity, rules: int, rich_report: Report) -> None:
    kept = at_least(rich_report, severity)
    assert len(kept.findings) == rules
    assert kept.skipped == rich_report.skipped


def test_statistics(rich_report: Report, report: Callable[..., Report]) -> None:
    assert statistics.render(rich_report) == (
        "rule   name          error  warning  note\n"
        "BW101  family-split      0        1     0\n"
        "BW102  leak              1        0     0\n"
        "total                    1        1     0\n"
    )
    assert statistics.render(report()) == ""
