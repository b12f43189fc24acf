"""The JSON of a plan to port: an API, described by `port.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bwlint.model.findings import Fix
from bwlint.port.table import Port, PortRow, PortStep, Way
from bwlint.report import Setting
from bwlint.report.audit_json import row_json
from bwlint.report.encode import dumps


def render(plan: Port, setting: Setting) -> str:
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "chip": plan.chip,
            "operations": [_row(row) for row in plan.rows],
            "steps": [_step(step) for step in plan.steps],
            "apart": [asdict(spot) for spot in plan.apart],
            "left": [row_json(row) for row in plan.left],
            "skipped": [{"path": file.path, "reason": file.reason} for file in plan.skipped],
        }
    )


def _row(row: PortRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "support": row.now,
        "fallback": row.arm or None,
        "path": row.at.path,
        "line": row.at.line,
        "verdict": row.verdict,
        "shared": list(row.shared),
        "instead": list(row.instead),
        "ways": [_way(way) for way in row.ways],
    }


def _way(way: Way) -> dict[str, Any]:
    return {
        "name": way.name,
        "chosen": way.chosen,
        "steps": list(way.steps),
        "gates": [asdict(gate) for gate in way.gates],
        "lacks": [{**asdict(lack.at), "what": lack.what, "legal": list(lack.legal)} for lack in way.lacks],
        "works": list(way.shown),
    }


def _step(step: PortStep) -> dict[str, Any]:
    return {
        "number": step.number,
        "kind": step.kind,
        **asdict(step.at),
        "admits": list(step.admits),
        "wanted": list(step.wanted),
        "proved": step.proved,
        "needed_by": list(step.needed_by),
        "fix": None if step.fix is None else _fix(step, step.fix),
        "by_hand": step.words or None,
        "said": step.said or None,
        "related": [{"path": one.path, **asdict(one.region), "message": one.message} for one in step.related],
    }


def _fix(step: PortStep, fix: Fix) -> dict[str, Any]:
    proof = fix.proof
    return {
        "title": fix.title,
        "edits": [
            {
                "path": step.at.path if edit.path == step.real else edit.path,
                **asdict(edit.region),
                "text": edit.text,
            }
            for edit in fix.edits
        ],
        "before": {"may": list(proof.before_may), "must": list(proof.before_must)},
        "after": {"may": list(proof.after_may), "must": list(proof.after_must)},
        "evidence": proof.evidence,
    }
