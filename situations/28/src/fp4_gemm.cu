#include <cstdio>

#include "api.cuh"
#include "mma.cuh"

__global__ void __launch_bounds__(32) fp4_gemm(const uint32_t* x, const uint32_t* y, const uint32_t* s, float* out, int k, bool nv) {
#ifdef HAVE_SCALED_MMA
  float d[4] = {};
  for (int i = 0; i < k / 64; ++i) {
    const uint32_t* px = x + (i * 32 + threadIdx.x) * 4;
    const uint32_t* py = y + (i * 32 + threadIdx.x) * 2;
    const uint32_t ax[4] = {px[0], px[1], px[2], px[3]};
    const uint32_t by[2] = {py[0], py[1]};
    if (nv) {
      mma_nvfp4(d, ax, by, s[2 * i], s[2 * i + 1]);
    } else {
      mma_mxfp4(d, ax, by, s[2 * i], s[2 * i + 1]);
    }
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
#endif
}

bool run_fp4(const uint32_t* x, const uint32_t* y, const uint32_t* s, float* out, int k) {
  cudaDeviceProp prop;
  if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || prop.major != 12) {
    std::printf("fp4: skipped, needs compute capability 12.x\n");
    return false;
  }
  fp4_gemm<<<1, 32>>>(x, y, s, out, k, true);
  return cudaDeviceSynchronize() == cudaSuccess;
}
