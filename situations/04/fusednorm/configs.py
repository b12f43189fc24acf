"""Tiles per GPU generation. The table is for the chips we could measure; everything else runs the smallest one."""
from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache

import torch

logger = logging.getLogger("fusednorm")


@dataclass(frozen=True)
class Tile:
    rows: int
    cols: int
    warps: int
    stages: int


_GENERIC = Tile(rows=4, cols=1024, warps=4, stages=2)

_MEASURED: dict[int, Tile] = {
    8: Tile(rows=4, cols=2048, warps=8, stages=2),
    9: Tile(rows=8, cols=2048, warps=8, stages=3),
    10: Tile(rows=16, cols=2048, warps=16, stages=3),
}


@lru_cache(maxsize=None)
def tile_for(index: int) -> Tile:
    major, minor = torch.cuda.get_device_capability(index)
    tile = _MEASURED.get(major)
    if tile is None:
        logger.info("no measured tile for %d.%d, using the generic one", major, minor)
        return _GENERIC
    return tile


def supported(index: int) -> bool:
    major, _ = torch.cuda.get_device_capability(index)
    return major in _MEASURED or major >= 8
