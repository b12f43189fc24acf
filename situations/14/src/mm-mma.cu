#include "common.cuh"

static __global__ void mm_mma_kernel(const mm_args a) {
    float c[4] = {0.f, 0.f, 0.f, 0.f};
    const uint32_t * x = reinterpret_cast<const uint32_t *>(a.x) + blockIdx.x * 8 * a.k;
    const uint32_t * y = reinterpret_cast<const uint32_t *>(a.y) + blockIdx.y * 4 * a.k;
    for (int k = threadIdx.x; k < a.k / 4; k += 32) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(x[k]), "r"(x[k + 1]), "r"(x[k + 2]), "r"(x[k + 3]), "r"(y[k]), "r"(y[k + 1]));
    }
    float * d = a.dst + (blockIdx.x * 16 + threadIdx.x / 4) * a.n + blockIdx.y * 8 + threadIdx.x % 4 * 2;
    d[0] = c[0];
    d[1] = c[1];
    d[8 * a.n] = c[2];
    d[8 * a.n + 1] = c[3];
}

void mm_mma(const mm_args & args, cudaStream_t stream) {
    mm_mma_kernel<<<dim3(args.m / 16, args.n / 8), 32, 0, stream>>>(args);
    CHECK(cudaGetLastError());
}
