"""Row-wise int8 quantisation."""
import torch

from . import _C


def rowquant(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return _C.rowquant(x.float().contiguous())


def dequant(q: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return q.float() * scale.unsqueeze(1)
