#include "bag.h"
#include "ptx.cuh"

__global__ void bag_generic_kernel(BagArgs a) {
  const int bag = blockIdx.x;
  for (int d = threadIdx.x; d < a.dim; d += blockDim.x) {
    float sum = 0.f;
    for (int i = a.offset[bag]; i < a.offset[bag + 1]; ++i) {
      sum += a.table[static_cast<size_t>(a.index[i]) * a.dim + d];
    }
    a.out[static_cast<size_t>(bag) * a.dim + d] = sum;
  }
}

__global__ void bag_wide_kernel(BagArgs a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  const int bag = blockIdx.x;
  for (int d = threadIdx.x * 8; d < a.dim; d += blockDim.x * 8) {
    uint64_t sum[4] = {};
    for (int i = a.offset[bag]; i < a.offset[bag + 1]; ++i) {
      uint64_t row[4];
      ldg256(row, a.table + static_cast<size_t>(a.index[i]) * a.dim + d);
      for (int j = 0; j < 4; ++j) sum[j] = add_f32x2(sum[j], row[j]);
    }
    stg256(a.out + static_cast<size_t>(bag) * a.dim + d, sum);
  }
#else
  __trap();
#endif
}

cudaError_t bag_generic(const BagArgs& a, cudaStream_t s) {
  bag_generic_kernel<<<a.bags, 128, 0, s>>>(a);
  return cudaGetLastError();
}

cudaError_t bag_wide(const BagArgs& a, cudaStream_t s) {
  bag_wide_kernel<<<a.bags, 64, 0, s>>>(a);
  return cudaGetLastError();
}
