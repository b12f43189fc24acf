#include "bsm/bsm.h"

#define MMA_SHAPE "m16n8k64.row.col"
#define MMA_KIND(kind, vec) "mma.sync.aligned.kind::" #kind ".block_scale.scale_vec::" #vec "." MMA_SHAPE
#define MMA_REGS "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0,0}, {%11}, {0,0};"

__global__ static void __launch_bounds__(32) fp4_kernel(bsm_problem p) {
  float c[4] = {};
  const int lane = threadIdx.x;
  for (int i = 0; i < p.blocks; ++i) {
    const uint32_t* a = p.a + (i * 32 + lane) * 4;
    const uint32_t* b = p.b + (i * 32 + lane) * 2;
    asm volatile(MMA_KIND(mxf4nvf4, 4X) ".f32.e2m1.e2m1.f32.ue4m3 " MMA_REGS
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(p.scale_a[i]), "r"(p.scale_b[i]));
  }
  for (int i = 0; i < 4; ++i) p.d[lane * 4 + i] = c[i];
}

bsm_status bsm_fp4_launch(const bsm_problem* p, cudaStream_t stream) {
  fp4_kernel<<<1, 32, 0, stream>>>(*p);
  return cudaGetLastError() == cudaSuccess ? BSM_OK : BSM_CUDA_ERROR;
}
