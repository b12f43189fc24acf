#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

void fwd_launch(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, at::Tensor& o, double scale);

static at::Tensor fwd(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale) {
  const auto* prop = at::cuda::getDeviceProperties(q.get_device());
  TORCH_CHECK(prop->major >= 10, "blockattn._umma needs tensor memory");
  TORCH_CHECK(q.size(-1) == 128, "head dim 128 only");
  TORCH_CHECK(q.is_contiguous() && k.is_contiguous() && v.is_contiguous());
  at::Tensor o = at::empty_like(q);
  fwd_launch(q, k, v, o, scale);
  return o;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fwd", &fwd, py::arg("q"), py::arg("k"), py::arg("v"), py::arg("scale"));
}
