#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <torch/types.h>

__global__ void rope_kernel(float* x, const float* cos, const float* sin, int heads, int half) {
  const int token = blockIdx.x;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const int h = i / half;
    const int d = i % half;
    float* p = x + (static_cast<int64_t>(token) * heads + h) * 2 * half;
    const float c = cos[token * half + d];
    const float s = sin[token * half + d];
    const float a = p[d];
    const float b = p[d + half];
    p[d] = a * c - b * s;
    p[d + half] = b * c + a * s;
  }
}

void rope_inplace_cuda(at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const int half = x.size(2) / 2;
  rope_kernel<<<x.size(0), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), cos.data_ptr<float>(), sin.data_ptr<float>(), x.size(1), half);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
