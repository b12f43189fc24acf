"""How many findings each rule has, by severity, and how many of them have a fix."""

from __future__ import annotations

from collections import Counter

from bwlint.model.findings import SEVERITIES, Report
from bwlint.report.words import aligned

_LEVELS = tuple(reversed(SEVERITIES))


def render(report: Report) -> str:
    """A plain table, one row a rule and a total; empty where there is no finding."""
    if not report.findings:
        return ""
    columns = (*_LEVELS, *(["fixable"] if any(finding.fix for finding in report.findings) else []))
    counts: Counter[tuple[str, str, str]] = Counter()
    for finding in report.findings:
        for column in (finding.severity, *(["fixable"] if finding.fix else [])):
            counts.update([(finding.rule, finding.name, column), ("total", "", column)])
    named = sorted({(rule, name) for rule, name, _ in counts if name})
    rows = [
        (rule, name, *(str(counts[rule, name, column]) for column in columns)) for rule, name in (*named, ("total", ""))
    ]
    return "".join(f"{line}\n" for line in aligned([("rule", "name", *columns), *rows], names=2))
