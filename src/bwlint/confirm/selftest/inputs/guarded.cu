#include "report.h"

__global__ void fill(unsigned int* out) {
#if @TEST@
    out[threadIdx.x] = 1;
#endif
}

int main() {
    Report report(128);
    fill<<<1, 128>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
