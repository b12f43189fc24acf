"""The table of libraries: every row is found by its own example, and by nothing that only looks like it."""

from __future__ import annotations

import ast
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from bwlint.chips import ChipSet, group
from bwlint.data import table
from bwlint.model.expr import Span
from bwlint.model.facts import Use
from bwlint.readers.python.sides import Collector, Imports
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.world.libraries import Libraries, Need, own_row, row_of

ROWS = [(kind, row) for kind in ("need", "works") for row in table("libraries")[kind]]
IDS = [f"{kind}-{row['name'][:24]}-{row.get('versions', '')}" for kind, row in ROWS]
CONSUMER = group("consumer-blackwell")


def uses(code: str) -> list[Use]:
    collector = Collector(Imports({}, ""))
    collector.statements(ast.parse(code).body)
    return collector.uses


def needs(code: str, folder: Path) -> list[Need]:
    libraries, path = Libraries(), str(folder.resolve() / "a.py")
    return [found for use in uses(code) if (found := libraries.need(path, use)) is not None]


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=IDS)
def test_a_row_has_a_source_and_is_found_by_its_example(kind: str, row: dict[str, Any]) -> None:
    assert row["source"] and row["what"]
    assert set(row["how"]) <= {"call", "import", "name", "define", "text"}
    assert row.get("strength", "proof") in ("proof", "name")
    assert ("chips" in row) != ("needs" in row)
    assert ("role" not in row and "call" not in row) or "text" in row["how"]
    assert "versions" not in row or row["library"]
    assert "pinned" not in row or "versions" in row
    SpecifierSet(row.get("versions", ""))
    assert any(row_of(row).matches(use) for use in uses(row["example"]))


@pytest.mark.parametrize(("kind", "row"), ROWS, ids=IDS)
def test_no_row_stands_behind_another_one(kind: str, row: dict[str, Any], tmp_path: Path) -> None:
    pinned = [specifier for specifier in row.get("versions", "").split(",") if "=" in specifier]
    if pinned:
        version = pinned[0].replace(">=", "==").replace("<=", "==")
        (tmp_path / "requirements.txt").write_text(f"{row['library']}{version}\n")
    elif "versions" in row:
        (tmp_path / "requirements.txt").write_text(f"{row['library']}{row['versions']}\n")
    (tmp_path / "setup.py").touch()
    libraries, path = Libraries(), str(tmp_path.resolve() / "a.py")
    found = uses(row["example"])
    first = (
        libraries.works(path, found)
        if kind == "works"
        else next(filter(None, (libraries.need(path, u) for u in found)))
    )
    assert first is not None
    assert (first.source, first.legal) == (row["source"], row_of(row).chips)


