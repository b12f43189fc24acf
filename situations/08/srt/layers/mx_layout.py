"""Layouts of the block scales that go with MXFP8 weights (one e8m0 byte per 32 values)."""
import torch


def swizzle_128x4(scale: torch.Tensor) -> torch.Tensor:
    """[rows, cols] -> tiles of 128 x 4, each stored as 32 x 16 bytes, as the block scaled MMA reads them."""
    rows, cols = scale.shape
    pad_r = (-rows) % 128
    pad_c = (-cols) % 4
    s = torch.nn.functional.pad(scale, (0, pad_c, 0, pad_r))
    s = s.view(s.shape[0] // 128, 4, 32, s.shape[1] // 4, 4)
    return s.permute(0, 3, 2, 1, 4).contiguous().flatten()


def transpose_k_major(scale: torch.Tensor) -> torch.Tensor:
    """[rows, cols] -> [cols, rows], as the software path reads them."""
    return scale.t().contiguous().flatten()
