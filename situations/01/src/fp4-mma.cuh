#pragma once

#include <cstdint>
#include "common.cuh"

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && (__CUDA_ARCH_FAMILY_SPECIFIC__ == 1200)
#define FP4_MMA_AVAILABLE
#endif

struct tile_a { uint32_t x[4]; };
struct tile_b { uint32_t x[2]; };
struct tile_c { float x[4]; };

static __device__ __forceinline__ void mma_fp4(tile_c & c, const tile_a & a, const tile_b & b, uint32_t sa, uint32_t sb) {
#ifdef FP4_MMA_AVAILABLE
    asm volatile(
        "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
        : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]), "r"(sa), "r"(sb));
#else
    NO_DEVICE_CODE;
#endif
}
