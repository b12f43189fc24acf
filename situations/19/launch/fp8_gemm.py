from __future__ import annotations

from typing import Callable

import torch

from launch.server_args import ServerArgs
from launch.triton_gemm import blockwise_mm

Runner = Callable[..., torch.Tensor]


def _deep_gemm(a, sa, b, sb) -> torch.Tensor:
    import deep_gemm

    out = torch.empty(a.shape[0], b.shape[0], dtype=torch.bfloat16, device=a.device)
    deep_gemm.fp8_gemm_nt((a, sa), (b, sb), out)
    return out


def _dequant(a, sa, b, sb) -> torch.Tensor:
    wide_a = a.to(torch.bfloat16) * sa.repeat_interleave(128, 1)
    wide_b = b.to(torch.bfloat16) * sb.repeat_interleave(128, 0).repeat_interleave(128, 1)
    return wide_a.to(torch.bfloat16) @ wide_b.to(torch.bfloat16).t()


_RUNNERS: dict[str, Runner] = {
    "deep_gemm": _deep_gemm,
    "dequant": _dequant,
    "triton": blockwise_mm,
}


class Fp8Linear(torch.nn.Module):
    def __init__(self, args: ServerArgs, n: int, k: int):
        super().__init__()
        self.run = _RUNNERS[args.fp8_gemm_backend]
        self.register_buffer("weight", torch.empty(n, k, dtype=torch.float8_e4m3fn))
        self.register_buffer("scale", torch.ones(n // 128, k // 128))

    def forward(self, x: torch.Tensor, sx: torch.Tensor) -> torch.Tensor:
        return self.run(x, sx, self.weight, self.scale)
