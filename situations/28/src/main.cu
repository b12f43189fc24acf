#include <cstdio>

#include "api.cuh"

template <class T>
static T* zeros(size_t n) {
  T* p = nullptr;
  if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) return nullptr;
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}

int main() {
  float* x = zeros<float>(64 * 1024);
  int8_t* q = zeros<int8_t>(64 * 1024);
  float* s = zeros<float>(64);
  std::printf("quant: %s\n", run_quant(x, q, s, 64, 1024) ? "ok" : "failed");
#ifdef WITH_FP4
  uint32_t* a = zeros<uint32_t>(1 << 16);
  uint32_t* b = zeros<uint32_t>(1 << 16);
  uint32_t* f = zeros<uint32_t>(1 << 10);
  float* d = zeros<float>(128);
  std::printf("fp4: %s\n", run_fp4(a, b, f, d, 1024) ? "ok" : "not run");
#endif
  return 0;
}
