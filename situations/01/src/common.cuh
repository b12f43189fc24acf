#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define GPU_CC_TURING  750
#define GPU_CC_AMPERE  800
#define GPU_CC_ADA     890
#define GPU_CC_HOPPER  900
#define GPU_CC_GEFORCE_BLACKWELL 1200

#define CUDA_OK(call)                                                              \
    do {                                                                           \
        const cudaError_t err_ = (call);                                           \
        if (err_ != cudaSuccess) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            abort();                                                               \
        }                                                                          \
    } while (0)

#define ABORT(...)                    \
    do {                              \
        fprintf(stderr, __VA_ARGS__); \
        abort();                      \
    } while (0)

#define NO_DEVICE_CODE __trap()

enum class gpu_gen { turing, ampere, ada, hopper, blackwell_dc, blackwell_geforce };

struct device_info {
    int cc;
    int nsm;
    size_t smem_optin;
};

const device_info & get_device_info(int id);

static inline gpu_gen generation(int cc) {
    if (cc > GPU_CC_GEFORCE_BLACKWELL && cc < 1300) {
        cc = GPU_CC_GEFORCE_BLACKWELL;
    }
    switch (cc) {
        case 750:
            return gpu_gen::turing;
        case 800:
        case 860:
        case 870:
            return gpu_gen::ampere;
        case 890:
            return gpu_gen::ada;
        case 900:
            return gpu_gen::hopper;
        case 1000:
        case 1030:
        case 1100:
            return gpu_gen::blackwell_dc;
        case 1200:
            return gpu_gen::blackwell_geforce;
        default:
            ABORT("unknown compute capability %d\n", cc);
    }
}
