#include "report.h"

__global__ void __cluster_dims__(@SIZE@, 1, 1) fill(unsigned int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
    Report report(32 * @SIZE@);
    @OPT_IN@
    fill<<<@SIZE@, 32>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
