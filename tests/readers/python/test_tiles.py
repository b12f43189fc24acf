"""Bytes that kernels of TileLang take, held against what TileLang 0.1.15 itself lowers them to for sm_120
(`dyn_shared_memory_buf` of the kernel, read on a machine without a GPU); where a value is not known, at most that.
"""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from bwlint.model.details import Tiles
from bwlint.readers.python import tiles

GEMM = """
    import tilelang
    import tilelang.language as T

    {decorators}
    def gemm(M=1024, N=1024, K=1024, block_M=128, block_N=256, block_K=64, stages=4, dtype="float16"):
        @T.prim_func
        def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
            with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
                A_shared = T.alloc_shared((block_M, block_K), dtype)
                B_shared = T.alloc_shared((block_K, block_N), dtype)
                C_shared = T.alloc_shared((block_M, block_N), dtype)
                C_local = T.alloc_fragment((block_M, block_N), "float32")
                T.clear(C_local)
                for k in {loop}:
                    T.copy(A[by * block_M, k * block_K], A_shared)
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                    T.gemm(A_shared, B_shared, C_local)
                T.copy(C_local, C_shared)
                T.copy(C_shared, C[by * block_M, bx * block_N])

        return main
"""
PIPELINED = "T.Pipelined(T.ceildiv(K, block_K), num_stages=stages)"
GATHERED = """
    import tilelang
    import tilelang.language as T

    @tilelang.jit
    def gathered(rows, topk, heads, dim{default}, block=64, stages=2):
        padded = max(tilelang.math.next_power_of_2(heads), 16)
        D = dim

        @T.prim_func
        def main(
            Q: T.Tensor((padded, D), "bfloat16"), KV: T.Tensor((rows, D), "bfloat16"), At: T.Tensor((topk,), "int32")
        ):
            with T.Kernel(1, threads=256) as bx:
                Q_shared = T.alloc_shared([padded, D], "bfloat16")
                KV_shared = T.alloc_shared([block, D], "bfloat16")
                S_shared = T.alloc_shared([padded, block], T.bfloat16)
                acc_s = T.alloc_fragment([padded, block], "float32")
                acc_o = T.alloc_fragment([padded, D], "float32")
                T.copy(Q, Q_shared)
                T.clear(acc_o)
                for i in T.Pipelined(topk // block, num_stages=stages):
                    for b, d in T.Parallel(block, D):
                        KV_shared[b, d] = KV[At[i * block + b], d]
                    T.clear(acc_s)
                    T.gemm(Q_shared, KV_shared, acc_s, transpose_B=True)
                    T.copy(acc_s, S_shared)
                    T.gemm(S_shared, KV_shared, acc_o)

        return main

    {caller}
"""
CALLER = """
    def attend(q, kv, at, d_v=512):
        seq, heads, _ = q.shape
        kernel = gathered(kv.shape[0], at.shape[-1], heads, d_v)
        return kernel(q, kv, at)
"""
GATHERED_IN_16_HEADS = 149_504

CASES = {
    "a pipelined loop has its tiles once for each stage": (
        GEMM.format(decorators="@tilelang.jit", loop=PIPELINED),
        196_608,
    ),
    "what the epilogue alone uses takes the place of what the loop used": (
        GEMM.format(decorators="@tilelang.jit", loop="T.serial(T.ceildiv(K, block_K))"),
        65_536,
    ),
    "rows that are gathered one element after the other are staged, too": (
        GATHERED.format(default="=512", caller=""),
        GATHERED_IN_16_HEADS,
    ),
    "a width that the only caller knows": (GATHERED.format(default="", caller=CALLER.strip()), GATHERED_IN_16_HEADS),
    "a width of which nothing is known counts as one": (
        GATHERED.format(default="", caller=""),
        16 * 2 + 64 * 2 * 2 + 2048,
    ),
    "several sizes are tried": (
        GEMM.format(decorators="@tilelang.autotune(configs=CONFIGS)\n    @tilelang.jit", loop=PIPELINED),
        None,
    ),
    "nothing is shared": ("def f(n=1 << 20):\n    return T.alloc_fragment((n, n), 'float32')", None),
}


@pytest.mark.parametrize("name", CASES)
def test_bytes(name: str) -> None:
    source, expected = CASES[name]
    source = dedent(source)
    found = [one.detail for one in tiles.operations(ast.parse(source), source)]
    assert [isinstance(one, Tiles) and one.size for one in found] == ([] if expected is None else [expected])
