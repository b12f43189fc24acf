"""How many findings each rule has, by severity."""

from __future__ import annotations

from collections import Counter

from bwlint.model.findings import SEVERITIES, Report

_LEVELS = tuple(reversed(SEVERITIES))


def render(report: Report) -> str:
    """A plain table, one row a rule and a total; empty where there is no finding."""
    if not report.findings:
        return ""
    counts = Counter((finding.rule, finding.name, finding.severity) for finding in report.findings)
    rows = [
        (rule, name, *(str(counts[rule, name, level]) for level in _LEVELS))
        for rule, name in sorted({(rule, name) for rule, name, _ in counts})
    ]
    totals = Counter(finding.severity for finding in report.findings)
    return _table([("rule", "name", *_LEVELS), *rows, ("total", "", *(str(totals[level]) for level in _LEVELS))])


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(f"{_row(row, widths)}\n" for row in rows)


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join(names + numbers)
