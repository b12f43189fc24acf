#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CHECK(x)                                                                 \
    do {                                                                         \
        cudaError_t e_ = (x);                                                    \
        if (e_ != cudaSuccess) {                                                 \
            fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_));             \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) && __CUDA_ARCH_FAMILY_SPECIFIC__ / 100 == 10
#define TC5_AVAILABLE
#endif

static __device__ void no_device_code(const char * fn, int line) {
    printf("%s:%d: no code for this GPU was compiled in\n", fn, line);
    __trap();
}
#define NO_DEVICE_CODE no_device_code(__FUNCTION__, __LINE__)

struct mm_args {
    const half * x;
    const half * y;
    float * dst;
    int m, n, k;
};

using mm_launch_t = void (*)(const mm_args &, cudaStream_t);

void mm_tc5(const mm_args & args, cudaStream_t stream);
void mm_mma(const mm_args & args, cudaStream_t stream);
