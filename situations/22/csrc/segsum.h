#pragma once
#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif
int segsum(const float* x, const int* start, float* out, int segments, cudaStream_t stream);
#ifdef __cplusplus
}
#endif
