"""Class templates whose guard lets later targets into the kernel that they wrap."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts

WRAPPER = (
    "template <typename Kernel>\nstruct {} : Kernel {{\n  __device__ void operator()() {{\n"
    "#if defined(__CUDA_ARCH__) && ({})\n    Kernel::operator()();\n#endif\n  }}\n}};\n"
)
USE = "using Wrapped = {}<flash::{}<Loop>>;\n"


@pytest.mark.parametrize(
    ("name", "guard", "kernel", "expected"),
    [
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "ForwardSm90", ["warning"]),
        ("enable_sm90_or_later", "__CUDA_ARCH__ == 900", "ForwardSm90", []),
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "Forward", []),
        ("enable_sm90_or_later", "__CUDA_ARCH__ >= 900", "ForwardSm120", []),
        ("enable_sm90", "__CUDA_ARCH__ >= 900", "Forward", ["note"]),
        ("enable_sm120_or_later", "__CUDA_ARCH__ >= 1200", "ForwardSm120", []),
    ],
)
def test_what_is_wrapped(tmp_path: Path, name: str, guard: str, kernel: str, expected: list[str]) -> None:
    files = {"wrap.h": WRAPPER.format(name, guard), "launch.h": USE.format(name, kernel)}
    assert [draft.severity for draft in drafts(tmp_path, files, "leak", only="wrap.h")] == expected


def test_one_finding_names_all_kernels_that_are_wrapped(tmp_path: Path) -> None:
    name = "enable_sm90_or_later"
    files = {
        "wrap.h": WRAPPER.format(name, "__CUDA_ARCH__ >= 900"),
        "backward.cu": '#include "wrap.h"\n' + USE.format(name, "BackwardSm90"),
        "forward.cu": '#include "wrap.h"\n' + USE.format(name, "ForwardSm90"),
    }
    (found,) = drafts(tmp_path, files, "leak")
    assert "compiles `BackwardSm90` and `ForwardSm90` for 12.x too" in found.message
    assert [Path(one.module.path).name for one in found.related] == ["backward.cu", "forward.cu"]
