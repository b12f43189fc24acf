#include "bag.h"

#include <cstdio>
#include <vector>

int main() {
  const int rows = 1000, dim = 256, bags = 64, per = 10;
  std::vector<float> table(rows * dim, 0.5f);
  std::vector<int> index(bags * per), offset(bags + 1);
  for (int i = 0; i < bags * per; ++i) index[i] = (i * 7919) % rows;
  for (int i = 0; i <= bags; ++i) offset[i] = i * per;
  BagArgs a{};
  float *t, *o;
  int *ix, *of;
  cudaMalloc(&t, table.size() * 4);
  cudaMalloc(&o, bags * dim * 4);
  cudaMalloc(&ix, index.size() * 4);
  cudaMalloc(&of, offset.size() * 4);
  cudaMemcpy(t, table.data(), table.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(ix, index.data(), index.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(of, offset.data(), offset.size() * 4, cudaMemcpyHostToDevice);
  a = {t, ix, of, o, bags, dim};
  const cudaError_t e = bag_forward(a, nullptr);
  if (e != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    fprintf(stderr, "failed: %s\n", cudaGetErrorString(e));
    return 1;
  }
  std::vector<float> out(bags * dim);
  cudaMemcpy(out.data(), o, out.size() * 4, cudaMemcpyDeviceToHost);
  printf("%g\n", out[5]);
  return out[5] == 5.0f ? 0 : 1;
}
