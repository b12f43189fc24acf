#pragma once
#include <cstdint>

#define PTX_STR_(x) #x
#define PTX_STR(x) PTX_STR_(x)

#define PACKED_OP(op) PTX_STR(op) ".rn.f32x2 %0, %1, %2;"

#define DEFINE_PACKED2(name, op)                                                    \
  __device__ __forceinline__ uint64_t name(uint64_t a, uint64_t b) {                \
    uint64_t d;                                                                     \
    asm(PACKED_OP(op) : "=l"(d) : "l"(a), "l"(b));                                  \
    return d;                                                                       \
  }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
DEFINE_PACKED2(add_f32x2, add)
DEFINE_PACKED2(mul_f32x2, mul)

__device__ __forceinline__ void ldg256(uint64_t (&v)[4], const void* p) {
  asm volatile("ld.global.nc.v4.b64 {%0, %1, %2, %3}, [%4];" : "=l"(v[0]), "=l"(v[1]), "=l"(v[2]), "=l"(v[3]) : "l"(p));
}

__device__ __forceinline__ void stg256(void* p, const uint64_t (&v)[4]) {
  asm volatile("st.global.v4.b64 [%0], {%1, %2, %3, %4};" ::"l"(p), "l"(v[0]), "l"(v[1]), "l"(v[2]), "l"(v[3]) : "memory");
}

// four rows of a 2d map, picked by index, into the memory of this CTA
__device__ __forceinline__ void tma_gather4(uint32_t dst, const void* map, uint32_t bar, int col, int r0, int r1, int r2, int r3) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(dst),
      "l"(map), "r"(col), "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(bar)
      : "memory");
}
#endif
