#include <torch/extension.h>

void rope_inplace_cuda(at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin);

void rope_inplace(at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  TORCH_CHECK(x.is_cuda() && cos.is_cuda() && sin.is_cuda(), "rope: CUDA tensors expected");
  TORCH_CHECK(x.dim() == 3, "rope: [tokens, heads, dim] expected");
  TORCH_CHECK(x.size(2) % 2 == 0, "rope: even head dim expected");
  TORCH_CHECK(x.scalar_type() == at::kFloat, "rope: float32 expected");
  rope_inplace_cuda(x, cos, sin);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("rope_inplace", &rope_inplace, "rotate pairs of x in place");
}
