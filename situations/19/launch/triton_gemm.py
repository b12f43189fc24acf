import torch
import triton
import triton.language as tl


@triton.jit
def _blockwise(A, SA, B, SB, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        b = tl.load(B + rn[None, :] * K + rk[:, None], mask=rn[None, :] < N, other=0.0)
        sa = tl.load(SA + rm * (K // 128) + k // 128, mask=rm < M, other=0.0)
        sb = tl.load(SB + rn // 128 * (K // 128) + k // 128, mask=rn < N, other=0.0)
        acc += tl.dot(a, b) * sa[:, None] * sb[None, :]
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def blockwise_mm(a, sa, b, sb) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[0]
    c = torch.empty(m, n, dtype=torch.bfloat16, device=a.device)
    _blockwise[(triton.cdiv(m, 64), triton.cdiv(n, 64))](a, sa, b, sb, c, m, n, k, BM=64, BN=64, BK=128, num_warps=4, num_stages=2)
    return c
