#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/library.h>

namespace grouped8 {

void launch_warpgroup(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs, at::Tensor& out, cudaStream_t s);
void launch_umma(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs, at::Tensor& out, cudaStream_t s);

at::Tensor grouped_mm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& offs) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 3, "grouped_mm: [m, k] x [groups, n, k]");
  TORCH_CHECK(a.scalar_type() == at::kFloat8_e4m3fn, "grouped_mm: e4m3 activations");
  TORCH_CHECK(offs.scalar_type() == at::kInt, "grouped_mm: int32 offsets");
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options().dtype(at::kBFloat16));
  const cudaDeviceProp* prop = at::cuda::getCurrentDeviceProperties();
  const auto stream = at::cuda::getCurrentCUDAStream();
  if (prop->major == 9) {
    launch_warpgroup(a, b, offs, out, stream);
  } else if (prop->major == 10) {
    launch_umma(a, b, offs, out, stream);
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "grouped_mm: no kernel for sm_", prop->major, prop->minor);
  }
  return out;
}

}  // namespace grouped8

TORCH_LIBRARY(grouped8, m) {
  m.def("grouped_mm(Tensor a, Tensor b, Tensor offs) -> Tensor");
}

TORCH_LIBRARY_IMPL(grouped8, CUDA, m) {
  m.impl("grouped_mm", &grouped8::grouped_mm);
}
