from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch


@dataclass(frozen=True)
class GemmConfig:
    block_M: int
    block_N: int
    block_K: int
    num_stages: int
    threads: int


SMALL = GemmConfig(64, 64, 32, num_stages=2, threads=128)
AMPERE = GemmConfig(128, 128, 32, num_stages=3, threads=128)
BIG = GemmConfig(128, 256, 64, num_stages=4, threads=256)


@cache
def _sm() -> int:
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor


def select(m: int, n: int, k: int) -> GemmConfig:
    if m < 64 or n < 128:
        return SMALL
    if _sm() >= 90:
        return BIG
    return AMPERE
