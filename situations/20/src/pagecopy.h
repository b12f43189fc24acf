#pragma once
#include <cuda_runtime.h>

namespace pagekit {
cudaError_t pagecopy(const void* src, void* dst, const int* map, int pages, int bytes, cudaStream_t stream);
}
