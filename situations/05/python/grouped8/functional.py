import torch

from . import _C  # noqa: F401  registers torch.ops.grouped8


class GroupedMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, offs):
        ctx.save_for_backward(a, b, offs)
        return torch.ops.grouped8.grouped_mm(a, b, offs)

    @staticmethod
    def backward(ctx, grad):
        a, b, offs = ctx.saved_tensors
        return loop_mm(grad, b.transpose(1, 2), offs), None, None


def loop_mm(a: torch.Tensor, b: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    """One cuBLAS call a group; any GPU."""
    out = a.new_empty((a.shape[0], b.shape[1]), dtype=torch.bfloat16)
    start = 0
    for g, end in enumerate(offs.tolist()):
        out[start:end] = a[start:end].to(torch.bfloat16) @ b[g].to(torch.bfloat16).t()
        start = end
    return out
