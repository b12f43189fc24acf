"""The JSON report: an API, described by `findings.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.model.findings import Claim, Edit, Finding, Fix, Proof, Region, Related, Report
from bwlint.report import Setting
from bwlint.report.encode import dumps


def render(report: Report, setting: Setting) -> str:
    """`report` as JSON."""
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
        **_region(finding.region),
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
    """One claim with all its fields."""
    return asdict(claimed)


def _region(region: Region) -> dict[str, int]:
    return {
        "line": region.line,
        "column": region.column,
        "end_line": region.end_line,
        "end_column": region.end_column,
    }


def _related(related: Related) -> dict[str, Any]:
    return {"path": related.path, **_region(related.region), "message": related.message}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability,
        "kind": fix.kind,
        "title": fix.title,
        "edits": [_edit(edit) for edit in fix.edits],
        "proof": _proof(fix.proof),
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {"path": edit.path, **_region(edit.region), "text": edit.text}


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "before_may": list(proof.before_may),
        "before_must": list(proof.before_must),
        "after_may": list(proof.after_may),
        "after_must": list(proof.after_must),
        "evidence": proof.evidence,
    }
