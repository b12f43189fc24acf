from functools import lru_cache

import torch

from .autoselect import select
from .gemm import build

__version__ = "0.0.7"


@lru_cache(maxsize=256)
def _kernel(m: int, n: int, k: int):
    return build(m, n, k, select(m, n, k))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """bfloat16 [m, k] x [k, n]"""
    if a.dtype != torch.bfloat16 or b.dtype != torch.bfloat16:
        raise TypeError("tilefuse.matmul takes bfloat16")
    m, k = a.shape
    if b.shape[0] != k:
        raise ValueError(f"inner sizes differ: {k} and {b.shape[0]}")
    return _kernel(m, b.shape[1], k)(a, b)
