#pragma once
#include <cstdint>
#include <cuda_runtime.h>

bool run_quant(const float* x, int8_t* q, float* scale, int rows, int cols);
#ifdef WITH_FP4
bool run_fp4(const uint32_t* x, const uint32_t* y, const uint32_t* s, float* out, int k);
#endif
