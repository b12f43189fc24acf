"""What is said of an instruction in code for some targets."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import drafts, levels

from bwlint.chips import EVERY_TARGET, TargetSet
from bwlint.judging.legality import charges, charges_of, legal, slow
from bwlint.model.expr import Span
from bwlint.model.facts import Operation

LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("instruction", "compiled_for", "said"),
    [
        ("tcgen05.wait::ld.sync.aligned", "120a 121a", [("tcgen05", "error", "120a 121a")]),
        ("tcgen05.wait::ld.sync.aligned", "100a 120a", [("tcgen05", "error", "120a")]),
        ("tcgen05.wait::ld.sync.aligned", "100a 103f 110a", []),
        ("wgmma.fence.sync.aligned", "90 90a 120", [("wgmma", "error", "90 120")]),
        ("setmaxnreg.inc.sync.aligned.u32 40", "120 120a", [("suffix", "error", "120")]),
        ("setmaxnreg.inc.sync.aligned.u32 40", "90a 120f 121a", []),
        (
            "redux.sync.min.f32 a, b, -1",
            "100 120a",
            [("suffix", "error", "100"), ("unknown", "error", "120a")],
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.cta_group::2",
            "120a",
            [("cta-group", "error", "120a"), ("slow", "note", "")],
        ),
        (LOAD, "90a 100a 120f", [("slow", "note", "120f")]),
        (f"{LOAD}.multicast::cluster", "120 121", [("slow", "note", "120 121")]),
        (LOAD.replace("cluster", "cta"), "120", []),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "80 120", []),
        ("cp.async.bulk.commit_group", "75 80 86", [("unknown", "error", "75"), ("unknown", "error", "80 86")]),
        ("barrier.cluster.arrive", "120", []),
        ("add.f32 a, b, c", "75", []),
        ("", "120", []),
    ],
)
def test_charges(instruction: str, compiled_for: str, said: list[tuple[str, str, str]]) -> None:
    found = charges(instruction, TargetSet.of(*compiled_for.split()))
    expected = [(kind, level, TargetSet.of(*names.split())) for kind, level, names in said if names]
    assert [(charge.kind, charge.severity, charge.targets) for charge in found] == expected


@pytest.mark.parametrize(
    ("atom", "compiled_for", "said"),
    [
        ("SM90_64x64x16_F16F16F16_SS", "90a 120a", [("wgmma", "error", "120a", "90a")]),
        ("TMEM::Allocator1Sm", "120a 100a", [("tcgen05", "error", "120a", "100a 100f 103a 103f 107a 107f 110a 110f")]),
        ("SM90_TMA_LOAD_MULTICAST", "90a 100a", []),
        ("SM90_TMA_LOAD_MULTICAST", "90a 120f", [("slow", "note", "120f", "90 90a 100a 120f")]),
        ("SM120_16x8x32_TN", "90a", []),
        ("known_to_nobody", "120", []),
    ],
)
def test_charges_of_atoms(atom: str, compiled_for: str, said: list[tuple[str, str, str, str]]) -> None:
    found = charges_of(Operation("atom", atom, Span(1, 0, 1, 9)), TargetSet.of(*compiled_for.split()))
    expected = [(kind, level, TargetSet.of(*names.split())) for kind, level, names, _ in said]
    assert [(charge.kind, charge.severity, charge.targets) for charge in found] == expected
    for charge, (*_, named) in zip(found, said, strict=True):
        assert TargetSet.of(*named.split()) <= charge.legal
        assert charge.message.startswith(f"`{atom}` is ")


def test_what_is_no_atom_is_legal_and_quick_everywhere() -> None:
    unknown = Operation("atom", "known_to_nobody", Span(1, 0, 1, 9))
    assert (legal(unknown), slow(unknown)) == (EVERY_TARGET, TargetSet.of())
    load = Operation("atom", "SM90_TMA_LOAD_MULTICAST", Span(1, 0, 1, 9))
    assert TargetSet.of("120f") <= slow(load) <= legal(load)


def test_words() -> None:
    (lost,) = charges("setmaxnreg.dec.sync.aligned.u32 24;", TargetSet.of("120", "121"))
    assert "\"Instruction 'setmaxnreg.dec' not supported on .target 'sm_120'\"" in lost.message
    assert lost.advice == "Compile it for sm_120f or sm_120a."
    (multicast,) = charges(f"{LOAD}.multicast::cluster", TargetSet.of("120"))
    assert "slow" not in multicast.message
    assert "driver routine" in multicast.message


ONE_MACRO = """#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)
#define HAS_WGMMA
#endif
__device__ void fence() {
#ifdef HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ void commit() {
#ifdef HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
__device__ void wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}
"""


def test_what_one_macro_guards_is_one_finding(tmp_path: Path) -> None:
    assert levels(drafts(tmp_path, {"wgmma.cuh": ONE_MACRO}, "wgmma")) == ["1 warning", "15 warning"]


GUARDED = """__device__ void fence() {{
#if {guard}
  asm volatile("{instruction}" ::: "memory");
#endif
}}
"""
OPEN, FENCE = "__CUDA_ARCH__ >= 900", "wgmma.fence.sync.aligned;"


@pytest.mark.parametrize(
    ("guard", "instruction", "archs", "rule", "expected"),
    [
        (OPEN, FENCE, "90a", "wgmma", ["2 note"]),
        (OPEN, FENCE, "90a 120a", "wgmma", ["2 warning"]),
        ("__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000", FENCE, "90a", "wgmma", []),
        ("defined(__CUDA_ARCH_FEAT_SM90_ALL)", FENCE, "90a", "wgmma", []),
        ("__CUDA_ARCH__ >= 1000", "redux.sync.max.f32 %0, %1, 0xffffffff;", "100a", "illegal-instruction", []),
    ],
)
def test_a_guard_that_no_build_takes_at_its_word(
    tmp_path: Path, guard: str, instruction: str, archs: str, rule: str, expected: list[str]
) -> None:
    flags = "".join(f'"-gencode", "arch=compute_{arch},code=sm_{arch}", ' for arch in archs.split())
    build = f'CUDAExtension("k", ["fence.cu"], extra_compile_args={{"nvcc": [{flags}]}})\n'
    source = GUARDED.format(guard=guard, instruction=instruction)
    assert levels(drafts(tmp_path, {"fence.cu": source, "setup.py": build}, rule)) == expected


HEADER = (
    '__device__ void f() {\n#if __CUDA_ARCH__ >= 1000\n  asm volatile("tcgen05.wait::ld.sync.aligned;");\n'
    "#else\n  __trap();\n#endif\n}\n"
)
BUILD = "project(p LANGUAGES CXX CUDA)\n{}\nadd_library(k other.cu)\n"


@pytest.mark.parametrize(
    ("build", "severity"),
    [
        ("set(CMAKE_CUDA_ARCHITECTURES 90a)", "note"),
        ('set(CMAKE_CUDA_ARCHITECTURES "90a;100a")', "note"),
        ('set(CMAKE_CUDA_ARCHITECTURES "90a;120a")', "warning"),
        ("set(CMAKE_CUDA_ARCHITECTURES native)", "warning"),
        ("", "warning"),
    ],
)
def test_a_header_that_nobody_is_seen_to_include_is_for_the_builds_above_it(
    tmp_path: Path, build: str, severity: str
) -> None:
    files = {"include/a.cuh": HEADER, "other.cu": "__global__ void k() {}\n", "CMakeLists.txt": BUILD.format(build)}
    assert levels(drafts(tmp_path, files, "tcgen05")) == [f"2 {severity}"]
