"""All plans that fit a model and a machine, their costs, and the best one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from bwlint.chips.links import exchange_remark, share_for_weights
from bwlint.plan import costs
from bwlint.plan.model_config import Config, Shape, parameters, shape
from bwlint.plan.table import Comparison, JoinedGpus, Load, PlanCost, RefusedPlan, Split, TokenRange
from bwlint.plan.weights import Weights, weigh

_LOOKED_AT = tuple(1 << power for power in range(15))
_STREAMS = 2
"""What a stage of a pipeline hands on of a token: the hidden state and the residual."""


def compare(config: Config, file: str, machine: JoinedGpus, load: Load) -> Comparison:
    """The plans for a model, the best first; raises `UsageError` for a configuration that says too little."""
    model = shape(config, file)
    weights = weigh(config, model)
    splits, refused = _splits(model, machine.gpus)
    rows = _ranked(splits, model, weights, machine, load)
    remarks = [*model.remarks, *weights.remarks, *_of_machine(machine)]
    if any(split.kind == "EP" for split in splits):
        remarks += filter(None, [exchange_remark(machine.link.kind, machine.product.peer)])
    stretches = tuple(_stretches(splits, model, weights, machine, load))
    at_once = _ranked(splits, model, weights, replace(machine, latency_us=0), load)
    without_latency = at_once[0].split.name if at_once and at_once[0].fits else ""
    return Comparison(
        model,
        weights,
        parameters(model),
        machine,
        load,
        rows,
        tuple(refused),
        stretches,
        without_latency,
        tuple(remarks),
    )


def cost(split: Split, model: Shape, weights: Weights, machine: JoinedGpus, load: Load) -> PlanCost:
    if split.kind == "EP":
        amount, hops = _exchanges(model, machine, load, split.expert)
        at_once = ceil(load.tokens / split.expert)
    else:
        amount, hops = _reductions(split, model, machine, load)
        at_once = ceil(load.tokens / split.pipeline)
    held = _held(split, model, weights)
    read = _read(split, model, weights, load.tokens)
    return PlanCost(
        split,
        amount,
        hops,
        at_once,
        costs.link_seconds(amount * at_once, hops, machine.link.gb_per_s, machine.latency_us),
        read / (machine.product.memory_gb_per_s * 1e9),
        held,
        held <= machine.product.memory_gb * 1e9 * share_for_weights(),
    )


def copies(model: Shape, load: Load, gpus: int) -> float:
    """How often a token is handed out in a layer with experts, its own GPU counted."""
    if load.copies == "all":
        return gpus
    return costs.gpus_reached(model.experts, model.chosen, gpus) if load.copies == "gpu" else model.chosen


def _exchanges(model: Shape, machine: JoinedGpus, load: Load, gpus: int) -> tuple[float, int]:
    """Bytes and hops of a token in all layers with experts."""
    whole = costs.exchanged_bytes(model.hidden, copies(model, load, gpus), load.dispatch, load.combine)
    hops = costs.exchange_hops(machine.link, gpus, load.copies == "all")
    return model.expert_layers * costs.remote(whole, gpus), model.expert_layers * hops


def _reductions(split: Split, model: Shape, machine: JoinedGpus, load: Load) -> tuple[float, int]:
    """Bytes and hops of a token in the all-reduces of all layers, and from stage to stage."""
    calls = costs.REDUCTIONS_PER_LAYER * model.layers
    handed = (split.pipeline - 1) * _STREAMS * costs.token_bytes(model.hidden, load.activation)
    amount = calls * costs.reduced_bytes(model.hidden, load.activation, split.tensor)
    return amount + handed, calls * costs.reduction_hops(machine.link, split.tensor) + split.pipeline - 1


def _held(split: Split, model: Shape, weights: Weights) -> float:
    """Bytes of weights on the fullest GPU."""
    if split.kind == "EP":
        return weights.vocabulary + weights.dense + weights.experts / split.expert
    if split.pipeline == 1:
        return (weights.vocabulary + weights.dense + weights.experts) / split.tensor
    share = ceil(model.layers / split.pipeline) / model.layers
    ends = max(weights.embedding, weights.head)
    return (ends + share * (weights.dense + weights.experts)) / split.tensor


def _read(split: Split, model: Shape, weights: Weights, tokens: int) -> float:
    """Bytes of weights that the busiest GPU reads for a step; in a pipeline for each part of the step anew."""
    at_once = ceil(tokens / split.pipeline)
    part = costs.touched(model.experts, model.chosen, at_once) if model.experts else 0.0
    if split.kind != "EP":
        return (weights.head + weights.dense + part * weights.experts) / split.tensor
    whole_one = split.expert / model.experts  # the busiest has one whole expert to read at least
    return weights.head + weights.dense + max(part, whole_one) * weights.experts / split.expert


def _splits(model: Shape, gpus: int) -> tuple[list[Split], list[RefusedPlan]]:
    """The plans that a model can have on so many GPUs, and those that it cannot."""
    if gpus == 1:
        return [Split("one")], []
    found: list[Split] = []
    refused: list[RefusedPlan] = []
    reason = _no_experts(model, gpus)
    if reason:
        refused.append(RefusedPlan(f"EP{gpus}", reason))
    else:
        found.append(Split("EP", expert=gpus))
    for tensor in (size for size in range(gpus, 0, -1) if gpus % size == 0):
        split = Split("TP" if tensor == gpus else "TP+PP", tensor=tensor, pipeline=gpus // tensor)
        if model.heads % tensor:
            refused.append(RefusedPlan(split.name, f"{model.heads} attention heads are not divisible by {tensor}"))
        elif split.pipeline > model.layers:
            refused.append(RefusedPlan(split.name, f"{model.layers} layers are fewer than {split.pipeline} stages"))
        else:
            found.append(split)
    return found, refused


def _no_experts(model: Shape, gpus: int) -> str:
    """Why experts cannot be split over the GPUs; "" where they can."""
    if not model.experts:
        return "the model is dense: it has no experts to split"
    return f"{model.experts} experts are not divisible by {gpus}" if model.experts % gpus else ""


def _ranked(
    splits: list[Split], model: Shape, weights: Weights, machine: JoinedGpus, load: Load
) -> tuple[PlanCost, ...]:
    rows = (cost(split, model, weights, machine, load) for split in splits)
    return tuple(sorted(rows, key=lambda row: (not row.fits, row.step_seconds, row.split.pipeline)))


def _stretches(
    splits: list[Split], model: Shape, weights: Weights, machine: JoinedGpus, load: Load
) -> Iterator[TokenRange]:
    """Which plan is the best for which numbers of tokens, looked at in powers of two."""
    found: list[TokenRange] = []
    for tokens in _LOOKED_AT:
        rows = _ranked(splits, model, weights, machine, replace(load, tokens=tokens))
        if not rows or not rows[0].fits:
            return
        best = rows[0]
        if found and found[-1].name == best.split.name:
            found[-1] = replace(found[-1], last=tokens)
        else:
            found.append(TokenRange(tokens, tokens, best.split.name))
    yield from found


def _of_machine(machine: JoinedGpus) -> Iterator[str]:
    sold, link = machine.product, machine.link
    if machine.gpus > 1 and sold.peer == "none" and not link.is_network:
        yield f"{sold.name}: the stock driver gives no peer access; copies through the host take longer"
    if machine.gpus > 1 and sold.per_host and not link.is_network:
        yield f"{sold.name} is one GPU a machine"
    if sold.shared_memory:
        yield f"{sold.name}: the GPU shares its memory with the host, which needs a part of it"
    yield from (f"unverified: {each.unverified}" for each in (sold, link) if each.unverified)
