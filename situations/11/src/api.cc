#include "fp8conv/registry.h"

#include <stdexcept>
#include <string>

namespace fp8conv {

static int current_sm() {
  int dev = 0, major = 0, minor = 0;
  if (cudaGetDevice(&dev) != cudaSuccess) throw std::runtime_error("fp8conv: no CUDA device");
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, dev);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, dev);
  return major * 10 + minor;
}

cudaError_t conv(const Problem& p, cudaStream_t s) {
  const int sm = current_sm();
  const Launcher f = Registry::instance().find(sm);
  if (f == nullptr) {
    throw std::runtime_error("fp8conv: no kernel registered for sm_" + std::to_string(sm));
  }
  return f(p, s);
}

}  // namespace fp8conv
