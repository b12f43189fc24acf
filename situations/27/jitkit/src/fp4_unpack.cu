#include <cstdint>

// two e2m1 values of a byte -> two f16
__device__ __forceinline__ uint32_t unpack(uint32_t byte) {
  uint32_t out;
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000
  asm("{ .reg .b8 b; .reg .b32 r; mov.b32 {b, _, _, _}, %1; cvt.rn.f16x2.e2m1x2 %0, b; }" : "=r"(out) : "r"(byte));
#else
  auto one = [](uint32_t v) -> uint32_t {
    const uint32_t e = v >> 1 & 3, m = v & 1, s = (v & 8) << 12;
    if (e == 0) return s | (m ? 0x3800 : 0);
    return s | (e + 14) << 10 | m << 9;
  };
  out = one(byte & 15) | one(byte >> 4 & 15) << 16;
#endif
  return out;
}

extern "C" __global__ void fp4_unpack(const uint8_t* x, uint32_t* out, uint64_t n) {
  const uint64_t i = (blockIdx.x * uint64_t(blockDim.x) + threadIdx.x) * WIDTH;
  for (int j = 0; j < WIDTH; ++j) {
    if (i + j < n) out[i + j] = unpack(x[i + j]);
  }
}
