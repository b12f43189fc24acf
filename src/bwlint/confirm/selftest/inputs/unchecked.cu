#include "report.h"

extern __shared__ unsigned char room[];

__global__ void fill(unsigned int* out, unsigned int bytes) {
    room[bytes - 1 - threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = room[bytes - 1 - threadIdx.x];
}

// Nobody looks at what the two calls return, as is usual.
void run(unsigned int* out) {
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, @BYTES@);
    fill<<<1, 128, @BYTES@>>>(out, @BYTES@);
}

int main() {
    Report report(128);
    run(report.out);
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
