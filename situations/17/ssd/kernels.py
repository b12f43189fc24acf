import triton
import triton.language as tl


@triton.jit
def chunk_state_kernel(X, B, DT, S, length, dstate, hdim, BM: tl.constexpr, BN: tl.constexpr, CHUNK: tl.constexpr):
    c = tl.program_id(0)
    pm = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    acc = tl.zeros([BM, BN], tl.float32)
    rn = tl.program_id(2) * BN + tl.arange(0, BN)
    for t in range(0, CHUNK, 16):
        rt = c * CHUNK + t + tl.arange(0, 16)
        dt = tl.load(DT + rt, mask=rt < length, other=0.0)
        x = tl.load(X + rt[None, :] * hdim + rm[:, None], mask=(rt[None, :] < length) & (rm[:, None] < hdim), other=0.0)
        b = tl.load(B + rt[:, None] * dstate + rn[None, :], mask=(rt[:, None] < length) & (rn[None, :] < dstate), other=0.0)
        acc += tl.dot(x * dt[None, :].to(x.dtype), b)
    tl.store(S + (c * hdim + rm[:, None]) * dstate + rn[None, :], acc, mask=(rm[:, None] < hdim) & (rn[None, :] < dstate))


@triton.jit
def chunk_scan_kernel(C, S, Y, length, dstate, hdim, BM: tl.constexpr, BN: tl.constexpr, CHUNK: tl.constexpr):
    c = tl.program_id(0)
    rt = c * CHUNK + tl.program_id(1) * BM + tl.arange(0, BM)
    rh = tl.program_id(2) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, dstate, 16):
        rk = k + tl.arange(0, 16)
        q = tl.load(C + rt[:, None] * dstate + rk[None, :], mask=(rt[:, None] < length) & (rk[None, :] < dstate), other=0.0)
        s = tl.load(S + (c * hdim + rh[None, :]) * dstate + rk[:, None], mask=(rh[None, :] < hdim) & (rk[:, None] < dstate), other=0.0)
        acc += tl.dot(q, s.to(q.dtype))
    tl.store(Y + rt[:, None] * hdim + rh[None, :], acc, mask=(rt[:, None] < length) & (rh[None, :] < hdim))
