"""Whitelists that stop before 12.x, in front of C++ that the tree itself has."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

QUERY = "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int sm = p.major * 10 + p.minor;"
MMA = (
    "__global__ void mma_kernel(int n) { asm volatile("
    '"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1}, {%2}, {%3};"); }\n'
)
WGMMA = '__global__ void mma_kernel(int n) { asm volatile("wgmma.fence.sync.aligned;"); }\n'
PLAIN = "__global__ void mma_kernel(int n) { }\n"


def switch(cases: str) -> str:
    labels = " ".join(f"case {case}:" for case in cases.split())
    refusal = 'default: throw std::runtime_error("unsupported");'
    return f"void run(int n) {{ {QUERY}\n  switch (sm) {{ {labels} mma_kernel<<<n, 128>>>(n); break; {refusal} }}\n}}\n"


@pytest.mark.parametrize(
    ("kernel", "cases", "expected"),
    [
        (MMA, "80 86 89 90", ["3 warning"]),
        (MMA, "80 90", ["3 note"]),  # of 8.0 and 9.0 nobody knows whether 99 KiB are enough
        (MMA, "80 86 89 90 120 121", []),
        (WGMMA, "86 90", []),
        (PLAIN, "80 86 89 90", ["3 warning"]),  # what runs on all of 8.x and on 9.0 runs on 12.x
    ],
)
def test_what_stands_behind_decides(tmp_path: Path, kernel: str, cases: str, expected: list[str]) -> None:
    assert levels(drafts(tmp_path, {"a.cu": kernel + switch(cases)}, "excluded")) == expected


ANSWER = "import torch\n\n\ndef {name}():\n    cap = torch.cuda.get_device_capability()\n    return {test}\n"
NEITHER = "cap == (8, 9) or cap[0] in (9, 10)"


@pytest.mark.parametrize(
    ("name", "test", "expected"),
    [
        ("fp8_supported", NEITHER, ["6 warning"]),
        ("can_use_fp8", NEITHER, ["6 warning"]),
        ("fp8_supported", f"{NEITHER} or cap[0] == 12", []),
        ("fp8_supported", "cap[0] in (9, 10)", []),
        ("fp8_supported", "cap >= (8, 9)", []),
        ("is_ada_or_datacenter", NEITHER, []),
        ("supports_this_gpu", NEITHER, []),
        ("pick_a_tile", NEITHER, []),
    ],
)
def test_an_answer_that_leaves_out_what_both_neighbours_run(
    tmp_path: Path, name: str, test: str, expected: list[str]
) -> None:
    assert levels(drafts(tmp_path, {"m.py": ANSWER.format(name=name, test=test)}, "excluded")) == expected
