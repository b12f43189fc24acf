"""What findings claim: rule by rule in the fixtures, the same for all of them, and of binaries."""

from __future__ import annotations

import json
import struct
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from libraries import arm
from small_binaries import Kernel, container, cubin, entry, ptx, shared_object, static_library
from snapshots import FIXTURES, of_fixtures

import bwlint.report
from bwlint.chips import NONE, ChipSet, TargetSet
from bwlint.confirm import rungs
from bwlint.confirm.rungs import check as check_rung
from bwlint.confirm.rungs import configure
from bwlint.confirm.workbench import Device, Subject, Workbench
from bwlint.inspection import InspectionRequest as Inspect
from bwlint.inspection import inspect
from bwlint.judging import claims
from bwlint.model.findings import Claim, ClaimKind, Finding, Region
from bwlint.report import Setting, sarif, write
from bwlint.report.write import plain
from bwlint.run.check import check
from bwlint.run.request import CheckRequest

pytestmark = pytest.mark.shared

FOLDERS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
SCHEMA = json.loads(Path(bwlint.report.__file__).with_name("findings.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/claim"})

OF_COMMENTS = frozenset({"unused-suppression", "bad-suppression"})
"""Rules about comments for bwlint itself: there is nothing to test."""
NEEDS_BOTH = frozenset({"leak", "excluded"})
"""Rules whose findings have two halves: the gate, and what is behind it."""
CONSUMER = ChipSet.of("12.0", "12.1")
ALL = "sm_120, sm_120f, sm_120a, sm_121, sm_121f, sm_121a"
OF_A_NAME = frozenset({"limits_of_one_generation.py", "named_after_instructions.py", "named_after_one.py"})
"""Files of flags that hold on more than their names say: a claim on the gate, and on nothing behind it."""


def of_folder(name: str) -> tuple[Finding, ...]:
    report = of_fixtures(name).report
    return (*report.findings, *(entry.finding for entry in report.suppressed))


def found_at(place: str, rule: str) -> Finding:
    """The finding of a rule at "folder/file:line" of the fixtures."""
    path, _, line = place.rpartition(":")
    folder = path.partition("/")[0]
    wanted = path, int(line), rule
    (found,) = [one for one in of_folder(folder) if (one.path, one.region.line, one.name) == wanted]
    return found


def told(found: Finding) -> list[str]:
    return [f"{claim.kind}: {claim.says}" for claim in found.claims]


