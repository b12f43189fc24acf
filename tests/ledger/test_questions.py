"""The questions of operations that some chips lack, and what tables of `chips/` settle of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from analysed import BOTH, analysed

from bwlint.chips import ChipSet
from bwlint.ledger.question import Question
from bwlint.ledger.questions import of_operations
from bwlint.ledger.verdicts import verdict
from bwlint.model.expr import Span
from bwlint.model.facts import Operation
from bwlint.model.kinds import OperationKind

OPEN = "needs something that chips differ in; nothing proves that it fits"


def asked(folder: Path, name: str, text: str, targets: ChipSet = BOTH) -> list[Question]:
    found = analysed(folder, {name: text}, targets=targets).questions
    return [question for _, questions in found for question in questions if question.form == "amount"]


def shown(questions: Collection[Question]) -> list[str]:
    """ "kind: text: lines"."""
    return [f"{verdict(q, BOTH).kind}: {q.text}: {' '.join(str(p.line) for p in q.places)}" for q in questions]


def assembly(*statements: str) -> str:
    lines = "".join(f'  asm volatile("{statement};");\n' for statement in statements)
    return f"__global__ void k(int* p) {{\n{lines}}}\n"


WGMMA, WAITS = "wgmma.fence.sync.aligned", "griddepcontrol.wait"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        (WAITS, "pass"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0}", "pass"),
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1]", "pass"),
        # What needs another chip.
        (WGMMA, "open"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32", "open"),
        # What needs a suffix: sm_120 alone does not have it.
        ("setmaxnreg.inc.sync.aligned.u32 232", "open"),
        ("cvt.rn.satfinite.e2m1x2.f32 %0, %1, %2", "open"),
        ("mma.sync.aligned.kind::mxf4.block_scale.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 {%0}", "open"),
        # What every chip has.
        ("add.s32 %0, %1, %2", ""),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1]", ""),
        ("red.global.add.f32 [%0], %1", ""),
    ],
)
def test_an_instruction_that_ptxas_takes_passes(tmp_path: Path, statement: str, kind: str) -> None:
    assert shown(asked(tmp_path, "k.cu", assembly(statement))) == ([f"{kind}: instruction {statement}: 2"] * bool(kind))


@pytest.mark.parametrize(
    ("statement", "targets", "kind"),
    [
        (WAITS, "9.0", "pass"),
        (WAITS, "12.1", "pass"),
        (WAITS, "8.0", "open"),
        (WAITS, "8.0 12.0", "open"),
        (WGMMA, "9.0", "open"),
    ],
)
def test_each_chip_that_is_asked_about_must_take_it(tmp_path: Path, statement: str, targets: str, kind: str) -> None:
    (question,) = asked(tmp_path, "k.cu", assembly(statement), ChipSet.of(*targets.split()))
    assert verdict(question, BOTH).kind == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cute::cluster_sync();", ["pass: atom cluster_sync: 2"]),
        ("cudaGridDependencySynchronize();", ["pass: atom cudaGridDependencySynchronize: 2"]),
        ("using A = SM90_64x64x16_F16F16F16_SS<a>;", ["open: atom SM90_64x64x16_F16F16F16_SS: 2"]),
        ("using A = SM100_MMA_F16BF16_SS<a>;", ["open: atom SM100_MMA_F16BF16_SS: 2"]),
        ("using A = SM120_16x8x64_TN_VS<a>;", ["open: atom SM120_16x8x64_TN_VS: 2"]),
        ("using A = cute::SM80_16x8x16_F32F16F16F32_TN;", []),
        ("using A = cute::SM90_TMA_LOAD;", []),
    ],
)
def test_so_does_an_atom(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert shown(asked(tmp_path, "k.cu", f"__global__ void k(int a) {{\n  {text}\n}}\n")) == expected


def test_what_passes_is_one_question_and_what_does_not_another(tmp_path: Path) -> None:
    found = asked(tmp_path, "k.cu", assembly(WGMMA, WAITS, "griddepcontrol.launch_dependents", "wgmma.wait_group 0"))
    assert shown(found) == [
        "open: instruction wgmma.fence.sync.aligned, wgmma.wait_group 0: 2 5",
        "pass: instruction griddepcontrol.wait, griddepcontrol.launch_dependents: 3 4",
    ]
    why = verdict(found[1], BOTH).why
    assert why.startswith("ptxas takes it for ") and why.count("120") == why.count("121") == 1
    assert verdict(found[0], BOTH).why == OPEN


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("red.global.add.noftz.bf16x2 [%0], %1", "pass"),
        ("red.global.sys.add.noftz.bf16x2 [%0], %1", "open"),
        ("multimem.st.relaxed.sys.global.u32 [%0], %1", "open"),
    ],
)
def test_what_the_link_decides_does_not_pass(tmp_path: Path, instruction: str, kind: str) -> None:
    found = asked(tmp_path, "k.cu", assembly(instruction))
    assert {verdict(one, BOTH).kind for one in found if one.text.startswith("instruction")} == {kind}


def made(folder: Path, kind: OperationKind, name: str, targets: ChipSet = BOTH) -> Question:
    """The question of an operation by itself."""
    context = analysed(folder, {"k.cu": "#if __CUDA_ARCH__ >= 900\n#endif\n"}, targets=targets).context
    ((module, *_), *_) = ([guarded.module for guarded in found] for found in context.guards.values())
    operation = Operation(kind, name, Span(3, 0, 3, 9))
    (question,) = of_operations(context, replace(module, operations=(operation,)), ())
    assert not list(of_operations(context, replace(module, operations=(operation,)), {3}))
    return question


@pytest.mark.parametrize("kind", ["cuda-image", "cuda-matrix", "wheel-index"])
@pytest.mark.parametrize(
    ("release", "targets", "expected", "words"),
    [
        ("11.2", "12.0 12.1", "review", "CUDA 11.2 cannot compile for 12.x: 12.8 is the first that can"),
        ("12.7.1", "12.0 12.1", "review", "cannot compile"),
        ("12.4", "12.1", "review", "12.9 is the first"),
        ("12.8", "12.0 12.1", "pass", "CUDA 12.8 knows 12.0, and its code for 12.0 runs on the whole family"),
        ("12.8", "12.0", "pass", "knows the checked chips"),
        ("12.8", "12.1", "review", "12.9 is the first"),
        # That it knows one family says nothing of another.
        ("12.0", "9.0 12.0", "review", "CUDA 12.0 cannot compile for 12.0: 12.8 is the first"),
        ("12.8", "10.0 10.3 12.0 12.1", "pass", "CUDA 12.8 knows 10.0, 12.0"),
        ("12.9", "12.0 12.1", "pass", "CUDA 12.9 knows the checked chips"),
        ("12.9.1", "12.0 12.1", "pass", "knows the checked chips"),
        ("13", "12.0 12.1", "pass", "knows the checked chips"),
        ("13.0", "12.0 12.1", "pass", "knows the checked chips"),
        ("", "12.0 12.1", "open", OPEN),
        ("latest", "12.0 12.1", "open", OPEN),
        ("12.x", "12.0 12.1", "open", OPEN),
        ("12..8", "12.0 12.1", "open", OPEN),
    ],
)
def test_a_release_of_cuda(
    tmp_path: Path, kind: OperationKind, release: str, targets: str, expected: str, words: str
) -> None:
    chips = ChipSet.of(*targets.split())
    known = verdict(made(tmp_path, kind, release, chips), chips)
    assert known.kind == expected
    assert words in known.why


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Dockerfile", "FROM nvidia/cuda:11.2.2-devel-ubuntu22.04\n", ["review: cuda image 11.2: 1"]),
        ("Dockerfile", "FROM nvidia/cuda:13.0.0-devel-ubuntu22.04\n", ["pass: cuda image 13.0: 1"]),
        ("Dockerfile", "FROM nvidia/cuda:latest\n", []),
        (
            "requirements.txt",
            "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.5.1\n",
            ["review: wheel index 12.1: 1", "open: package pin torch: 2"],
        ),
    ],
)
def test_releases_of_files(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    assert shown(asked(tmp_path, name, text)) == expected


def launched(amount: str, function: str = "f") -> str:
    return (
        "__global__ void k(int a) {}\n"
        f"void {function}(int n) {{\n"
        f"  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, {amount});\n"
        f"  k<<<1, 2, {amount}>>>(1);\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("name", "function", "amount", "kind"),
    [
        ("k.cu", "f", "1024", "pass"),
        ("k.cu", "f", "48 * 1024", "pass"),
        ("k.cu", "f", "48 * 1024 + 1", "open"),
        ("k.cu", "f", "99 * 1024", "open"),
        ("k.cu", "f", "99 * 1024 + 1", "review"),
        ("k.cu", "f", "200000", "review"),
        ("k.cu", "f", "n", "open"),
        # Among names for others that is what one expects.
        ("k.cu", "sm90_f", "200000", "open"),
        ("sm90/k.cu", "f", "200000", "open"),
        ("k.cu", "hopper_f", "200000", "open"),
        ("k.cu", "sm120_f", "200000", "review"),
        ("k.cu", "sm90_f", "1024", "pass"),
    ],
)
def test_shared_memory(tmp_path: Path, name: str, function: str, amount: str, kind: str) -> None:
    found = [q for q in asked(tmp_path, name, launched(amount, function)) if q.text.startswith("dynamic shared")]
    assert {verdict(question, BOTH).kind for question in found} == {kind}
    if "200000" in amount:
        assert "needs 200,000 bytes of shared memory, and 12.x allow a block 101,376 bytes" in {
            verdict(question, BOTH).why for question in found
        }


@pytest.mark.parametrize(
    ("targets", "kind"), [("9.0", "open"), ("12.0 12.1", "review"), ("8.9", "review"), ("9.0 12.0", "review")]
)
def test_the_limit_is_that_of_the_chips_asked_about(tmp_path: Path, targets: str, kind: str) -> None:
    chips = ChipSet.of(*targets.split())
    found = [
        q for q in asked(tmp_path, "k.cu", launched("200000"), targets=chips) if q.text.startswith("dynamic shared")
    ]
    assert {verdict(question, chips).kind for question in found} == {kind}


def test_one_amount_that_is_not_known_is_enough(tmp_path: Path) -> None:
    text = "__global__ void k(int a) {}\nvoid f(int n) {\n  k<<<1, 2, 1024>>>(1);\n  k<<<1, 2, n>>>(1);\n}\n"
    assert "open: dynamic shared k (1024): 3 4" in shown(asked(tmp_path, "k.cu", text))