NEAR_MISSES = [
    "import selection",
    "elect_one = select(x)",
    "formula(x)",
    "import asmlan",
    "mla(x)",
    "backend = 'mla'",
    "backend = 'mlatriton'",
    "deepgemmini(x)",
    "from deep_gemm.utils import ceil_div",
    "import deep_gemm.utils.layout",
    "deep_gemm.utils.layout.get_mn_major_tma_aligned_packed_ue8m0_tensor(sf)",
    "deep_gemm.get_mn_major_tma_aligned_tensor(sf)",
    "from deep_gemm import get_col_major_tma_aligned_tensor, get_num_sms",
    "import my_deep_gemmology",
    "fuflashmla(x)",
    "flash_mlatron(x)",
    "trtllm(x)",
    "name = 'trtllm'",
    "engine = 'trtllm-serve'",
    "model_path = 'trtllm'",
    "import tensorrt_llm",
    "trtllm_gen_routing(x)",
    "trtllm_allreduce_fusion(x)",
    "trtllm_batch_decode_with_kv_cache(q)",
    "backend = 'trtllm_mha'",
    "cudnn.block_sparse_attention.block_sparse_attention_forward(q, k, v)",
    "from torch.nn.attention.flex_attention import flex_attention",
    "alloc_tmem(512, p)",
    "cutlass.cute.arch.alloc_smem(512, p)",
    "cutlass.utils.get_num_tmem_alloc_cols(layouts)",
    "cutlass.utils.blackwell_helpers.make_smem_layout_a(mma, tiler, dtype, stages)",
    "cutlass.utils.hopper_helpers.make_trivial_smem_layout(dtype)",
    "cutlass.utils.SmemAllocator()",
    "mm_fp4(a, b)",
    "mm_fp4(a, b, backend=backend)",
    "mm_fp4(a, b, backend='cutlass')",
    "mm_fp4(a, b, backend='cudnn')",
    "mm_fp4(a, b, mode='cute-dsl')",
    "other(a, b, backend='cute-dsl')",
    "my_mm_fp4(a, b, backend='cute-dsl')",
    "backend = 'cute-dsl'",
    "backend = 'cutlass'",
    "bmm_mxfp8(a, b, backend='cudnn')",
    "mm_bf16(a, b, backend='cublaslt')",
    "fused_topk_deepseek(x, backend='default')",
    "BatchDecodeWithPagedKVCacheWrapper(x, backend='fa2')",
    "BatchPrefillWithPagedKVCacheWrapper(x, backend='fa2')",
    "cake = 'cake'",
    "machine(x)",
    "machetes = 1",
    "torch._grouped_mm(a, b)",
    "torch.nn.functional.grouped_mm(a, b)",
    "torch._scaled_mm(a, b)",
    "scaled_grouped_mma(a, b)",
    "grouped_mm_fp8(a, b)",
    "multimem(x)",
    "torch.ops.symm_mem.one_shot_all_reduce(x)",
    "Float8CurrentScaling()",
    "NVFP4BlockScaling()",
    "sageattn(q, k, v)",
    "xqa_ops = 1",
    "FLASH_ATTN",
    "backend = AttentionBackendEnum.TRITON_MLA",
    "backend = AttentionBackendEnum.FLASH_ATTN",
    "backend = AttentionBackendEnum.FLASHINFER",
    "BlackwellX()",
    "HopperLike()",
    "mono_moen(x)",
    "run_mixed_common(x)",
    "run_sm1000(x)",
    "run_sm89(x)",
    "awesome90(x)",
    "fa30 = 'fa30'",
    "activate_flash_attention_impl('FA2')",
    "register_flash_attention_impl('FA3')",
    "impl = 'FA4'",
    "import flash_attn",
    "from flash_attn.flash_attn_interface import _flash_attn_varlen_forward",
    "from flash_attn.cute.softmax import Softmax",
    "apply_low_precision_attention(model)",
    "torchao.prototype.attention.AttentionBackend",
    "torchao.prototype.mx_formats.mx_tensor.to_mx(x)",
    "get_kernel('kernels-community/flash-attn2')",
    "load(attn_implementation='flash_attention_2')",
    "load(backend='flash_attention_3')",
    "pipe.set_attention_backend('flash')",
    "builder.create_warp_barrier_arrive()",
    "builder.create_local_alloc(shape)",
    "triton.language.extra.tlx.async_load(x)",
    "triton.experimental.gluon.language.nvidia.blackwell.tma.async_gather(x)",
    "cudnn.graph(x)",
    "quack.gemm_interface.gemm(a, b)",
    "cutlass.memory.SmemAllocator()",
    "cutlass.experimental.task_scheduling.memory.TmemAllocator()",
]


@pytest.mark.parametrize("module", ["utils", "utils.tmem_allocator", "memory", "memory.tmem"])
def test_the_allocator_of_tensor_memory_wherever_its_package_has_it(module: str, tmp_path: Path) -> None:
    (found,) = needs(f"cutlass.{module}.TmemAllocator(p)", tmp_path)
    assert not found.legal & CONSUMER


@pytest.mark.parametrize("code", NEAR_MISSES)
def test_what_only_looks_like_it_is_not_found(code: str, tmp_path: Path) -> None:
    assert [need for need in needs(code, tmp_path) if not need.legal >= CONSUMER] == []


