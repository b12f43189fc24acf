"""How many keys a program sorts and how many programs run at once."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch


@dataclass(frozen=True)
class Plan:
    keys: int
    warps: int
    waves: int


_BY_PRODUCT = {
    "NVIDIA H100 80GB HBM3": Plan(2048, 8, 2),
    "NVIDIA B200": Plan(4096, 8, 2),
    "NVIDIA GeForce RTX 5090": Plan(2048, 8, 1),
    "NVIDIA GB10": Plan(1024, 4, 4),
}


@cache
def plan(index: int) -> Plan:
    props = torch.cuda.get_device_properties(index)
    known = _BY_PRODUCT.get(props.name)
    if known is not None:
        return known
    capability = (props.major, props.minor)
    if capability == (12, 0):
        # wide memory, many SMs: one wave is enough
        return Plan(2048, 8, 1)
    if capability == (12, 1):
        return Plan(1024, 4, 4)
    return Plan(1024, 4, 2)


@cache
def programs(index: int) -> int:
    return torch.cuda.get_device_properties(index).multi_processor_count * plan(index).waves
