"""An image for 12.x of a source that is named for the data centre: harm where it does not compile."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

CMAKE = """cuda_archs_loose_intersection(MLA_ARCHS "10.0f;12.0f" "${CUDA_ARCHS}")
set_gencode_flags_for_srcs(SRCS mla_sm100.cu CUDA_ARCHS "${MLA_ARCHS}")
"""
BARE = '__global__ void f(int a) {\n  asm volatile("tcgen05.wait::ld.sync.aligned;");\n}\n'
GUARDED = """__global__ void f(int a) {
#if __CUDA_ARCH_FAMILY_SPECIFIC__ == 1000
  asm volatile("tcgen05.wait::ld.sync.aligned;");
#endif
}
"""
ATOM = "#include <cute/arch/tmem_allocator_sm100.hpp>\nusing Allocator = cute::TMEM::Allocator2Sm;\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BARE, ["1 warning"]),
        (GUARDED, ["1 note"]),
        (ATOM, ["1 note"]),
        ("__global__ void f(int a) {}\n", ["1 note"]),
    ],
)
def test_an_image_too_many(tmp_path: Path, source: str, expected: list[str]) -> None:
    found = drafts(tmp_path, {"CMakeLists.txt": CMAKE, "mla_sm100.cu": source}, "arch-target")
    assert levels(found) == expected
    assert ("which mla_sm100.cu:2 needs" in found[0].message) == (expected == ["1 warning"])
