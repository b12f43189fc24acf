#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

typedef enum { BSM_OK = 0, BSM_NOT_SUPPORTED = 1, BSM_CUDA_ERROR = 2 } bsm_status;

struct bsm_problem {
  const uint32_t* a;
  const uint32_t* b;
  const uint32_t* scale_a;
  const uint32_t* scale_b;
  float* d;
  int blocks;
};

bsm_status bsm_fp4(const bsm_problem* p, cudaStream_t stream);
bsm_status bsm_scale(float* x, float f, int n, cudaStream_t stream);

bsm_status bsm_fp4_launch(const bsm_problem* p, cudaStream_t stream);
