#include "report.h"

#include <cooperative_groups.h>

__global__ void fill(unsigned int* out) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) out[threadIdx.x] = 1;
}

// One block more than all multiprocessors hold together.
int main() {
    Report report(128);
    int blocks = 0, processors = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    report.step("occupancy", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 128, 0));
    unsigned int* out = report.out;
    void* arguments[] = {&out};
    void* kernel = reinterpret_cast<void*>(fill);
    report.step("launch", cudaLaunchCooperativeKernel(kernel, dim3(blocks * processors @MORE@), dim3(128), arguments, 0, 0));
    cudaGetLastError();
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
