#include "report.h"

extern __shared__ unsigned char room[];

__global__ void fill(unsigned int* out, unsigned int bytes) {
    room[bytes - 1 - threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = room[bytes - 1 - threadIdx.x];
}

// The status of the opt-in is looked at.
cudaError_t run(unsigned int* out) {
    cudaError_t status = cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, @BYTES@);
    if (status != cudaSuccess) return status;
    fill<<<1, 128, @BYTES@>>>(out, @BYTES@);
    return cudaGetLastError();
}

int main() {
    Report report(128);
    report.step("run", run(report.out));
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
