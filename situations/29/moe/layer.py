import torch
from torch import nn

from moe.config import MoeConfig
from moe.dispatch import expert_gemm, quantize


class FusedMoE(nn.Module):
    def __init__(self, cfg: MoeConfig):
        super().__init__()
        self.cfg = cfg
        e, h, i, b = cfg.num_experts, cfg.hidden, cfg.inner, cfg.block
        self.up = nn.Parameter(torch.empty(e, 2 * i, h, dtype=torch.float8_e4m3fn), requires_grad=False)
        self.down = nn.Parameter(torch.empty(e, h, i, dtype=torch.float8_e4m3fn), requires_grad=False)
        self.up_scale = nn.Parameter(torch.ones(e, 2 * i // b, h // b), requires_grad=False)
        self.down_scale = nn.Parameter(torch.ones(e, h // b, i // b), requires_grad=False)

    def _mm(self, x, w, sw, rows):
        q, s = quantize(x, self.cfg.block)
        return expert_gemm(q, s, w, sw, rows, runner=self.cfg.runner)

    def forward(self, x: torch.Tensor, expert_of_row: torch.Tensor) -> torch.Tensor:
        gate, up = self._mm(x, self.up, self.up_scale, expert_of_row).chunk(2, dim=-1)
        return self._mm(torch.nn.functional.silu(gate) * up, self.down, self.down_scale, expert_of_row)
