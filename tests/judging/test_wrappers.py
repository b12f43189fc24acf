"""Class templates that put a guard around a kernel: found where they are written, whatever a run was asked about."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.run.check import check
from bwlint.run.gather import CheckRequest

WRAPPER = """template <typename Kernel>
struct {name} : Kernel {{
  template <typename... Args>
  __device__ void operator()(Args&&... args) {{
#if {test}
    Kernel::operator()(args...);
#endif
  }}
}};
"""
WRAPPERS = "".join(
    WRAPPER.format(name=name, test=test)
    for name, test in {
        "enable_sm90": "__CUDA_ARCH__ >= 900",
        "enable_sm120": "__CUDA_ARCH__ == 1200",
        "enable_family_sm120": "__CUDA_ARCH__ >= 1200 && __CUDA_ARCH__ < 1300",
    }.items()
)
PLAIN = "template <typename Kernel>\nstruct enable_sm120 : Kernel {};\n"


@pytest.mark.parametrize("asked", ["kernels.cu", ""])
@pytest.mark.parametrize(
    ("headers", "wrapped", "found"),
    [
        ({"kit.h": WRAPPERS}, "enable_sm90", ["leak"]),
        ({"kit.h": WRAPPERS}, "enable_sm120", ["family-split"]),
        ({"kit.h": WRAPPERS}, "enable_family_sm120", []),
        ({"kit.h": WRAPPERS}, "enable_sm130", []),
        ({"kit.h": '#include "inner.h"\n', "inner.h": WRAPPERS}, "enable_sm120", ["family-split"]),
        ({"kit.h": PLAIN}, "enable_sm120", []),
        ({"kit.h": PLAIN, "other.h": WRAPPERS}, "enable_sm130", []),
        ({}, "enable_sm120", []),
    ],
)
def test_what_is_said_where_a_kernel_is_wrapped(
    tmp_path: Path, asked: str, headers: dict[str, str], wrapped: str, found: list[str]
) -> None:
    kernels = f'#include "kit.h"\nvoid run() {{\n  launch({wrapped}<Warps>{{}});\n}}\n'
    for name, text in {**headers, "pyproject.toml": "", "kernels.cu": kernels}.items():
        (tmp_path / name).write_text(text)
    with ExitStack() as stack:
        outcome = check(CheckRequest((str(tmp_path / asked),), jobs=1), stack)
    here = [finding for finding in outcome.report.findings if finding.path.endswith("kernels.cu")]
    assert [(finding.name, finding.region.line) for finding in here] == [(name, 3) for name in found]
