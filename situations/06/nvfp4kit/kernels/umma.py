import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import tcgen05
from cutlass.cute.nvgpu.tcgen05 import CtaGroup, OperandSource


class UmmaGemm:
    def __init__(self, tile=(128, 128, 256)):
        self.tile = tile
        self.threads = 192

    def make_mma(self):
        op = tcgen05.MmaMXF4NVF4Op(
            cutlass.Float8E4M3FN,
            (self.tile[0], self.tile[1], 64),
            CtaGroup.ONE,
            OperandSource.SMEM,
        )
        return cute.make_tiled_mma(op)

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, sfa: cute.Tensor, sfb: cute.Tensor, c: cute.Tensor):
        mma = self.make_mma()
        grid = (cute.ceil_div(c.shape[0], self.tile[0]), cute.ceil_div(c.shape[1], self.tile[1]), 1)
        self.kernel(mma, a, b, sfa, sfb, c).launch(grid=grid, block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, mma: cute.TiledMma, a, b, sfa, sfb, c):
        tidx, _, _ = cute.arch.thread_idx()
        smem = cutlass.utils.SmemAllocator()
        slot = smem.allocate(cutlass.Int32)
        cute.arch.alloc_tmem(512, slot)
        cute.arch.barrier()
        tmem = cute.arch.retrieve_tmem_ptr(cutlass.Float32, 16, slot)
        cute.arch.barrier()
        cute.arch.dealloc_tmem(tmem, 512)
