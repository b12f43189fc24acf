"""The size of a multiprocessor where that of a block is meant."""

from __future__ import annotations

import pytest

from .cuda.conftest import Mend, mend  # noqa: F401 - a fixture

LAUNCH = """constexpr int kBytes = {size};
__global__ void sm120_kernel(float* out);
void run() {{
  cudaFuncSetAttribute(sm120_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  sm120_kernel<<<1, 128, kBytes>>>(nullptr);
}}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("102400", "101376"),
        ("102400u", "101376u"),
        ("0x19000", "0x18c00"),
        ("100 * 1024", "99 * 1024"),
    ],
)
def test_requested(mend: Mend, before: str, after: str) -> None:  # noqa: F811
    found = mend(LAUNCH.format(size=before), ("smem",))
    assert {fix.applicability for fix in found.fixes} == {"unsafe"}
    assert {fix.kind for fix in found.fixes} == {"size"}
    assert found.text() == LAUNCH.format(size=after)
    assert not mend(found.text(), ("smem",)).fixes


@pytest.mark.parametrize("size", ["101376", "49152", "99 * 1024", "131072", "232448"])
def test_left_alone(mend: Mend, size: str) -> None:  # noqa: F811
    assert not mend(LAUNCH.format(size=size), ("smem",)).fixes


def test_capacity(mend: Mend) -> None:  # noqa: F811
    source = "constexpr int sm120_smem_capacity_bytes = {};\n"
    assert mend(source.format("102400"), ("smem",)).text() == source.format("101376")
    assert not mend(source.format("101376"), ("smem",)).found


def test_compared_with_a_limit(mend: Mend) -> None:  # noqa: F811
    source = """constexpr int sm120_smem_capacity_bytes = 102400;
void run(int device) {
  int limit = 0;
  cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (limit < 102400) {
    throw std::runtime_error("too little");
  }
}
"""
    for fix in mend(source, ("smem",)).fixes:
        assert "if (limit < 102400)" in mend(source, ("smem",)).text()
        assert fix.applicability == "unsafe"


SISTERS = "constexpr int sm100_smem_capacity_bytes = {};\nconstexpr int sm120_smem_capacity_bytes = {};\n"


@pytest.mark.parametrize(("other", "applicability"), [("232448", "safe"), ("200000", "unsafe")])
def test_a_constant_beside_it_says_what_is_meant(mend: Mend, other: str, applicability: str) -> None:  # noqa: F811
    found = mend(SISTERS.format(other, "102400"), ("smem",))
    assert {fix.applicability for fix in found.fixes} == {applicability}
    assert found.text() == SISTERS.format(other, "101376")
