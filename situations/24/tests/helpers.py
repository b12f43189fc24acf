import torch


def quant_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    g = x.float().unflatten(-1, (-1, 128))
    s = g.abs().amax(-1).clamp(min=1e-6) / 448.0
    return (g / s.unsqueeze(-1)).flatten(-2).to(torch.float8_e4m3fn), s


def quant_blocks(w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    b, n, k = w.shape
    g = w.float().view(b, n // 128, 128, k // 128, 128)
    s = g.abs().amax((2, 4)).clamp(min=1e-6) / 448.0
    return (g / s[:, :, None, :, None]).view(b, n, k).to(torch.float8_e4m3fn), s


def cosine(a: torch.Tensor, b: torch.Tensor) -> float:
    return torch.nn.functional.cosine_similarity(a.float().flatten(), b.float().flatten(), dim=0).item()
