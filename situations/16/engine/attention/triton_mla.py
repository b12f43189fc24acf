import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from engine.attention.abstract import AttentionBackend, MLABackend


@triton.jit
def _mla(Q, KV, T, L, O, scale, heads, BS: tl.constexpr, R: tl.constexpr, P: tl.constexpr, MAXB: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    r = tl.arange(0, R)
    p = tl.arange(0, P)
    base = (b * heads + h) * (R + P)
    q = tl.load(Q + base + r).to(tl.float32)
    qp = tl.load(Q + base + R + p).to(tl.float32)
    m = -float("inf")
    s = 0.0
    acc = tl.zeros([R], tl.float32)
    for i in range(tl.load(L + b)):
        row = (tl.load(T + b * MAXB + i // BS) * BS + i % BS) * (R + P)
        k = tl.load(KV + row + r).to(tl.float32)
        w = (tl.sum(q * k, 0) + tl.sum(qp * tl.load(KV + row + R + p).to(tl.float32), 0)) * scale
        n = tl.maximum(m, w)
        acc = acc * tl.exp(m - n) + tl.exp(w - n) * k
        s = s * tl.exp(m - n) + tl.exp(w - n)
        m = n
    tl.store(O + (b * heads + h) * R + r, acc / s)


class TritonMLABackend(MLABackend):
    def forward(self, q, kv, tables, lens):
        out = q.new_empty(q.shape[0], q.shape[1], self.rank)
        _mla[(q.shape[0], q.shape[1])](
            q, kv, tables, lens, out, self.scale, q.shape[1], BS=kv.shape[1], R=self.rank, P=self.rope, MAXB=tables.shape[1]
        )
        return out


class SDPABackend(AttentionBackend):
    def forward(self, q, kv, tables, lens):
        k, v = kv.unbind(0)
        return F.scaled_dot_product_attention(q, k, v)
