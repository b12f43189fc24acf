import tilelang
import tilelang.language as T

from .autoselect import GemmConfig


@tilelang.jit(out_idx=[2])
def build(M: int, N: int, K: int, cfg: GemmConfig, dtype: str = "bfloat16", accum: str = "float"):
    BM, BN, BK = cfg.block_M, cfg.block_N, cfg.block_K

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=cfg.threads) as (bx, by):
            A_shared = T.alloc_shared((BM, BK), dtype)
            B_shared = T.alloc_shared((BK, BN), dtype)
            C_local = T.alloc_fragment((BM, BN), accum)
            T.clear(C_local)
            for ko in T.Pipelined(T.ceildiv(K, BK), num_stages=cfg.num_stages):
                T.copy(A[by * BM, ko * BK], A_shared)
                T.copy(B[ko * BK, bx * BN], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * BM, bx * BN])

    return main
