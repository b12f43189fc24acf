import torch
import triton
import triton.language as tl

from vserve.attention.base import AttentionBackend, register


@triton.jit
def _decode_kernel(Q, K, V, T, L, O, scale, stride_b, BS: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    offs = tl.arange(0, D)
    q = tl.load(Q + b * stride_b + h * D + offs).to(tl.float32) * scale
    n = tl.load(L + b)
    acc = tl.zeros([D], tl.float32)
    m = -float("inf")
    s = 0.0
    for i in range(0, n):
        block = tl.load(T + b * 4096 + i // BS)
        row = (block * BS + i % BS) * D
        w = tl.sum(q * tl.load(K + row + offs).to(tl.float32), 0)
        new_m = tl.maximum(m, w)
        alpha = tl.exp(m - new_m)
        p = tl.exp(w - new_m)
        acc = acc * alpha + p * tl.load(V + row + offs).to(tl.float32)
        s = s * alpha + p
        m = new_m
    tl.store(O + b * stride_b + h * D + offs, acc / s)


@register("TRITON_PAGED", priority=10)
class TritonPagedBackend(AttentionBackend):
    def __init__(self, scale: float, max_len: int):
        self.scale = scale

    def decode(self, q, kv, tables, lens):
        out = torch.empty_like(q)
        k, v = kv.unbind(1)
        _decode_kernel[(q.shape[0], q.shape[1])](q, k, v, tables, lens, out, self.scale, q.stride(0), BS=k.shape[1], D=q.shape[-1])
        return out
