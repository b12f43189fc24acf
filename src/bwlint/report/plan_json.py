"""The JSON of a comparison of plans: an API, described by `plan.schema.json`; version 1 gains keys but loses none."""

from __future__ import annotations

from typing import Any

from bwlint.plan.table import Comparison, PlanCost, Suggestion
from bwlint.report import Setting
from bwlint.report.encode import picked, plain, written
from bwlint.report.plan_words import assumptions


def render(found: Comparison, setting: Setting) -> str:
    shape, weights, machine, load = found.shape, found.weights, found.machine, found.load
    return written(
        setting.version,
        model={
            **picked(shape, "name", "hidden", "layers", "expert_layers", "experts"),
            "parameters": found.parameters,
            "experts_per_token": shape.chosen,
            "weights": weights.form,
            "weight_bytes": weights.vocabulary + weights.dense + weights.experts,
        },
        machine={
            "gpus": machine.gpus,
            "product": machine.product.name,
            "chip": machine.product.chip,
            "memory_bytes": machine.product.memory_gb * 1e9,
            "memory_bytes_per_second": machine.product.memory_gb_per_s * 1e9,
            "link": machine.link.name,
            "link_bytes_per_second_one_direction": machine.link.gb_per_s * 1e9,
            "latency_seconds": machine.latency_us * 1e-6,
        },
        load={**picked(load, "tokens", "copies"), "dispatch": load.dispatch.name, "combine": load.combine.name},
        best=found.best.split.name if found.best else None,
        best_without_latency=found.without_latency or None,
        plans=[_row(row) for row in found.rows],
        best_by_tokens=plain(found.stretches),
        assumptions=assumptions(found),
        config=found.config or None,
        suggestions=[_suggestion(each) for each in found.suggestions],
        **picked(found, "refused", "remarks"),
    )


def _row(row: PlanCost) -> dict[str, Any]:
    return {
        **picked(row.split, "name", "kind", "tensor", "pipeline", "expert"),
        **picked(row, "fits", "link_hops", "tokens_at_once"),
        "weight_bytes_per_gpu": row.weight_bytes,
        "link_bytes_per_token_one_direction": row.link_bytes_per_token,
        "link_seconds_per_step": row.link_seconds,
        "weight_seconds_per_step": row.weight_seconds,
        "seconds_per_step": row.step_seconds,
    }


def _suggestion(each: Suggestion) -> dict[str, Any]:
    return {
        **picked(each, "launcher", "line", "written", "stopped"),
        "launcher_version": each.version,
        "present": each.present or None,
        "why": each.why or None,
        "remark": each.remark or None,
    }
