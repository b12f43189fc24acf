#pragma once
#include <cuda_runtime.h>

struct BagArgs {
  const float* table;
  const int* index;
  const int* offset;
  float* out;
  int bags;
  int dim;
};

cudaError_t bag_generic(const BagArgs& a, cudaStream_t s);
cudaError_t bag_wide(const BagArgs& a, cudaStream_t s);
cudaError_t bag_forward(const BagArgs& a, cudaStream_t s);
