import torch

_E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def _unpack(x: torch.Tensor, sf: torch.Tensor) -> torch.Tensor:
    table = _E2M1.to(x.device)
    lo = table[(x & 0xF).long()]
    hi = table[(x >> 4).long()]
    v = torch.stack((lo, hi), dim=-1).flatten(-2)
    return (v.unflatten(-1, (-1, 16)) * sf.float().unsqueeze(-1)).flatten(-2)


class DequantGemm:
    def __call__(self, a, b, sfa, sfb, c):
        torch.matmul(_unpack(a, sfa).to(c.dtype), _unpack(b, sfb).to(c.dtype).t(), out=c)
        return c
