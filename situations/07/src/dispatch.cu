#include "bag.h"

namespace {

constexpr int kBlackwell = 1000;

int device_cc() {
  int dev = 0, major = 0, minor = 0;
  cudaGetDevice(&dev);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, dev);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, dev);
  return major * 100 + minor * 10;
}

using Launcher = cudaError_t (*)(const BagArgs&, cudaStream_t);

Launcher pick(int cc, const BagArgs& a) {
  const bool blackwell = cc >= kBlackwell;
  return blackwell && a.dim % 8 == 0 ? bag_wide : bag_generic;
}

}  // namespace

cudaError_t bag_forward(const BagArgs& a, cudaStream_t s) {
  static const int cc = device_cc();
  return pick(cc, a)(a, s);
}
