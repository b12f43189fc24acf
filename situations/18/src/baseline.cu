#include "bsm/bsm.h"

__global__ static void scale_kernel(float* x, float f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= f;
}

bsm_status bsm_scale(float* x, float f, int n, cudaStream_t stream) {
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, f, n);
  return cudaGetLastError() == cudaSuccess ? BSM_OK : BSM_CUDA_ERROR;
}
