"""The JSON of a comparison of plans: an API, described by `plan.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.plan.table import Comparison, PlanCost, Suggestion
from bwlint.report import Setting
from bwlint.report.encode import dumps
from bwlint.report.plan_words import assumptions


def render(found: Comparison, setting: Setting) -> str:
    shape, weights, machine, load = found.shape, found.weights, found.machine, found.load
    return dumps(
        {
            "version": 1,
            "tool": {"name": "bwlint", "version": setting.version},
            "model": {
                "name": shape.name,
                "parameters": found.parameters,
                "hidden": shape.hidden,
                "layers": shape.layers,
                "expert_layers": shape.expert_layers,
                "experts": shape.experts,
                "experts_per_token": shape.chosen,
                "weights": weights.form,
                "weight_bytes": weights.vocabulary + weights.dense + weights.experts,
            },
            "machine": {
                "gpus": machine.gpus,
                "product": machine.product.name,
                "chip": machine.product.chip,
                "memory_bytes": machine.product.memory_gb * 1e9,
                "memory_bytes_per_second": machine.product.memory_gb_per_s * 1e9,
                "link": machine.link.name,
                "link_bytes_per_second_one_direction": machine.link.gb_per_s * 1e9,
                "latency_seconds": machine.latency_us * 1e-6,
            },
            "load": {
                "tokens": load.tokens,
                "dispatch": load.dispatch.name,
                "combine": load.combine.name,
                "copies": load.copies,
            },
            "best": found.best.split.name if found.best else None,
            "best_without_latency": found.without_latency or None,
            "plans": [_row(row) for row in found.rows],
            "refused": [{"name": each.name, "reason": each.reason} for each in found.refused],
            "best_by_tokens": [{"first": each.first, "last": each.last, "name": each.name} for each in found.stretches],
            "assumptions": assumptions(found),
            "remarks": list(found.remarks),
            "config": found.config or None,
            "suggestions": [_suggestion(each) for each in found.suggestions],
        }
    )


def _row(row: PlanCost) -> dict[str, Any]:
    return {
        "name": row.split.name,
        "kind": row.split.kind,
        "tensor": row.split.tensor,
        "pipeline": row.split.pipeline,
        "expert": row.split.expert,
        "weight_bytes_per_gpu": row.weight_bytes,
        "fits": row.fits,
        "link_bytes_per_token_one_direction": row.link_bytes_per_token,
        "link_hops": row.link_hops,
        "tokens_at_once": row.tokens_at_once,
        "link_seconds_per_step": row.link_seconds,
        "weight_seconds_per_step": row.weight_seconds,
        "seconds_per_step": row.step_seconds,
    }


def _suggestion(each: Suggestion) -> dict[str, Any]:
    return {
        "launcher": each.launcher,
        "launcher_version": each.version,
        "line": each.line,
        "present": each.present or None,
        "why": each.why or None,
        "written": list(each.written),
        "remark": each.remark or None,
        "stopped": list(each.stopped),
    }
