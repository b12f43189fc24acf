#include "report.h"

__global__ void fill(unsigned int* out) { out[threadIdx.x] = 1; }

int main() {
    Report report(128);
    fill<<<1, 128>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
