from __future__ import annotations

import torch

from . import backends
from .utils import IS_HIP, capability


def _preferred(device: torch.device) -> list[str]:
    """Names of backends, best first."""
    if device.type != "cuda":
        return ["sdpa"]
    major, minor = capability(device.index or 0)
    if IS_HIP:
        # gfx90a and gfx94x report 9.x, gfx12 reports 12.x
        return ["ck", "sdpa"] if major >= 9 else ["sdpa"]
    match major, minor:
        case 9, _:
            return ["fa3", "fa2", "sdpa"]
        case m, _ if m >= 8:
            return ["fa2", "sdpa"]
        case _:
            return ["sdpa"]


def choose(device: torch.device) -> str:
    for name in _preferred(device):
        if backends.HAVE[name]:
            return name
    raise RuntimeError("unreachable, sdpa is always there")


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool = False, scale: float | None = None) -> torch.Tensor:
    """[batch, length, heads, dim]"""
    if q.dtype not in (torch.float16, torch.bfloat16):
        return backends.sdpa(q, k, v, causal, scale)
    return getattr(backends, choose(q.device))(q, k, v, causal, scale)
