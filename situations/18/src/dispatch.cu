#include "bsm/bsm.h"

namespace {
int major_of_current() {
  int dev = 0;
  int major = 0;
  if (cudaGetDevice(&dev) != cudaSuccess) return 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, dev) != cudaSuccess) return 0;
  return major;
}
}  // namespace

bsm_status bsm_fp4(const bsm_problem* p, cudaStream_t stream) {
  switch (major_of_current()) {
    case 12:
      return bsm_fp4_launch(p, stream);
    default:
      return BSM_NOT_SUPPORTED;
  }
}
