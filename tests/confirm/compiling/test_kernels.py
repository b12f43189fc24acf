"""Which kernels of a cubin a place of a source is about."""

from __future__ import annotations

from pathlib import Path

import gpu_claims
import pytest

from bwlint.confirm.compiling import kernels
from bwlint.model.images import Kernel

SOURCE = """\
template <int N> __global__ void wide(float *out) {
  extern __shared__ float held[];
}
template <class T> __global__ void of_class(T t) {}
__global__ void other(int *p) {}
template <class K> void start(K kernel, int bytes) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
void direct(float *out) {
  other<<<1, 1>>>(nullptr);
  wide<2><<<1, 32, 65536>>>(out);
}
void by_name(float *out) {
  auto kernel = &wide<4>;
  other<<<1, 1>>>(nullptr);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
}
void by_call() { start(other, 65536); }
void in_the_body() {
  int bytes = 65536;
  other<<<1, 1, bytes>>>(nullptr);
}
struct Mainloop {
  static constexpr int bytes = 65536;
};
constexpr int alone = 65536;
void nothing() {
  // wide, other
  int wider = 65536;
}
"""
WIDE = ("_Z4wideILi2EEvPf", "_Z4wideILi4EEvPf")
OTHER = "_Z5otherPi"
LOOP, LOOPS = "_Z8of_classI8MainloopEvT_", "_Z8of_classI9MainloopsEvT_"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("extern __shared__", WIDE),
        ("__global__ void other", (OTHER,)),
        ("wide<2><<<", WIDE),
        ("cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536)", WIDE),
        ("cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)", (OTHER,)),
        ("int bytes = 65536;\n  other", (OTHER,)),
        ("static constexpr int bytes", (LOOP,)),
        # Nothing around it names a kernel: comments do not, nor does a name that only begins like one.
        ("constexpr int alone", ()),
        ("int wider", ()),
    ],
)
def test_a_place_means(tmp_path: Path, text: str, expected: tuple[str, ...]) -> None:
    (tmp_path / "a.cu").write_text(SOURCE)
    at = gpu_claims.at(SOURCE[: SOURCE.index(text)].count("\n") + 1)
    there = [Kernel(name) for name in (*WIDE, OTHER, LOOP, LOOPS)]
    assert tuple(kernel.name for kernel in kernels.meant(str(tmp_path / "a.cu"), at, there)) == expected


def test_a_template_that_nobody_instantiates_is_not_meant(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(SOURCE)
    assert kernels.meant(str(tmp_path / "a.cu"), gpu_claims.at(2), [Kernel(OTHER), Kernel(LOOP)]) == ()


@pytest.mark.parametrize("line", [0, 10_000])
def test_a_place_that_is_not_there(tmp_path: Path, line: int) -> None:
    (tmp_path / "a.cu").write_text(SOURCE)
    assert kernels.meant(str(tmp_path / "a.cu"), gpu_claims.at(line), [Kernel(OTHER)]) == ()
