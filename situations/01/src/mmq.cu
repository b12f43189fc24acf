#include "common.cuh"
#include "fp4-mma.cuh"

__global__ void mmq_mxf4_native(const uint32_t * w, const uint32_t * y, const uint32_t * scale, float * dst, int nblk) {
#ifdef FP4_MMA_AVAILABLE
    tile_c acc = {};
    for (int ib = 0; ib < nblk; ++ib) {
        tile_a a;
        tile_b b;
        for (int i = 0; i < 4; ++i) a.x[i] = w[(ib * 32 + threadIdx.x) * 4 + i];
        for (int i = 0; i < 2; ++i) b.x[i] = y[(ib * 32 + threadIdx.x) * 2 + i];
        mma_fp4(acc, a, b, scale[2 * ib], scale[2 * ib + 1]);
    }
    for (int i = 0; i < 4; ++i) dst[threadIdx.x * 4 + i] = acc.x[i];
#else
    NO_DEVICE_CODE;
#endif
}

__global__ void mmq_mxf4_dp4a(const uint32_t * w, const uint32_t * y, const uint32_t * scale, float * dst, int nblk) {
    int acc = 0;
    for (int ib = 0; ib < nblk; ++ib) {
        acc = __dp4a((int) w[ib * 32 + threadIdx.x], (int) y[ib * 32 + threadIdx.x], acc);
    }
    dst[threadIdx.x] = acc * __uint_as_float(scale[0] << 23);
}

void mul_mat_mxf4(int id, const uint32_t * w, const uint32_t * y, const uint32_t * scale, float * dst, int nblk, cudaStream_t s) {
    switch (generation(get_device_info(id).cc)) {
        case gpu_gen::blackwell_geforce:
            mmq_mxf4_native<<<1, 32, 0, s>>>(w, y, scale, dst, nblk);
            break;
        case gpu_gen::turing:
        case gpu_gen::ampere:
        case gpu_gen::ada:
        case gpu_gen::hopper:
        case gpu_gen::blackwell_dc:
            mmq_mxf4_dp4a<<<1, 32, 0, s>>>(w, y, scale, dst, nblk);
            break;
    }
    CUDA_OK(cudaGetLastError());
}
