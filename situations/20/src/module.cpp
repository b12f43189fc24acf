#include <nanobind/nanobind.h>

#include <stdexcept>

#include "pagecopy.h"

namespace nb = nanobind;

NB_MODULE(_pagekit, m) {
  m.def(
      "pagecopy",
      [](uintptr_t src, uintptr_t dst, uintptr_t map, int pages, int bytes, uintptr_t stream) {
        const cudaError_t e = pagekit::pagecopy(reinterpret_cast<const void*>(src), reinterpret_cast<void*>(dst),
                                                reinterpret_cast<const int*>(map), pages, bytes, reinterpret_cast<cudaStream_t>(stream));
        if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
      },
      nb::arg("src"), nb::arg("dst"), nb::arg("map"), nb::arg("pages"), nb::arg("bytes"), nb::arg("stream"));
}
