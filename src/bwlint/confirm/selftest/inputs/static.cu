#include "report.h"

__global__ void fill(unsigned int* out) {
    __shared__ unsigned int fixed[@BYTES@ / 4];
    for (unsigned int i = threadIdx.x; i < @BYTES@ / 4; i += blockDim.x) fixed[i] = i;
    __syncthreads();
    unsigned int wrong = 0;
    for (unsigned int i = threadIdx.x; i < @BYTES@ / 4; i += blockDim.x) wrong += fixed[i] != i;
    out[threadIdx.x] = wrong + 1;
}

int main() {
    Report report(128);
    fill<<<1, 128>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
