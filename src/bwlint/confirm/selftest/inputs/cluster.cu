#include "report.h"

__global__ void fill(unsigned int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main() {
    Report report(32 * @SIZE@);
    @OPT_IN@
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(@SIZE@);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = @SIZE@;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    report.step("cudaLaunchKernelEx", cudaLaunchKernelEx(&config, fill, report.out));
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
