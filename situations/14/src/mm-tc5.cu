#include "common.cuh"

template <int BM, int BN>
static __global__ void __launch_bounds__(128) mm_tc5_kernel(const mm_args a) {
#ifdef TC5_AVAILABLE
    __shared__ uint32_t tmem_base;
    const uint32_t slot = static_cast<uint32_t>(__cvta_generic_to_shared(&tmem_base));
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(slot), "n"(BN) : "memory");
    }
    __syncthreads();
    uint32_t v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(tmem_base));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    a.dst[(blockIdx.x * BM + threadIdx.x) * a.n + blockIdx.y * BN] = __uint_as_float(v);
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tmem_base), "n"(BN));
    }
#else
    NO_DEVICE_CODE;
#endif
}

void mm_tc5(const mm_args & args, cudaStream_t stream) {
    const dim3 grid((args.m + 127) / 128, (args.n + 127) / 128);
    mm_tc5_kernel<128, 128><<<grid, 128, 0, stream>>>(args);
    CHECK(cudaGetLastError());
}
