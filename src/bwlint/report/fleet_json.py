"""The JSON of a fleet: an API, described by `fleet.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.fleet.table import Fleet, FleetRow, Hazard, SourceChange, TargetPage
from bwlint.model.findings import SEVERITIES
from bwlint.report import Setting
from bwlint.report.encode import picked, written
from bwlint.report.json_report import document

_TOLD = ("rule", "name", "severity", "message")
"""Of a finding, wherever it is named."""


def render(fleet: Fleet, setting: Setting) -> str:
    return written(
        setting.version,
        targets=fleet.targets,
        sources=[_source(row, setting) for row in fleet.rows],
        pages=[_page(page) for page in fleet.pages],
        hazards=[_hazard(hazard) for hazard in fleet.hazards],
        before=fleet.before,
        changes=[_change(change) for change in fleet.changes],
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
        **picked(hazard, "content", "targets", "sources", "places"),
        **picked(hazard.finding, *_TOLD, "category", "advice"),
    }


def _change(change: SourceChange) -> dict[str, Any]:
    placed = (*_TOLD, "path", "region")
    return {
        **picked(change, "source", "status"),
        "new": [picked(finding, *placed) for finding in change.new],
        "gone": [picked(finding, *placed) for finding in change.gone],
    }
