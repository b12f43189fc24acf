"""All plans that fit a model and a machine, their costs, and the best one, as data for reports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod

from bwlint.chips.links import Link, UnknownNameError, Wire, exchange_remark, link, product, share_for_weights
from bwlint.chips.products import Product
from bwlint.plan.model_config import Config, Shape, Weights, parameters, shape, weigh
from bwlint.settings.config import UsageError


@dataclass(frozen=True, slots=True)
class JoinedGpus:
    gpus: int
    product: Product
    link: Link
    latency_us: float


@dataclass(frozen=True, slots=True)
class Load:
    """What goes through the model in a step: a token of each sequence."""

    tokens: int
    dispatch: Wire
    combine: Wire
    activation: Wire
    copies: str
    """Of a token: one to each GPU (gpu) or expert (expert) that it is for, or one to every GPU (all)."""


@dataclass(frozen=True, slots=True)
class Split:
    """A plan: EP, TP or TP+PP (or one: a single GPU) with its numbers."""

    kind: str
    tensor: int = 1
    pipeline: int = 1
    expert: int = 1

    @property
    def name(self) -> str:
        if self.kind == "one":
            return "one GPU"
        if self.kind == "EP":
            return f"EP{self.expert}"
        pipeline = f"PP{self.pipeline}" if self.pipeline > 1 else ""
        return "+".join(part for part in (f"TP{self.tensor}" if self.tensor > 1 else "", pipeline) if part)


@dataclass(frozen=True, slots=True)
class PlanCost:
    """A plan and what it costs. Bytes are those that go through ONE direction of the busiest GPU's link."""

    split: Split
    link_bytes_per_token: float
    """Those that a token waits for, one after the other, in all layers."""
    link_hops: float
    """One after the other, in all layers."""
    tokens_at_once: int
    """Of the step's tokens, those that wait for each other on a link."""
    link_seconds: float
    weight_seconds: float
    """To read the weights that a step needs from the memory of the busiest GPU."""
    weight_bytes: float
    """On the fullest GPU."""
    fits: bool

    @property
    def step_seconds(self) -> float:
        return self.link_seconds + self.weight_seconds


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """A plan that does not apply, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class TokenRange:
    """Numbers of tokens at a time for which one plan is the best."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A launch as it stands and as the best plan would have it."""

    launcher: str
    version: str
    line: int
    present: str
    """The plan that it is now; "" where it is none of those compared."""
    why: str
    """Of a line that costs what the present plan does though it is spelled otherwise."""
    written: tuple[str, ...]
    """Empty where it is the best plan already."""
    remark: str
    stopped: tuple[str, ...] = ()
    """Why it cannot run on these GPUs, by its options."""


@dataclass(frozen=True, slots=True)
class Comparison:
    shape: Shape
    weights: Weights
    parameters: int
    machine: JoinedGpus
    load: Load
    rows: tuple[PlanCost, ...]
    """The best first; what does not fit last."""
    refused: tuple[RefusedPlan, ...]
    stretches: tuple[TokenRange, ...]
    without_latency: str
    """What were the best if a hop took no time; "" where nothing fits."""
    remarks: tuple[str, ...]
    config: str = ""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def best(self) -> PlanCost | None:
        """The fastest that fits."""
        return self.rows[0] if self.rows and self.rows[0].fits else None


MOST_GPUS = 1024

_GPUS = re.compile(r"\s*(?:(\d{1,9})\s*[xX*\u00d7]\s*)?(\S.*)")


def machine(gpus: str, link_name: str | None, latency_us: float | None) -> JoinedGpus:
    """The machine of names such as `4xRTX-PRO-6000` and `pcie5x16`; raises `UsageError`."""
    match = _GPUS.match(gpus)
    if match is None:
        raise UsageError("name the GPUs: --gpus 4xRTX-PRO-6000")
    count = int(match[1] or 1)
    if not 1 <= count <= MOST_GPUS:
        raise UsageError(f"{count} GPUs: from 1 to {MOST_GPUS} can be compared")
    try:
        sold = product(match[2])
        joined = link(link_name or sold.links[0])
    except UnknownNameError as error:
        raise UsageError(str(error)) from None
    # A network joins whatever has a host; all else the GPU has to have.
    if not joined.is_network and joined.name not in sold.links:
        raise UsageError(f"bwlint knows no {joined.what} for {sold.name}: its links are {', '.join(sold.links)}")
    return JoinedGpus(count, sold, joined, joined.latency_us if latency_us is None else latency_us)


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
        link_seconds(amount * at_once, hops, machine.link.gb_per_s, machine.latency_us),
        read / (machine.product.memory_gb_per_s * 1e9),
        held,
        held <= machine.product.memory_gb * 1e9 * share_for_weights(),
    )