@pytest.mark.parametrize(
    ("rule", "place", "expected"),
    [
        # What a gate leads to, beside the gate.
        (
            "family-split",
            "family-split/guards.py:9",
            ["gate: the test `torch.cuda.get_device_capability() != (12, 0)`"],
        ),
        (
            "capability-type",
            "capability-type/comparisons.py:11",
            ["gate: the test `cap in [89, 120]` is false on every chip"],
        ),
        (
            "capability-type",
            "capability-type/comparisons.py:35",
            ["gate: the test ", "other: it orders release numbers as text, and '12.10' < '12.9'"],
        ),
        (
            "dead-arm",
            "dead-arm/chains.py:12",
            [
                "gate: the test `major == 12` is true on 12.0 and 12.1",
                "gate: the test `major >= 10` is true on 12.0 and 12.1",
            ],
        ),
        (
            "message",
            "message/texts.py:16",
            ["gate: the test `torch.cuda.get_device_capability()[0] != 12` is false on"],
        ),
        ("leak", "leak/bounds.py:10", ["gate: ", "need: `flash_mla` does not work on 12.x"]),
        (
            "leak",
            "leak/unasked.py:7",
            ["gate: ", "need: the code that `is_trtllm_gen_allowed` names does not work on"],
        ),
        (
            "leak",
            "reached/kit/compiled.py:21",
            ["gate: ", f"instruction: `tcgen05.wait::ld.sync.aligned` does not assemble for {ALL}"],
        ),
        (
            "leak",
            "native/csrc/entry.cu:6",
            ["gate: ", "build: nvcc's code for compute_90a,sm_90a does not load on 12.x"],
        ),
        (
            "leak",
            "native/hopper_only/api.cpp:6",
            ["gate: ", "build: nvcc's code for compute_90a,sm_90a;compute_80,sm_80 does not load on 12.x"],
        ),
        ("leak", "native/csrc/queries.cu:5", ["need: `scaled_sparse_mm` raises an error on 12.x"]),
        ("leak", "leak/tensor_memory.py:6", ["gate: the table ", "need: there is no tensor memory on 12.0"]),
        (
            "leak",
            "leak/wrappers.cuh:7",
            [
                f"guard: `#if __CUDA_ARCH__ >= 900` is true for {ALL}",
                "need: the kernels that `enable_sm90` wraps do not work on 12.x",
            ],
        ),
        ("excluded", "excluded/lists.py:15", ["gate: ", "need: `b12x_gemm` works on 12.x too"]),
        ("excluded", "excluded/nothing_known.py:24", ["gate: ", "need: the code behind the check works on 12.x"]),
        (
            "excluded",
            "excluded/guards.cu:4",
            [
                "guard: `#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200` is true for sm_90, ",
                f"legal: `cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes` assembles for {ALL}",
            ],
        ),
        ("excluded", "excluded/guards.cu:11", ["guard: ", "need: the guarded code works on 12.x too"]),
        ("test-gate", "test-gate/tests/test_leaks.py:6", ["gate: ", "need: `flash_mla` does not work on 12.x"]),
        ("test-gate", "test-gate/tests/test_skips.py:7", ["gate: ", "need: `fused_gemm` works on 12.x too"]),
        ("test-gate", "test-gate/tests/test_leaks.py:22", ["gate: "]),
        # Guards of the preprocessor.
        (
            "family-split",
            "family-split/guards.cu:10",
            [
                "guard: `#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 1200` is true for sm_121, sm_121f, sm_121a"
                " and false for sm_120, sm_120f, sm_120a"
            ],
        ),
        (
            "suffix-lost",
            "suffix-lost/guards.cu:10",
            ["guard: `#ifdef __CUDA_ARCH_SPECIFIC__` is true for sm_120a, sm_121a and false for sm_120f, sm_121f"],
        ),
        (
            "empty-body",
            "empty-body/consumer.cu:45",
            ["guard: `#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100` is false for sm_120a, sm_121a"],
        ),
        # Instructions.
        (
            "tcgen05",
            "tcgen05/kernels.cu:4",
            [f"instruction: `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32` does not assemble for {ALL}"],
        ),
        (
            "tcgen05",
            "tcgen05/jitted.ptx:14",
            ["instruction: `tcgen05.wait::st.sync.aligned` does not assemble for sm_100"],
        ),
        ("wgmma", "wgmma/plain_hopper.ptx:14", ["instruction: `wgmma.fence.sync.aligned` does not assemble for sm_90"]),
        (
            "suffix-lost",
            "suffix-lost/plain.ptx:14",
            ["instruction: `setmaxnreg.dec.sync.aligned.u32` does not assemble for sm_120"],
        ),
        (
            "illegal-instruction",
            "illegal-instruction/kernels.cu:5",
            ["instruction: `redux.sync.max.f32` does not assemble for"],
        ),
        (
            "cluster",
            "cluster/pairs.ptx:14",
            [
                "instruction: `cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                ".cta_group::2` does not assemble for sm_120a"
            ],
        ),
        (
            "tma-slow-path",
            "tma-slow-path/loads.cu:4",
            ["slow: `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes` assembles for"],
        ),
        # Amounts.
        ("smem", "smem/requests.cu:33", ["shared: a block of 12.x cannot have 232448 bytes of dynamic shared memory"]),
        ("smem", "smem/capacities.h:4", ["shared: a block of 12.x cannot have 102400 bytes of dynamic shared memory"]),
        ("smem", "smem/static.cu:8", ["shared: a block of 12.x cannot have 131072 bytes of static shared memory"]),
        (
            "smem",
            "smem/static.cu:12",
            ["shared: ptxas refuses 65536 bytes of static shared memory for sm_120, sm_120f, sm_121, sm_121f"],
        ),
        ("smem", "smem/tables.py:10", ["shared: a block of 12.0 cannot have 232448 bytes of dynamic shared memory"]),
        ("smem", "smem/tables.py:18", ["other: the table has no row for 12.x"]),
        ("smem", "smem/tables.py:45", ["gate: ", "shared: a block of 12.x cannot have 232448 bytes"]),
        (
            "smem",
            "smem/tiles.py:28",
            ["gate: ", "need: a block of 12.x has too little shared memory for the tile tile_m = 128"],
        ),
        (
            "cluster",
            "cluster/launches.cu:7",
            ["cluster: a cluster of 16 x 1 x 1 blocks cannot be launched on 12.x without an"],
        ),
        (
            "cluster",
            "cluster/sizes.cu:14",
            ["cluster: a cluster of 4 x 4 x 1 blocks cannot be launched on 12.x without an opt-in"],
        ),
        (
            "cluster",
            "cluster/sizes.cu:18",
            ["other: nothing checks whether a cluster of 8 blocks of this kernel fits on 12.x"],
        ),
        (
            "cluster",
            "cluster/builders.cu:4",
            ["cluster: CUTLASS's builder for 12.0 refuses a cluster of 2 x 1 x 1 blocks"],
        ),
        (
            "launch-bounds",
            "launch-bounds/minimums.cu:6",
            ["bounds: 4 blocks of 512 threads are more than a multiprocessor of 12.x"],
        ),
        (
            "unchecked-launch",
            "unchecked-launch/large.cu:5",
            ["unchecked: nothing here notices that 12.x refuse 163840 bytes of dynamic shared memory"],
        ),
        (
            "unchecked-launch",
            "unchecked-launch/statuses.cu:5",
            ["unchecked: nothing here notices that 12.x refuse too much dynamic shared memory"],
        ),
        (
            "p2p-atomics",
            "p2p-atomics/remote_atomic/fires/reference.cu:9",
            ["peer: on 12.x system-scope atomics on a peer's memory"],
        ),
        (
            "p2p-atomics",
            "p2p-atomics/stores/fires/plain_store.cu:8",
            ["peer: on 12.x stores to a peer's memory may not arrive"],
        ),
        # Builds.
        (
            "arch-target",
            "arch-target/CMakeLists.txt:8",
            ["build: nvcc's code for compute_120a,sm_120a does not load on 12.1"],
        ),
        (
            "arch-target",
            "arch-target/CMakeLists.txt:77",
            ["build: nvcc refuses compute_120,sm_120;compute_120f,sm_120f"],
        ),
        ("arch-target", "arch-target/CMakeLists.txt:79", ["build: nvcc refuses compute_90f,sm_90f"]),
        ("arch-target", "arch-target/build.sh:29", ["build: nvcc refuses compute_100f,sm_110"]),
        ("arch-target", "arch-target/CMakeLists.txt:53", ["other: sm_121 is not known before CUDA 12.9"]),
        ("arch-target", "arch-target/CMakeLists.txt:61", ["other: this accepts 120 and no target of 12.1"]),
        ("arch-target", "arch-target/CMakeLists.txt:63", ["other: no name that is accepted is 121f"]),
        ("arch-target", "arch-target/CMakeLists.txt:30", ["need: csrc/mla_sm100.cu does not run on 12.x"]),
        (
            "arch-target",
            "arch-target/build.sh:16",
            ["instruction: `setmaxnreg.inc.sync.aligned.u32` does not assemble for sm_120"],
        ),
        ("arch-target", "arch-target/ahead/lists.py:18", ["other: a build for 12.1 alone leaves out `gen_router`"]),
        ("arch-target", "cluster/pairs.ptx:3", ["image: no image of the file loads on 12.1"]),
    ],
)
def test_what_rules_claim(rule: str, place: str, expected: list[str]) -> None:
    """`expected` are the beginnings of the claims, one by one."""
    found = told(found_at(place, rule))
    assert len(found) == len(expected), found
    assert [each for each, start in zip(found, expected, strict=True) if not each.startswith(start)] == []


def test_fields_of_claims() -> None:
    (guard,) = found_at("family-split/guards.cu:18", "family-split").claims
    assert (guard.targets, guard.holds, guard.certain) == (("sm_120a", "sm_121a"), ("sm_120a",), ("sm_120a",))
    assert (guard.subject, guard.chips, guard.path) == ("#if defined(__CUDA_ARCH_FEAT_SM120_ALL)", (), "")
    assert guard.at is not None and guard.at.line == 18
    (instruction,) = found_at("tcgen05/jitted.ptx:14", "tcgen05").claims
    assert (instruction.targets, instruction.subject) == (("sm_100",), "tcgen05.wait::st.sync.aligned")
    assert instruction.at == found_at("tcgen05/jitted.ptx:14", "tcgen05").region
    (shared,) = found_at("smem/requests.cu:33", "smem").claims
    assert (shared.chips, shared.subject, shared.amounts) == (("12.0", "12.1"), "dynamic", (232448,))
    (cluster,) = found_at("cluster/sizes.cu:14", "cluster").claims
    assert (cluster.chips, cluster.amounts) == (("12.0", "12.1"), (4, 4, 1))
    (bounds,) = found_at("launch-bounds/minimums.cu:6", "launch-bounds").claims
    assert bounds.amounts == (512, 4)
    (unknown,) = found_at("unchecked-launch/statuses.cu:5", "unchecked-launch").claims
    assert unknown.amounts == ()
    (refused,) = found_at("arch-target/CMakeLists.txt:77", "arch-target").claims
    assert refused.chips == ()


def test_a_claim_on_another_file_has_its_path() -> None:
    _, build = found_at("native/hopper_only/api.cpp:6", "leak").claims
    assert build.path == "native/hopper_only/setup.py"
    _, instruction = found_at("reached/kit/compiled.py:21", "leak").claims
    assert instruction.path == "reached/kit/tensor_core.cu"
    assert instruction.at is not None
    text = (FIXTURES / instruction.path).read_text("utf-8").splitlines()[instruction.at.line - 1]
    assert "tcgen05.wait::ld" in text[instruction.at.column - 1 :]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_finding_states_what_can_be_tested(folder: str) -> None:
    for found in of_folder(folder):
        place = f"{found.path}:{found.region.line} {found.name}"
        assert bool(found.claims) != (found.name in OF_COMMENTS), place
        for claim in found.claims:
            assert faults(claim) == [], f"{place}: {claim}"
        if found.name in NEEDS_BOTH and Path(found.path).name not in OF_A_NAME:
            assert {claim.kind for claim in found.claims} - {"gate", "guard"}, f"{place}: only its gate is claimed"


def faults(claim: Claim) -> list[str]:
    """What is wrong with a claim by itself."""
    document = plain(claim)
    found = [
        f"{list(error.absolute_path)}: {error.message}"
        for error in VALIDATOR.iter_errors(json.loads(json.dumps(document)))
    ]
    if claim.says != claim.says.strip() or claim.says.endswith(".") or "\n" in claim.says or not claim.says:
        found.append(f"not a sentence in one line: {claim.says!r}")
    for names in (claim.holds, claim.certain, claim.raises):
        if not set(names) <= {*claim.chips, *claim.targets}:
            found.append(f"{names} are none of those that are compared")
    if not set(claim.certain) <= set(claim.holds):
        found.append("certain, and not held")
    if claim.kind == "build" and not all(_is_pair(pair) for pair in claim.subject.split(";")):
        found.append(f"no pairs: {claim.subject}")
    return found


def _is_pair(text: str) -> bool:
    arch, comma, code = text.partition(",")
    return bool(comma) and arch.startswith("compute_") and code.startswith(("sm_", "compute_"))


GOOD = claims.instruction("tcgen05.alloc", TargetSet.of("120a"))


def test_the_schema_refuses_what_a_kind_does_not_promise() -> None:
    bad = {
        "an instruction without targets": Claim("instruction", "it", subject="x"),
        "without a subject": Claim("instruction", "it", targets=("sm_120a",)),
        "a chip among targets": Claim("instruction", "it", targets=("12.0",), subject="x"),
        "shared memory of no size": Claim("shared", "it", chips=("12.0",), subject="dynamic"),
        "of no kind": Claim("shared", "it", chips=("12.0",), subject="some", amounts=(1,)),
        "a cluster of two sizes": Claim("cluster", "it", chips=("12.0",), amounts=(2, 1)),
        "a period": Claim("other", "it."),
        "no sentence": Claim("other", ""),
        "a path of peers that is none": Claim("peer", "it", chips=("12.0",), subject="nvlink"),
        "a gate on no chip": Claim("gate", "it"),
        "an image for nobody": Claim("image", "it"),
        "no kind": Claim("guess", "it"),  # type: ignore[arg-type]
    }
    for what, claim in bad.items():
        assert faults(claim), what
    for claim in (GOOD, claims.other("it", NONE), Claim("build", "it", subject="compute_90,sm_90")):
        assert faults(claim) == []


def test_the_schema_knows_every_kind() -> None:
    assert SCHEMA["$defs"]["claim"]["properties"]["kind"]["enum"] == list(get_args(ClaimKind))


def test_no_rung_tests_what_none_can() -> None:
    tested = {
        kind for entry in iter_modules(rungs.__path__) for kind in import_module(f"{rungs.__name__}.{entry.name}").KINDS
    }
    assert tested <= set(get_args(ClaimKind)) - {"other"}  # no rung can test this claim: one


@pytest.mark.parametrize("rung", [configure, check_rung])
def test_a_cluster_that_a_builder_refuses_is_not_launched(rung: Any, tmp_path: Path) -> None:
    found = found_at("cluster/builders.cu:4", "cluster")
    device = Device(0, "a card", "GPU-0", "12.0", "13.0")
    subject = Subject(found, found.claims[0], found.path, str(FIXTURES))
    attempt = rung.attempt(subject, Workbench(tmp_path, devices=(device,)))
    assert (attempt.requested, attempt.executed, attempt.outcome) == (False, False, None)


def test_reports_hold_claims(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("#if __CUDA_ARCH__ == 1200\n__device__ int x() { return f(); }\n#endif\n")
    with ExitStack() as stack:
        report = check(CheckRequest((str(tmp_path),), jobs=1), stack).report
    (claim,) = json.loads(write.findings(report, Setting(version="0.1.0")))["findings"][0]["claims"]
    assert claim == {
        "kind": "guard",
        "says": "`#if __CUDA_ARCH__ == 1200` is true for sm_120, sm_120f, sm_120a"
        " and false for sm_121, sm_121f, sm_121a",
        "chips": [],
        "targets": ["sm_120", "sm_120f", "sm_120a", "sm_121", "sm_121f", "sm_121a"],
        "holds": ["sm_120", "sm_120f", "sm_120a"],
        "certain": ["sm_120", "sm_120f", "sm_120a"],
        "raises": [],
        "subject": "#if __CUDA_ARCH__ == 1200",
        "amounts": [],
        "at": {"line": 1, "column": 5, "end_line": 1, "end_column": 26},
        "path": "",
    }
    (result,) = json.loads(sarif.render(report, Setting()))["runs"][0]["results"]
    assert result["properties"]["claims"] == [{name: value for name, value in claim.items() if value}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#if __CUDA_ARCH__ == 1200", "#if __CUDA_ARCH__ == 1200"),
        ("#ifdef  FOO\t", "#ifdef FOO"),
        ("#if defined(A) && \\\n    defined(B)", "#if defined(A) && defined(B)"),
        ("#if defined(A) && \\\r\n    defined(B)", "#if defined(A) && defined(B)"),
        ("#if A // and not B", "#if A"),
        ("#if A /* or */ || B", "#if A || B"),
        ("#if A /* it never ends", "#if A"),
        ("#  elif A", "# elif A"),
        ("", ""),
    ],
)
def test_directives_in_a_line(text: str, expected: str) -> None:
    assert claims.directive(text) == expected


def test_a_guard_that_another_macro_decides() -> None:
    both, one = TargetSet.of("120a", "121a"), TargetSet.of("120a")
    open_ = claims.guard("#if A && B", both, one, TargetSet(0))
    assert open_.says == "`#if A && B` may be true for sm_120a and false for sm_121a"
    assert (open_.holds, open_.certain) == (("sm_120a",), ())
    assert claims.guard("#if A", both, both, both).says == "`#if A` is true for sm_120a, sm_121a"


# Binaries


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def claimed(name: str, data: bytes, rule: str, **options: Any) -> list[Claim]:
    Path(name).write_bytes(data)
    report = inspect(Inspect((name,), severity="note", **options)).inspection.report
    found = [finding for finding in report.findings if finding.name == rule]
    assert all(faults(claim) == [] for finding in found for claim in finding.claims)
    return [claim for finding in found for claim in finding.claims]


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        (["sm_120a"], ["no image of the file loads on 12.1"]),
        (["sm_80 sm_90"], ["no image of the file loads on 12.x"]),
        # Of several, those that are meant, by their offsets: one of each kind.
        (["sm_120f", "sm_120a"], ["no image of the container at 0x"]),
        (["sm_120f", "sm_120a: a", "sm_120a: b", "sm_90 sm_120a: c"], ["no image of the container at 0x"] * 2),
        (["sm_80 ptx_80"], ["no cubin of the file loads on 12.x"]),
        (["sm_120f", "sm_120"], []),
    ],
)
def test_images_that_a_chip_lacks(here: Path, containers: list[str], expected: list[str]) -> None:
    found = claimed("a.so", arm(*containers), "arch-target")
    assert len(found) == len(expected), found
    assert [each.says for each, start in zip(found, expected, strict=True) if not each.says.startswith(start)] == []


