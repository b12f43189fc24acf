"""Rotary position embedding, in place, for float32 activations."""
import torch

from . import _C

__all__ = ["rope_", "tables"]


def tables(length: int, dim: int, base: float = 10000.0, device="cuda"):
    freq = base ** (-torch.arange(0, dim, 2, device=device, dtype=torch.float32) / dim)
    angle = torch.outer(torch.arange(length, device=device, dtype=torch.float32), freq)
    return angle.cos(), angle.sin()


def rope_(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    if cos.shape[-1] * 2 != x.shape[-1]:
        raise ValueError(f"tables of {cos.shape[-1]} pairs for a head of {x.shape[-1]}")
    _C.rope_inplace(x, cos.contiguous(), sin.contiguous())
    return x
