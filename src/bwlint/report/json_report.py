"""The JSON report: an API, described by `findings.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.model.findings import Claim, Finding, Fix, Related, Report
from bwlint.report import Setting
from bwlint.report.encode import dumps


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
        "skipped": [{"path": file.path, "reason": file.reason} for file in report.skipped],
        "stats": dict(report.stats),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "category": finding.category,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "path": finding.path,
        **asdict(finding.region),
        "message": finding.message,
        "label": finding.label,
        "advice": finding.advice,
        "admitted": list(finding.admitted),
        "certain": list(finding.certain),
        "legal": None if finding.legal is None else list(finding.legal),
        "related": [_related(related) for related in finding.related],
        "fix": None if finding.fix is None else _fix(finding.fix),
        "fix_refused": finding.fix_refused,
        "fingerprint": finding.fingerprint,
        "claims": [claim(each) for each in finding.claims],
        **({"verdict": asdict(finding.verdict)} if finding.verdict is not None else {}),
        **({"trace": asdict(finding.trace)} if finding.trace is not None else {}),
    }


def claim(claimed: Claim) -> dict[str, Any]:
    return asdict(claimed)


def _related(related: Related) -> dict[str, Any]:
    rule = {"rule": related.rule} if related.rule else {}
    return {"path": related.path, **asdict(related.region), "message": related.message, **rule}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability,
        "kind": fix.kind,
        "title": fix.title,
        "edits": [{"path": edit.path, **asdict(edit.region), "text": edit.text} for edit in fix.edits],
        "proof": asdict(fix.proof),
    }
