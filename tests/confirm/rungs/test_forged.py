"""Text that looks like ptxas's words, or moves them elsewhere, shows nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import toolkit as wheels

from bwlint.confirm import ladder
from bwlint.confirm.compiling import evidence
from bwlint.confirm.compiling.compiler import CompilerRun
from bwlint.confirm.rungs.assemble import attempt, pairs_of
from bwlint.confirm.workbench import Subject, Toolkit, Workbench
from bwlint.model.findings import Claim, Finding, Region

FENCE = "tcgen05.fence::before_thread_sync"
SAYS = "error   : Instruction 'bar.sync' not supported on .target 'sm_120a'"
HEAD = ".version {}\n.target {}\n.address_size 64\n.visible .entry k() {{\n.reg .b32 r; .reg .f32 f;\n{}\nret;\n}}\n"


@pytest.fixture
def world(toolkit: wheels.Toolkit, tmp_path: Path) -> Workbench:
    return Workbench(tmp_path, (Toolkit(toolkit.programs / "ptxas", None, "13", "a wheel"),), compile_limit=60)


def of_ptx(world: Workbench, body: str, subject: str, line: int, **said: str) -> tuple[str | None, str]:
    """What comes of a claim about a line of a PTX file; that of the body is the sixth."""
    target, version = said.get("target", "sm_120a"), said.get("version", "8.8")
    path = world.scratch / "k.ptx"
    path.write_text(HEAD.format(version, target, body))
    at = Region(line, 1, line, 80)
    finding = Finding(
        rule="BW000",
        name="test",
        category="other",
        severity="note",
        confidence="high",
        path=str(path),
        region=at,
        message="",
    )
    claim = Claim("instruction", "", targets=(target,), subject=subject, at=at)
    found = attempt(Subject(finding, claim, str(path), str(world.scratch)), world)
    return found.outcome, found.reason


@pytest.mark.parametrize(
    ("body", "subject", "line", "outcome", "says"),
    [
        (f"{FENCE};", FENCE, 6, "confirmed", "'tcgen05.fence' not supported"),
        (f"bar.sync 0; {FENCE};", FENCE, 6, "confirmed", "'tcgen05.fence' not supported"),
        ("bar.sync 0;", "bar.sync", 6, "refuted", "assembles it"),
        # Of two on one line the other is refused.
        (f"bar.sync 0; {FENCE};", "bar.sync", 6, "inconclusive", "something else: Instruction 'tcgen05.fence'"),
        # Quoted in a warning, which ptxas takes; with a line of its own; beside an error of its own.
        (f'.pragma "ptxas unit.ptx, line 7; {SAYS}";\nbar.sync 0;', "bar.sync", 7, "refuted", "assembles it"),
        (f'.pragma "a\nptxas unit.ptx, line 8; {SAYS}";\nbar.sync 0;', "bar.sync", 8, "inconclusive", "look like"),
        (
            f'.pragma "a\nptxas unit.ptx, line 8; {SAYS}";\nbar.sync 0;\nbad;',
            "bar.sync",
            8,
            "inconclusive",
            "look like",
        ),
        (f'.pragma "\nptxas {SAYS}";\nbar.sync 0;', "bar.sync", 8, "inconclusive", "look like"),
        # Places that are moved.
        (f'# 7 "unit.ptx"\n{FENCE};\nbar.sync 0;', "bar.sync", 8, "inconclusive", "line directives"),
        (f'  #line 7 "unit.ptx"\n{FENCE};\nbar.sync 0;', "bar.sync", 8, "inconclusive", "line directives"),
        # Names that look like targets.
        ("bar.sync sm_120a;", "bar.sync", 6, "inconclusive", "but not for the target"),
        ("bra architecture;", "bra", 6, "inconclusive", "Unknown symbol"),
    ],
)
def test_what_ptxas_is_made_to_say(
    world: Workbench, body: str, subject: str, line: int, outcome: str, says: str
) -> None:
    assert (outcome, True) == ((found := of_ptx(world, body, subject, line))[0], says in found[1]), found


def test_an_old_version_says_nothing_of_a_target(world: Workbench) -> None:
    outcome, reason = of_ptx(
        world, "wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned", 6, target="sm_90a", version="7.0"
    )
    assert outcome == "inconclusive" and "requires PTX ISA" in reason


def test_a_version_that_ptxas_does_not_know_yet(world: Workbench) -> None:
    outcome, reason = of_ptx(world, f"{FENCE};", FENCE, 6, version="99.0")
    assert outcome == "inconclusive" and "Unsupported .version 99.0" in reason


@pytest.mark.parametrize(
    ("text", "is_about"),
    [
        ("Instruction 'a' not supported on .target 'sm_90'", True),
        ("Feature 'a' requires .target sm_100a or higher", True),
        ("Feature 'a' cannot be compiled for architecture 'sm_120'", True),
        ("Modifier '.x' on instruction 'a'  is not supported starting sm_90 and later architectures", True),
        ("Feature 'a' requires PTX ISA .version 8.0 or later", False),
        ("Unsupported .target 'sm_9999'", False),
        ("PTX .version 7.0 does not support .target sm_90a", False),
        ("Unknown symbol 'sm_120'", False),
        ("Duplicate definition of label 'requires .target sm_90 or higher'", False),
        ("Arguments mismatch for instruction 'mov'", False),
    ],
)
def test_errors_about_the_target(text: str, is_about: bool) -> None:
    assert evidence.is_about_target(text) is is_about


@pytest.mark.parametrize(
    ("output", "about", "unknown"),
    [
        ("nvcc fatal   : Unsupported gpu architecture 'compute_121a'", True, "sm_121a"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_125a'", True, ""),
        ("ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", True, "sm_121a"),
        ("nvcc fatal   : Incompatible code generation requested: arch='compute_100f', code='sm_120a'", True, ""),
        ("ptxas fatal   : Could not open output file '/tmp/tmpxft_0001_unit.compute_90.cubin'", False, ""),
        ("sh: 1: cicc: not found\nnvcc error   : 'cicc' died due to signal 9", False, ""),
        ("gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory", False, ""),
        ("unit.compute_90.ptx: error: No space left on device", False, ""),
        ("ptxas fatal   : Memory allocation failure", False, ""),
    ],
)
def test_a_build_that_fails(output: str, about: bool, unknown: str) -> None:
    made = CompilerRun(None, 1, output, 0.0, "")
    assert (evidence.is_about_targets(made), evidence.too_new(made)) == (about, unknown)


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("cublas_v2.h", "`pip install nvidia-cublas` has it, and --nvcc-args -IFOLDER says where it is"),
        ("cuda/std/array", "`pip install nvidia-cuda-cccl` has it, and --nvcc-args -IFOLDER says where it is"),
        ("cub/cub.cuh", "`pip install nvidia-cuda-cccl` has it, and --nvcc-args -IFOLDER says where it is"),
        ("cuda_runtime.h", "`pip install nvidia-cuda-runtime` has it, and --nvcc-args -IFOLDER says where it is"),
        ("curand_kernel.h", "`pip install nvidia-curand` has it, and --nvcc-args -IFOLDER says where it is"),
        ("cute/tensor.hpp", "--nvcc-args -I.../include of a CUTLASS checkout"),
        ("own/part.h", "--nvcc-args -IFOLDER says where it is"),
    ],
)
def test_a_header_that_is_missing(header: str, hint: str) -> None:
    output = f"unit.cu:1:10: fatal error: {header}: No such file or directory\n"
    assert CompilerRun(None, 1, output, 0.0, "").hint == f" ({hint})"


def test_more_pairs_than_are_built_are_none() -> None:
    assert pairs_of(";".join(["compute_90,sm_90"] * 41)) == ()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"chips": ("99.9",)}, "unknown compute capability '99.9'"),
        ({"chips": ("9" * 10_000,)}, "unknown compute capability"),
        ({"targets": ("sm_9999",)}, "not a target: 'sm_9999'"),
        ({"targets": ("-o /tmp/x",)}, "not a target"),
        ({"targets": ("sm_90\n-o",)}, "not a target"),
        ({"amounts": (-1,)}, "no chip has the amounts"),
        ({"amounts": (10**30,)}, "no chip has the amounts"),
        ({"amounts": (1,) * 100_000}, "no chip has the amounts"),
    ],
)
@pytest.mark.parametrize("kind", ["instruction", "build", "shared", "cluster", "gate", "guard", "image"])
def test_claims_that_nobody_made_reach_no_rung(kind: str, fields: dict[str, object], says: str, tmp_path: Path) -> None:
    place = Region(1, 1, 1, 1)
    finding = Finding(
        rule="BW000",
        name="test",
        category="other",
        severity="note",
        confidence="high",
        path="x.cu",
        region=place,
        message="",
    )
    claim = replace(Claim(kind, ""), **fields)  # type: ignore[arg-type]
    tried = ladder.climb(Subject(finding, claim, "", ""), Workbench(tmp_path))
    assert tried.outcome == "inconclusive" and not any(one.executed for one in tried.attempts)
    assert says in tried.reason and len(tried.attempts[0].reason) <= 200