def test_operations_without_a_kernel(here: Path) -> None:
    (found,) = claimed("a.so", arm("sm_120f: copy", "sm_80 sm_90: gemm"), "arch-target")
    assert (found.kind, found.subject, found.says) == ("image", "gemm", "no image of `gemm` loads on 12.x")


def test_an_operation_is_claimed_by_a_kernel_of_its_own_name(here: Path) -> None:
    """A driver knows mangled names, and reports speak of what they stand for."""
    (found,) = claimed("a.so", arm("sm_120f: copy", "sm_80 sm_90: _Z4gemmIfEvPT_ _Z4gemmIdEvPT_"), "arch-target")
    assert (found.subject, found.chips) == ("_Z4gemmIfEvPT_", ("12.0", "12.1"))


def test_files_of_a_folder_are_told_by_their_paths(here: Path) -> None:
    data = static_library({f"{number}.o": cubin(90, kernels=[f"k{number}"]) for number in range(3)})
    found = claimed("a.a", data, "arch-target")
    assert [each.path for each in found] == ["a.a/0.o"]
    assert found[0].says == "no image of the file loads on 12.x"


def relabelled(number: int, code: int) -> bytes:
    """A cubin for `code` under the name of sm_`number`."""
    return cubin(number, command=f"-arch sm_{code} ")


