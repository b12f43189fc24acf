import triton
import triton.language as tl


@triton.jit
def add_rmsnorm_kernel(X, R, W, Y, n_rows, n_cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    pid = tl.program_id(0)
    rows = pid * ROWS + tl.arange(0, ROWS)
    live = rows < n_rows
    total = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        mask = live[:, None] & (cols[None, :] < n_cols)
        at = rows[:, None] * n_cols + cols[None, :]
        x = tl.load(X + at, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(R + at, mask=mask, other=0.0).to(tl.float32)
        s = x + r
        tl.store(R + at, s, mask=mask)
        total += tl.sum(s * s, axis=1)
    inv = 1.0 / tl.sqrt(total / n_cols + eps)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        mask = live[:, None] & (cols[None, :] < n_cols)
        at = rows[:, None] * n_cols + cols[None, :]
        s = tl.load(R + at, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(W + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        tl.store(Y + at, s * inv[:, None] * w[None, :], mask=mask)
