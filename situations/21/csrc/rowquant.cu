#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>

#include "warp_reduce.cuh"

__global__ void rowquant_kernel(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale, int cols) {
  __shared__ float scratch[32];
  const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
  float top = 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, fabsf(row[c]));
  top = rq::block_absmax<rq::Here>(top, scratch);
  const float inv = top > 0.f ? 127.f / top : 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    q[static_cast<int64_t>(blockIdx.x) * cols + c] = static_cast<int8_t>(__float2int_rn(row[c] * inv));
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = top / 127.f;
}

std::tuple<at::Tensor, at::Tensor> rowquant(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 2 && x.scalar_type() == at::kFloat && x.is_contiguous());
  auto q = at::empty(x.sizes(), x.options().dtype(at::kChar));
  auto s = at::empty({x.size(0)}, x.options());
  rowquant_kernel<<<x.size(0), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), q.data_ptr<int8_t>(), s.data_ptr<float>(), x.size(1));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {q, s};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("rowquant", &rowquant); }
