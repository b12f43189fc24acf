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


def test_each_use_names_the_kernel_that_it_wraps(tmp_path: Path) -> None:
    name = "enable_sm90_or_later"
    body = (
        '#include "wrap.h"\nusing Wrapped = {}<flash::{}<Loop>>;\nvoid launch() {{ kernel<Wrapped><<<1, 128>>>(); }}\n'
    )
    files = {
        "wrap.h": WRAPPER.format(name, "__CUDA_ARCH__ >= 900"),
        "backward.cu": body.format(name, "BackwardSm90"),
        "forward.cu": body.format(name, "ForwardSm90"),
    }
    for file, kernel in (("forward.cu", "ForwardSm90"), ("backward.cu", "BackwardSm90")):
        found = drafts(tmp_path, files, "leak", only=file)
        assert [f"compiles `{kernel}` for 12.x" in draft.message for draft in found] == [True]
