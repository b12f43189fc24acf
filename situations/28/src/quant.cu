#include "api.cuh"

__global__ void quant_rows(const float* x, int8_t* q, float* scale, int cols) {
  float top = 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) top = fmaxf(top, fabsf(x[blockIdx.x * cols + c]));
  for (int m = 16; m; m >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, m));
  const float inv = top > 0.f ? 127.f / top : 0.f;
  for (int c = threadIdx.x; c < cols; c += 32) q[blockIdx.x * cols + c] = (int8_t)__float2int_rn(x[blockIdx.x * cols + c] * inv);
  if (threadIdx.x == 0) scale[blockIdx.x] = top / 127.f;
}

bool run_quant(const float* x, int8_t* q, float* scale, int rows, int cols) {
  quant_rows<<<rows, 32>>>(x, q, scale, cols);
  return cudaDeviceSynchronize() == cudaSuccess;
}
