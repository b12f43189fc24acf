from __future__ import annotations

import torch


def run_grouped(x: torch.Tensor, sx: torch.Tensor, w: torch.Tensor, sw: torch.Tensor, expert_of_row: torch.Tensor) -> torch.Tensor:
    """Rows sorted by expert, each expert's rows padded to a multiple of 128."""
    import deep_gemm

    out = torch.empty(x.shape[0], w.shape[1], dtype=torch.bfloat16, device=x.device)
    deep_gemm.m_grouped_fp8_gemm_nt_contiguous((x, sx), (w, sw), out, expert_of_row)
    return out


def run_loop(x: torch.Tensor, sx: torch.Tensor, w: torch.Tensor, sw: torch.Tensor, expert_of_row: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape[0], w.shape[1], dtype=torch.bfloat16, device=x.device)
    wide = x.to(torch.bfloat16).unflatten(-1, (-1, 128)) * sx.to(torch.bfloat16).unsqueeze(-1)
    wide = wide.flatten(-2)
    for e in range(w.shape[0]):
        rows = expert_of_row == e
        we = w[e].to(torch.bfloat16) * sw[e].repeat_interleave(128, 0).repeat_interleave(128, 1).to(torch.bfloat16)
        out[rows] = wide[rows] @ we.t()
    return out
