#include "report.h"

extern __shared__ unsigned char room[];

__global__ void fill(unsigned int* out, unsigned int bytes) {
    for (unsigned int i = threadIdx.x; i < bytes; i += blockDim.x) room[i] = static_cast<unsigned char>(i * 7 + 3);
    __syncthreads();
    unsigned int wrong = 0;
    for (unsigned int i = threadIdx.x; i < bytes; i += blockDim.x) wrong += room[i] != static_cast<unsigned char>(i * 7 + 3);
    out[threadIdx.x] = wrong + 1;
}

// Without an opt-in a launch may ask for the default and no more.
int main() {
    constexpr int kBytes = @BYTES@;
    Report report(128);
    @OPT_IN@
    fill<<<1, 128, kBytes>>>(report.out, kBytes);
    report.step("launch", cudaGetLastError());
    report.step("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return report.finish();
}
