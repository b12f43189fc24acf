#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* x, int* out, int n, int bins) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int v = x[i];
    if (v >= 0 && v < bins) atomicAdd(&local[v], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) {
    if (local[i]) atomicAdd(&out[i], local[i]);
  }
}

extern "C" int histogram(const int* x, int* out, int n, int bins, cudaStream_t s) {
  if (bins > 8192) return cudaErrorInvalidValue;
  const int blocks = n / 4096 < 1 ? 1 : (n / 4096 > 256 ? 256 : n / 4096);
  histogram_kernel<<<blocks, 256, bins * sizeof(int), s>>>(x, out, n, bins);
  return cudaGetLastError();
}
