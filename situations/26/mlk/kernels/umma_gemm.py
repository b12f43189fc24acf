from functools import lru_cache

import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.nvgpu import tcgen05
from cutlass.cute.runtime import from_dlpack

TILE = (128, 128, 64)


class _Gemm:
    def __init__(self, dtype):
        self.dtype = dtype

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        op = tcgen05.MmaF16BF16Op(
            self.dtype, cutlass.Float32, (TILE[0], TILE[1], 16), tcgen05.CtaGroup.ONE,
            tcgen05.OperandSource.SMEM, tcgen05.OperandMajorMode.K, tcgen05.OperandMajorMode.K,
        )
        mma = cute.make_tiled_mma(op)
        grid = (cute.ceil_div(c.shape[0], TILE[0]), cute.ceil_div(c.shape[1], TILE[1]), 1)
        self.kernel(mma, a, b, c).launch(grid=grid, block=(128, 1, 1))

    @cute.kernel
    def kernel(self, mma: cute.TiledMma, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        smem = cutlass.utils.SmemAllocator()
        slot = smem.allocate(cutlass.Int32)
        cute.arch.alloc_tmem(128, slot)
        cute.arch.barrier()
        tmem = cute.arch.retrieve_tmem_ptr(cutlass.Float32, 16, slot)
        cute.arch.dealloc_tmem(tmem, 128)


@lru_cache(maxsize=None)
def _compiled(dtype):
    return _Gemm(cutlass.Float16 if dtype is torch.float16 else cutlass.BFloat16)


def gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    c = torch.empty(a.shape[0], b.shape[0], device=a.device, dtype=a.dtype)
    _compiled(a.dtype)(from_dlpack(a), from_dlpack(b), from_dlpack(c))
    return c
