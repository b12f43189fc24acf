#include "fp8conv/registry.h"

namespace fp8conv {

__device__ __forceinline__ void mma_e4m3(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void conv_mma(Problem p) {
  float d[4] = {};
  const uint32_t* x = reinterpret_cast<const uint32_t*>(p.x) + blockIdx.x * 128;
  const uint32_t* w = reinterpret_cast<const uint32_t*>(p.w);
  for (int c = 0; c < p.c; c += 32) {
    const uint32_t a[4] = {x[threadIdx.x], x[threadIdx.x + 32], x[threadIdx.x + 64], x[threadIdx.x + 96]};
    const uint32_t b[2] = {w[c + threadIdx.x % 32], w[c + (threadIdx.x + 7) % 32]};
    mma_e4m3(d, a, b);
  }
  for (int i = 0; i < 4; ++i) p.y[(blockIdx.x * 32 + threadIdx.x) * 4 + i] = d[i];
}

cudaError_t launch_conv_mma(const Problem& p, cudaStream_t s) {
  conv_mma<<<p.n * p.h, 32, 0, s>>>(p);
  return cudaGetLastError();
}

FP8CONV_REGISTER(89, launch_conv_mma);
FP8CONV_REGISTER(120, launch_conv_mma);

}  // namespace fp8conv
