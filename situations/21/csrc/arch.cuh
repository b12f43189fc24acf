#pragma once

#ifdef __CUDA_ARCH__
#define RQ_ARCH __CUDA_ARCH__
#else
#define RQ_ARCH 0
#endif

namespace rq {

template <int Arch>
struct ArchTraits {
  static constexpr bool kBf16 = Arch >= 800;
  static constexpr bool kFp8Convert = Arch >= 890;
  static constexpr bool kFloatRedux = Arch >= 1000;
};

using Here = ArchTraits<RQ_ARCH>;

}  // namespace rq
