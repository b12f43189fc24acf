import torch
import triton
import triton.language as tl


@triton.jit
def _mm(A, B, SA, SB, C, M, N, K, SWIZZLED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        rs = k // 32 + tl.arange(0, BK // 32)
        a = tl.load(A + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(B + rn[None, :] * K + rk[:, None], mask=rn[None, :] < N, other=0.0)
        sa = tl.load(SA + rm[:, None] * (K // 32) + rs[None, :], mask=rm[:, None] < M, other=0)
        if SWIZZLED:
            tiles = K // 128
            at = ((rn[:, None] // 128) * tiles + rs[None, :] // 4) * 512 + (rn[:, None] % 32) * 16
            at += (rn[:, None] % 128) // 32 * 4 + rs[None, :] % 4
        else:
            at = rs[None, :] * N + rn[:, None]
        sb = tl.load(SB + at, mask=rn[:, None] < N, other=0)
        acc = tl.dot_scaled(a, sa, "e4m3", b, sb, "e4m3", acc)
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def mxfp8_mm(a, a_scale, b, b_scale, swizzled: bool, out_dtype=torch.bfloat16):
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty((m, n), dtype=out_dtype, device=a.device)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    _mm[grid](a, b, a_scale, b_scale, c, m, n, k, SWIZZLED=swizzled, BM=64, BN=64, BK=128, num_stages=2)
    return c
