#include "report.h"

__global__ void __launch_bounds__(@THREADS_ASKED@, @BLOCKS_ASKED@) fill(unsigned int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// How many blocks of the kernel a multiprocessor holds, beside the minimum that it was compiled for.
int main() {
    Report report(@THREADS_ASKED@);
    int blocks = 0;
    report.step("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, @THREADS_ASKED@, 0));
    fill<<<1, @THREADS_ASKED@>>>(report.out);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish(blocks, @BLOCKS_ASKED@);
}
