#include "pagecopy.h"

namespace pagekit {

__global__ void copy_pages(const int4* src, int4* dst, const int* map, int words) {
  const int4* s = src + static_cast<size_t>(map[2 * blockIdx.x]) * words;
  int4* d = dst + static_cast<size_t>(map[2 * blockIdx.x + 1]) * words;
  for (int i = threadIdx.x; i < words; i += blockDim.x) d[i] = s[i];
}

cudaError_t pagecopy(const void* src, void* dst, const int* map, int pages, int bytes, cudaStream_t stream) {
  if (bytes % sizeof(int4) != 0) return cudaErrorInvalidValue;
  if (pages == 0) return cudaSuccess;
  copy_pages<<<pages, 256, 0, stream>>>(static_cast<const int4*>(src), static_cast<int4*>(dst), map, bytes / sizeof(int4));
  return cudaGetLastError();
}

}  // namespace pagekit
