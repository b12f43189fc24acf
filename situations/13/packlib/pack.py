import torch
import triton
import triton.language as tl


@triton.jit
def _pack(X, Q, S, n, G: tl.constexpr):
    g = tl.program_id(0)
    at = g * G + tl.arange(0, G)
    x = tl.load(X + at, mask=at < n, other=0.0)
    top = tl.maximum(tl.max(tl.abs(x), 0), 1e-30)
    exp = tl.ceil(tl.log2(top / 448.0))
    exp = tl.minimum(tl.maximum(exp, -127.0), 127.0)
    tl.store(Q + at, (x / tl.exp2(exp)).to(tl.float8e4nv), mask=at < n)
    tl.store(S + g, (exp + 127.0).to(tl.uint8))


def pack_e8m0(x: torch.Tensor, group: int = 32):
    if x.shape[-1] % group:
        raise ValueError("last size must be a multiple of the group")
    q = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    s = torch.empty(*x.shape[:-1], x.shape[-1] // group, dtype=torch.uint8, device=x.device)
    _pack[(s.numel(),)](x, q, s, x.numel(), G=group)
    return q, s


def unpack_e8m0(q: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    f = torch.exp2(s.float() - 127.0).repeat_interleave(q.shape[-1] // s.shape[-1], dim=-1)
    return q.float() * f
