"""The JSON of a plan to port: an API, described by `port.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.model.findings import Fix
from bwlint.port.table import Port, PortRow, PortStep, Way
from bwlint.report import Setting
from bwlint.report.audit_json import row_json
from bwlint.report.encode import picked, plain, written


def render(plan: Port, setting: Setting) -> str:
    return written(
        setting.version,
        operations=[_row(row) for row in plan.rows],
        steps=[_step(step) for step in plan.steps],
        left=[row_json(row) for row in plan.left],
        **picked(plan, "chip", "apart", "skipped"),
    )


def _row(row: PortRow) -> dict[str, Any]:
    return {
        **picked(row, "name", "verdict", "shared", "instead"),
        **picked(row.at, "path", "line"),
        "support": row.now,
        "fallback": row.arm or None,
        "ways": [_way(way) for way in row.ways],
    }


def _way(way: Way) -> dict[str, Any]:
    return {
        **picked(way, "name", "chosen", "steps", "gates"),
        "lacks": [{**plain(lack.at), **picked(lack, "what", "legal")} for lack in way.lacks],
        "works": list(way.shown),
    }


def _step(step: PortStep) -> dict[str, Any]:
    return {
        **picked(step, "number", "kind", "admits", "wanted", "proved", "needed_by"),
        **plain(step.at),
        "fix": None if step.fix is None else _fix(step, step.fix),
        "by_hand": step.words or None,
        "said": step.said or None,
        "also": [plain(spot) for spot in step.also],
        "related": [picked(one, "path", "region", "message") for one in step.related],
    }


def _fix(step: PortStep, fix: Fix) -> dict[str, Any]:
    proof = fix.proof
    return {
        "title": fix.title,
        "edits": [{**plain(edit), "path": step.at.path if edit.path == step.real else edit.path} for edit in fix.edits],
        "before": {"may": list(proof.before_may), "must": list(proof.before_must)},
        "after": {"may": list(proof.after_may), "must": list(proof.after_must)},
        "evidence": proof.evidence,
    }
