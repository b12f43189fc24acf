"""What a plan sends and waits for: plain functions of numbers. Bytes and rates are those of ONE direction of a link."""

from __future__ import annotations

from math import ceil, prod

from bwlint.chips.links import Link, Wire

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
