import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp


class WarpGemm:
    """Block scaled mma.sync, registers as accumulators; two stages of a 128x128x128 tile are 32 KiB."""

    def __init__(self, tile=(128, 128, 128), stages=2):
        self.tile = tile
        self.stages = stages
        self.threads = 256

    def make_mma(self):
        op = warp.MmaMXF4NVF4Op(cutlass.Float4E2M1FN, cutlass.Float32, cutlass.Float8E4M3FN)
        return cute.make_tiled_mma(op, atom_layout_mnk=cute.make_layout((4, 2, 1)))

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, sfa: cute.Tensor, sfb: cute.Tensor, c: cute.Tensor):
        grid = (cute.ceil_div(c.shape[0], self.tile[0]), cute.ceil_div(c.shape[1], self.tile[1]), 1)
        self.kernel(self.make_mma(), a, b, sfa, sfb, c).launch(grid=grid, block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, mma: cute.TiledMma, a, b, sfa, sfb, c):
        tidx, _, _ = cute.arch.thread_idx()
        bm, bn, _ = cute.arch.block_idx()
        ga = cute.local_tile(a, (self.tile[0], self.tile[2]), (bm, None))
        gb = cute.local_tile(b, (self.tile[1], self.tile[2]), (bn, None))
        thr = mma.get_slice(tidx)
        acc = mma.make_fragment_C(thr.partition_shape_C((self.tile[0], self.tile[1])))
        acc.fill(0.0)
