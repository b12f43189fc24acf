"""Launch settings of the chunk kernels, found by sweeping on A100, H100 and B200."""
from __future__ import annotations

from typing import TypedDict


class Setting(TypedDict):
    block_m: int
    block_n: int
    num_warps: int
    num_stages: int


CHUNK_STATE: dict[int, Setting] = {
    8: {"block_m": 64, "block_n": 32, "num_warps": 4, "num_stages": 3},
    9: {"block_m": 64, "block_n": 64, "num_warps": 4, "num_stages": 3},
    10: {"block_m": 128, "block_n": 64, "num_warps": 8, "num_stages": 3},
}

CHUNK_SCAN: dict[int, Setting] = {
    8: {"block_m": 32, "block_n": 32, "num_warps": 4, "num_stages": 2},
    9: {"block_m": 64, "block_n": 32, "num_warps": 4, "num_stages": 3},
    10: {"block_m": 64, "block_n": 64, "num_warps": 4, "num_stages": 3},
    12: {"block_m": 32, "block_n": 64, "num_warps": 4, "num_stages": 2},
}