@pytest.mark.parametrize(
    ("number", "code", "kind", "says"),
    [
        (120, 90, "image", "no image of the file loads on 12.x"),
        (90, 120, "image", "no image of the file loads on 9.0"),
        # Of one generation the code may well run.
        (121, 120, "other", "the code in it was compiled for sm_120"),
    ],
)
def test_relabelled_images(here: Path, number: int, code: int, kind: str, says: str) -> None:
    (found,) = claimed("a.cubin", relabelled(number, code), "relabelled", target=(f"sm_{number}",))
    assert (found.kind, found.says) == (kind, says)


CLUSTER, TENSOR = 0x3D, 0x51


@pytest.mark.parametrize(
    ("rule", "kernel", "expected"),
    [
        (
            "smem",
            Kernel("k", shared=200000),
            ["a block of 12.x cannot have 200000 bytes of static shared memory"],
        ),
        ("smem", Kernel("k", shared=90000), []),
        (
            "cluster",
            Kernel("k", attributes=((CLUSTER, struct.pack("<III", 4, 4, 1)),)),
            ["a cluster of 4 x 4 x 1 blocks cannot be launched on 12.x without an opt-in"],
        ),
        ("cluster", Kernel("k", attributes=((CLUSTER, struct.pack("<III", 4, 2, 1)),)), []),
        ("tcgen05", Kernel("k", attributes=((TENSOR, None),)), ["`k` needs tensor memory, and 12.x has none"]),
        ("tcgen05", Kernel("k"), []),
        (
            "tma-slow-path",
            Kernel("k", calls=("__cuda_syscall_cp_async_bulk_tensor_2d_tile_unicast",)),
            ["`k` calls driver routines on 12.x"],
        ),
        ("tma-slow-path", Kernel("k"), []),
    ],
)
def test_kernels_of_images(here: Path, rule: str, kernel: Kernel, expected: list[str]) -> None:
    data = shared_object(container(entry(cubin(120, "f", [kernel]), 120, "f")), machine=183)
    assert [claim.says for claim in claimed("a.so", data, rule)] == expected


def test_ptx_of_a_tree_and_of_a_library(here: Path) -> None:
    Path("a.ptx").write_bytes(ptx(120, "a"))
    with ExitStack() as stack:
        (found,) = check(CheckRequest(("a.ptx",), jobs=1, severity="note"), stack).report.findings
    assert [(claim.kind, claim.chips) for claim in found.claims] == [("image", ("12.1",))]
    assert found.claims[0].at == Region(2, 1, 2, 16) or found.claims[0].at == found.region
