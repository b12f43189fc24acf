#include "report.h"

extern __device__ unsigned int one();

__global__ void fill(unsigned int* out) { out[threadIdx.x] = one(); }

int main() {
    Report report(128);
    fill<<<1, 128>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
