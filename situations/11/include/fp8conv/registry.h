#pragma once

#include <cuda_runtime.h>
#include <cstdint>

namespace fp8conv {

struct Problem {
  const uint8_t* x;
  const uint8_t* w;
  float* y;
  int n, c, h, k;
};

using Launcher = cudaError_t (*)(const Problem&, cudaStream_t);

class Registry {
 public:
  static Registry& instance();
  void add(int sm, const char* name, Launcher f);
  Launcher find(int sm) const;
};

struct Registrar {
  Registrar(int sm, const char* name, Launcher f) { Registry::instance().add(sm, name, f); }
};

#define FP8CONV_CAT_(a, b) a##b
#define FP8CONV_CAT(a, b) FP8CONV_CAT_(a, b)
#define FP8CONV_REGISTER(sm, fn) static ::fp8conv::Registrar FP8CONV_CAT(reg_, __COUNTER__)(sm, #fn, &fn)

cudaError_t conv(const Problem& p, cudaStream_t s);

}  // namespace fp8conv
