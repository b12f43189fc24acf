"""The JSON report: an API, described by `findings.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.model.findings import Finding, Report
from bwlint.report import Setting
from bwlint.report.encode import dumps, plain


def render(report: Report, setting: Setting) -> str:
    return dumps(document(report, setting))


def document(report: Report, setting: Setting) -> dict[str, Any]:
    """`report` as plain values; an inspection adds its own to them."""
    return {
        "version": 1,
        "tool": {"name": "bwlint", "version": setting.version},
        "targets": list(report.targets),
        "findings": [_finding(finding) for finding in report.findings],
        "suppressed": [{"finding": _finding(entry.finding), "reason": entry.reason} for entry in report.suppressed],
        "skipped": plain(report.skipped),
        "stats": dict(report.stats),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = plain(finding)
    del told["content"], told["ways"]  # they serve to tell what has moved, and to ask somebody
    for name in ("verdict", "trace"):
        if told[name] is None:
            del told[name]
    for related in told["related"]:
        if not related["rule"]:
            del related["rule"]
    return told
