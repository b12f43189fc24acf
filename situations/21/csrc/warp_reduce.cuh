#pragma once

#include "arch.cuh"

namespace rq {

template <class Traits>
__device__ __forceinline__ float warp_absmax(float v) {
  if constexpr (Traits::kFloatRedux) {
    float r;
    asm volatile("redux.sync.max.abs.f32 %0, %1, 0xffffffff;" : "=f"(r) : "f"(v));
    return r;
  } else {
    v = fabsf(v);
#pragma unroll
    for (int m = 16; m > 0; m >>= 1) {
      v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, m));
    }
    return v;
  }
}

template <class Traits>
__device__ __forceinline__ float block_absmax(float v, float* scratch) {
  v = warp_absmax<Traits>(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : 0.f;
  return warp_absmax<Traits>(v);
}

}  // namespace rq
