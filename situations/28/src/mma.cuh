#pragma once
#include <cstdint>

#define SCALED_MMA_HEAD(kind, vec) "mma.sync.aligned.kind::" #kind ".block_scale.scale_vec::" #vec ".m16n8k64.row.col.f32"
#define SCALED_MMA_TYPES(a, b, s) "." #a "." #b ".f32." #s

#define DEFINE_SCALED_MMA(name, kind, vec, a, b, s)                                                              \
  __device__ __forceinline__ void name(float (&d)[4], const uint32_t (&x)[4], const uint32_t (&y)[2],           \
                                       uint32_t sx, uint32_t sy) {                                               \
    asm volatile(SCALED_MMA_HEAD(kind, vec) SCALED_MMA_TYPES(a, b, s)                                            \
                 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};"          \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(sx), "r"(sy));          \
  }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
#define HAVE_SCALED_MMA 1
DEFINE_SCALED_MMA(mma_nvfp4, mxf4nvf4, 4X, e2m1, e2m1, ue4m3)
DEFINE_SCALED_MMA(mma_mxfp4, mxf4, 2X, e2m1, e2m1, ue8m0)
#endif
