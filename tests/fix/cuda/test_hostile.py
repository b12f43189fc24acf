"""Text that nobody would write: no crash, no hang, and no fix that was not proved."""

from __future__ import annotations

import pytest
from effort import at_most

from .conftest import Mend

GUARD = "__global__ void k(float* out) {{\n#if {}\n  out[0] = 1.0f;\n#endif\n}}\n"


@pytest.mark.parametrize(
    "test",
    [
        " || ".join(["__CUDA_ARCH__ == 1200"] * 3000),
        "(" * 3000 + "__CUDA_ARCH__ == 1200" + ")" * 3000,
        "!" * 3000 + "defined(__CUDA_ARCH_FEAT_SM120_ALL)",
        "__CUDA_ARCH__ == 1200" + " \\\n" * 3000,
        "(((__CUDA_ARCH__ == 1200",
        "__CUDA_ARCH__ == 1200)))",
        "__CUDA_ARCH__ == 1200 /* " + "x" * 100_000,
        "__CUDA_ARCH__ == 1200 ||",
        "defined(",
        "(" + " " * 50_000 + "__CUDA_ARCH__ == 1200" + " " * 50_000 + ")",
    ],
)
def test_guards(mend: Mend, test: str) -> None:
    with at_most(30):
        found = mend(GUARD.format(test))
    for fix in found.fixes:
        assert fix.proof.after_may != fix.proof.before_may


@pytest.mark.parametrize(
    "test",
    [
        " && ".join(["sm_version != 120"] * 2000),
        "(" * 2000 + "sm_version == 120" + ")" * 2000,
        "sm_version == 120 &&",
        "sm_version == 120 ? 1 : sm_version == 121 ? 0",
        "prop.major == 12 && prop.minor == 0 && " * 500 + "true",
    ],
)
def test_tests(mend: Mend, test: str) -> None:
    with at_most(30):
        mend(
            f"void f(cudaDeviceProp prop, int sm_version) {{ if (!({test})) {{"
            ' throw std::runtime_error("no"); } g(); }\n'
        )
