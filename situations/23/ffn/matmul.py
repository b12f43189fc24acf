import torch
import triton
import triton.language as tl

from ffn.configs import CANDIDATES, prune


@triton.autotune(configs=CANDIDATES, key=["M", "N", "K"], prune_configs_by={"early_config_prune": prune})
@triton.jit
def _gated(A, W, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
        w = tl.load(W + rk[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(a, w)
    acc = acc * tl.sigmoid(acc)
    tl.store(C + rm[:, None] * N + rn[None, :], acc.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def silu_mm(a: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = w.shape[1]
    c = torch.empty(m, n, device=a.device, dtype=a.dtype)

    def grid(meta):
        return triton.cdiv(m, meta["BM"]), triton.cdiv(n, meta["BN"])

    _gated[grid](a, w, c, m, n, k)
    return c
