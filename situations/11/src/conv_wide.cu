#include "fp8conv/registry.h"

namespace fp8conv {

template <int kRows>
__global__ void conv_rows(Problem p) {
  __shared__ float tile[kRows][32];
  for (int r = 0; r < kRows; ++r) tile[r][threadIdx.x] = p.x[(blockIdx.x * kRows + r) * 32 + threadIdx.x];
  __syncwarp();
  float sum = 0.f;
  for (int r = 0; r < kRows; ++r) sum += tile[r][threadIdx.x] * p.w[r * 32 + threadIdx.x];
  p.y[blockIdx.x * 32 + threadIdx.x] = sum;
}

cudaError_t launch_conv_rows64(const Problem& p, cudaStream_t s) {
  conv_rows<64><<<p.n * p.h, 32, 0, s>>>(p);
  return cudaGetLastError();
}

FP8CONV_REGISTER(90, launch_conv_rows64);
FP8CONV_REGISTER(100, launch_conv_rows64);
FP8CONV_REGISTER(103, launch_conv_rows64);

}  // namespace fp8conv
