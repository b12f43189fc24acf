"""The JSON of a fleet: an API, described by `fleet.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.fleet.table import Fleet, FleetRow, Hazard, SourceChange, TargetPage
from bwlint.model.findings import SEVERITIES, Finding
from bwlint.report import Setting
from bwlint.report.encode import dumps
from bwlint.report.json_report import document


def render(fleet: Fleet, setting: Setting) -> str:
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "targets": list(fleet.targets),
            "sources": [_source(row, setting) for row in fleet.rows],
            "pages": [_page(page) for page in fleet.pages],
            "hazards": [_hazard(hazard) for hazard in fleet.hazards],
            "before": fleet.before,
            "changes": [_change(change) for change in fleet.changes],
        }
    )


def _source(row: FleetRow, setting: Setting) -> dict[str, Any]:
    checked = row.checked
    return {
        "source": row.source.name,
        "kind": row.source.kind,
        "status": "failed" if checked is None else "empty" if row.is_empty else "checked",
        "reason": row.failed,
        "revision": checked.revision if checked else "",
        "version": checked.version if checked else "",
        "report": document(checked.report, setting) if checked else None,
    }


def _page(page: TargetPage) -> dict[str, Any]:
    return {
        "target": page.target,
        "sources": [
            {
                "source": row.source,
                **{f"{severity}s": row.of(severity) for severity in SEVERITIES},
                "rules": [
                    {"severity": severity, "name": name, "findings": number} for severity, name, number in row.counts
                ],
            }
            for row in page.rows
        ],
    }


def _hazard(hazard: Hazard) -> dict[str, Any]:
    return {
        "content": hazard.content,
        **_told(hazard.finding),
        "category": hazard.finding.category,
        "advice": hazard.finding.advice,
        "targets": list(hazard.targets),
        "sources": list(hazard.sources),
        "places": [{"source": place.source, "path": place.path, **asdict(place.region)} for place in hazard.places],
    }


def _change(change: SourceChange) -> dict[str, Any]:
    return {
        "source": change.source,
        "status": change.status,
        "new": [_placed(finding) for finding in change.new],
        "gone": [_placed(finding) for finding in change.gone],
    }


def _placed(finding: Finding) -> dict[str, Any]:
    return {**_told(finding), "path": finding.path, **asdict(finding.region)}


def _told(finding: Finding) -> dict[str, Any]:
    return {"rule": finding.rule, "name": finding.name, "severity": finding.severity, "message": finding.message}
