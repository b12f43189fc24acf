"""Clusters with an opt-in, on a chip of which the largest is known."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from bwlint.run.check import check
from bwlint.run.request import CheckRequest

LAUNCH = """
__global__ void kernel(float* out) { out[0] = 1; }

void launch(float* out, cudaLaunchConfig_t& config, cudaLaunchAttribute* attrs) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  attrs[0].val.clusterDim.x = SIZE;
  attrs[0].val.clusterDim.y = 1;
  attrs[0].val.clusterDim.z = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, out));
}
"""


@pytest.mark.parametrize(
    ("target", "size", "claims"),
    [
        ("9.0", "8", []),
        ("9.0", "16", []),
        ("9.0", "17", ["cluster"]),
        ("9.0", "2 * 16", ["cluster"]),
        ("9.0", "somewhere", []),
        # Of these the largest is not known.
        ("12.0", "16", ["other"]),
        ("12.1", "32", ["other"]),
    ],
)
def test_more_than_a_chip_takes_at_all(tmp_path: Path, target: str, size: str, claims: list[str]) -> None:
    source = tmp_path / "launch.cu"
    source.write_text(LAUNCH.replace("SIZE", size))
    with ExitStack() as stack:
        found = check(CheckRequest((str(source),), target=(target,), severity="note"), stack).report.findings
    assert [claim.kind for finding in found for claim in finding.claims] == claims
    said = "at most 16" if target == "9.0" else "nothing here checks"
    assert all(said in finding.message for finding in found)