def copies(model: Shape, load: Load, gpus: int) -> float:
    """How often a token is handed out in a layer with experts, its own GPU counted."""
    if load.copies == "all":
        return gpus
    return gpus_reached(model.experts, model.chosen, gpus) if load.copies == "gpu" else model.chosen


def _exchanges(model: Shape, machine: JoinedGpus, load: Load, gpus: int) -> tuple[float, int]:
    """Bytes and hops of a token in all layers with experts."""
    whole = exchanged_bytes(model.hidden, copies(model, load, gpus), load.dispatch, load.combine)
    hops = exchange_hops(machine.link, gpus, load.copies == "all")
    return model.expert_layers * remote(whole, gpus), model.expert_layers * hops


def _reductions(split: Split, model: Shape, machine: JoinedGpus, load: Load) -> tuple[float, int]:
    """Bytes and hops of a token in the all-reduces of all layers, and from stage to stage."""
    calls = REDUCTIONS_PER_LAYER * model.layers
    handed = (split.pipeline - 1) * _STREAMS * token_bytes(model.hidden, load.activation)
    amount = calls * reduced_bytes(model.hidden, load.activation, split.tensor)
    return amount + handed, calls * reduction_hops(machine.link, split.tensor) + split.pipeline - 1


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
    part = touched(model.experts, model.chosen, at_once) if model.experts else 0.0
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
    if not model.experts:
        refused.append(RefusedPlan(f"EP{gpus}", "the model is dense: it has no experts to split"))
    elif model.experts % gpus:
        refused.append(RefusedPlan(f"EP{gpus}", f"{model.experts} experts are not divisible by {gpus}"))
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


REDUCTIONS_PER_LAYER = 2
"""Of tensor parallelism: one after the attention, one after the feed-forward."""

_EXCHANGES_PER_LAYER = 2
"""Of expert parallelism: tokens to their experts, and what comes of them back."""

_DIRECT_HOPS = 2
"""Of an all-reduce among GPUs that all reach each other: the sums, and their distribution."""


def gpus_reached(experts: int, chosen: int, gpus: int) -> float:
    """How many of `gpus` hold one of the `chosen` experts of a token, on average, each choice as likely as another."""
    away = experts - experts // gpus
    nowhere = prod((away - place) / (experts - place) for place in range(chosen)) if chosen <= away else 0.0
    return gpus * (1 - nowhere)


def token_bytes(hidden: int, wire: Wire) -> int:
    """A token's activations as they travel, with the scales of its blocks."""
    return hidden * wire.bytes_per_value + ceil(hidden / wire.block) * wire.scale_bytes


def exchanged_bytes(hidden: int, copies: float, dispatch: Wire, combine: Wire) -> float:
    """What a token's GPU hands out and gets back in a layer with experts, its own share included."""
    return copies * (token_bytes(hidden, dispatch) + token_bytes(hidden, combine))


def remote(amount: float, gpus: int) -> float:
    """The part that goes to other GPUs."""
    return amount * (gpus - 1) / gpus


def exchange_hops(link: Link, gpus: int, to_all: bool) -> int:
    """Of the two exchanges of a layer; where each token goes to every GPU, they are a ring's."""
    if gpus == 1:
        return 0
    return _EXCHANGES_PER_LAYER * (gpus - 1 if to_all and link.all_reduce == "ring" else 1)


def reduced_bytes(hidden: int, wire: Wire, gpus: int) -> float:
    """What each GPU sends of a token in an all-reduce."""
    return 2 * remote(token_bytes(hidden, wire), gpus)


def reduction_hops(link: Link, gpus: int) -> int:
    if gpus == 1:
        return 0
    return 2 * (gpus - 1) if link.all_reduce == "ring" else _DIRECT_HOPS


def link_seconds(amount: float, hops: float, gb_per_s: float, latency_us: float) -> float:
    """How long bytes take through one direction, hop after hop."""
    return amount / (gb_per_s * 1e9) + hops * latency_us * 1e-6


def touched(experts: int, chosen: int, tokens: int) -> float:
    """The part of the experts of a layer that `tokens` tokens choose, on average, each choice as likely as another."""
    return float(1 - (1 - chosen / experts) ** tokens)
