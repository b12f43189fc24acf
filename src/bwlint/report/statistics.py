"""How many findings each rule has, by severity, and how many of them have a fix, where all fixes were looked for."""

from __future__ import annotations

from collections import Counter

from bwlint.model.findings import SEVERITIES, Report

_LEVELS = tuple(reversed(SEVERITIES))


def render(report: Report) -> str:
    """A plain table, one row a rule and a total; empty where there is no finding."""
    if not report.findings:
        return ""
    is_whole = not report.stats.get("untried")
    columns = (*_LEVELS, *(["fixable"] if is_whole and any(finding.fix for finding in report.findings) else []))
    counts: Counter[tuple[str, str, str]] = Counter()
    for finding in report.findings:
        for column in (finding.severity, *(["fixable"] if finding.fix else [])):
            counts.update([(finding.rule, finding.name, column), ("total", "", column)])
    named = sorted({(rule, name) for rule, name, _ in counts if name})
    rows = [
        (rule, name, *(str(counts[rule, name, column]) for column in columns)) for rule, name in (*named, ("total", ""))
    ]
    return _table([("rule", "name", *columns), *rows])


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(f"{_row(row, widths)}\n" for row in rows)


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    names = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join(names + numbers)