@pytest.mark.parametrize(
    ("requirement", "code", "legal"),
    [
        ("torch==2.8.0", "torch._grouped_mm(a, b)", ["9.0"]),
        ("torch==2.9.1", "torch._grouped_mm(a, b)", None),
        ("torch>=2.8,<3", "torch._grouped_mm(a, b)", ["9.0"]),
        ("torch>=2.8", "torch._grouped_mm(a, b)", None),
        ("", "torch._grouped_mm(a, b)", None),
        ("flashinfer-python==0.6.4", "mm_mxfp8(a, b, backend='cutlass')", ["10.0", "10.3", "11.0"]),
        ("flashinfer_python==0.6.12", "mm_mxfp8(a, b, backend='cutlass')", None),
        ("flashinfer", "mm_mxfp8(a, b, backend='cutlass')", None),
        ("flash-attn-4==4.0.0b4", "flash_attn.cute.flash_attn_func(q)", ["9.0", "10.0", "10.3", "10.7", "11.0"]),
        ("flash-attn-4==4.0.0b5", "from flash_attn.cute import flash_attn_func", None),
        ("flash-attn-4", "from flash_attn.cute import flash_attn_func", None),
        ("quack-kernels==0.3.9", "quack.gemm.gemm(a)", ["9.0", "10.0", "10.3", "10.7", "11.0"]),
        ("quack-kernels==0.3.10", "quack.gemm.gemm(a)", None),
        ("sgl-deep-gemm==0.1.4", "deep_gemm.gemm(a)", ["9.0", "10.0", "10.3", "10.7"]),
        ("sgl-deep-gemm==0.1.5", "deep_gemm.gemm(a)", ["9.0", "10.0", "10.3", "10.7", "12.0", "12.1"]),
    ],
)
def test_versions_that_a_project_pins_count(
    requirement: str, code: str, legal: list[str] | None, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    (tmp_path / "setup.py").touch()
    found = [need.legal for need in needs(code, tmp_path)]
    assert found == ([] if legal is None else [ChipSet.of(*legal)])


@pytest.mark.parametrize(
    ("requirement", "strength"),
    [("", "proof"), ("torch==2.9.1", "proof"), ("vllm==0.22", "name"), ("sglang==0.5.20", "name")],
)
def test_a_library_that_some_build_from_a_branch_is_known_by_its_name_only_to_them(
    requirement: str, strength: str, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{requirement}\n")
    (tmp_path / "setup.py").touch()
    assert [need.strength for need in needs("import deep_gemm", tmp_path)] == [strength]


def test_what_a_machine_needs_is_held_against_chips_of_which_no_product_has_it(tmp_path: Path) -> None:
    (found,) = needs("torch.ops.symm_mem.multimem_all_reduce_(x, 'sum', group)", tmp_path)
    assert not found.legal & group("no-nvlink")
    assert group("hopper") | group("datacenter-blackwell") <= found.legal


@pytest.mark.parametrize(
    ("name", "code", "found"),
    [
        ("mylib.gemm", "import mylib\nmylib.gemm(a)", True),
        ("mylib.gemm", "from mylib import gemm", True),
        ("mylib.gemm", "vendored.mylib.gemm(a)", True),
        ("mylib.fp8_*", "mylib.fp8_gemm(a)", True),
        ("mylib.*", "mylib.fp8_gemm(a)", True),
        ("*lib.gemm", "mylib.gemm(a)", True),
        ("mylib.gemm", "mylib.gemmini(a)", False),
        ("mylib.gemm", "amylib.gemm(a)", False),
        ("mylib.gemm", "mylib.sub.gemm(a)", False),
        ("mylib.gemm", "gemm(a)", False),
        ("mylib.*", "mylib.sub.gemm(a)", False),
        ("mylib.gemm", "x = mylib.gemm", False),
        ("mylib", "backend = 'mylib'", False),
    ],
)
def test_rows_of_the_user(name: str, code: str, found: bool) -> None:
    libraries = Libraries((own_row(name, ["9.0"], "kernels", "a file"),))
    needs = [need for use in uses(code) if (need := libraries.of_user(use)) is not None]
    assert [need.legal for need in needs] == ([ChipSet.of("9.0")] if found else [])


def test_a_row_of_the_user_is_matched_in_time() -> None:
    row = own_row("a*.a*.a*.a*.*b", ["9.0"], "kernels", "a file")
    assert not row.matches(Use("a." * 200 + "a" * 2000, "call", Span(1, 0, 1, 1)))


def test_a_row_of_the_user_decides_a_gate(tmp_path: Path) -> None:
    (tmp_path / "bwlint.toml").write_text("[[library]]\nname = 'mylib.fp8_*'\nchips = ['9.0']\nwhat = 'our kernels'\n")
    (tmp_path / "a.py").write_text(
        "import mylib\nimport torch\n\n\ndef f(x):\n"
        "    if torch.cuda.get_device_capability()[0] >= 9:\n        return mylib.fp8_mm(x)\n    return x\n"
    )
    with ExitStack() as stack:
        outcome = check(CheckRequest((str(tmp_path),), jobs=1), stack)
    (finding,) = outcome.report.findings
    assert (finding.name, finding.severity) == ("leak", "warning")
    assert "our kernels" in finding.message
