"""The answer for one card in a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from libraries import library
from small_binaries import container, cubin, entry, shared_object, wheel

from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import Assembler, OwnPlace, Shipment
from bwlint.chips import ChipSet
from bwlint.cli import app
from bwlint.inspection.answers import verdicts
from bwlint.model.findings import Skipped

X86, ARM = "x-1.0-cp312-cp312-linux_x86_64.whl", "x-1.0-cp312-cp312-linux_aarch64.whl"
ON_ARM = Shipment(ARM, machine="aarch64")
SPARK = "DGX Spark (GB10, 12.1)"
OUT = OwnPlace("out", ("12.0", "12.1"), "x/a.py", 3, "attention", "raises", lets_in=("8.9", "9.0"))
FAULT = replace(OUT, does="fault", subject="decode")


def made(*units: str, **changes: object) -> Shipment:
    """A wheel for aarch64 with a library of these containers, changed as told."""
    libraries = (library("x/a.so", *units, machine="aarch64"),)
    found = operations(libraries, ChipSet.of("12.0", "12.1"))
    return replace(ON_ARM, libraries=libraries, operations=found, **changes)  # type: ignore[arg-type]


def said(*shipments: Shipment, target: str = "spark", chips: tuple[str, ...] = ("12.1",)) -> str:
    return "\n".join(verdict.sentence for verdict in verdicts(shipments, ChipSet.of(*chips), (target,)))


@pytest.mark.parametrize(
    ("shipment", "expected"),
    [
        (made("sm_120f"), f"runs on {SPARK}: its wheel has ready code for it"),
        (
            made("ptx_80"),
            f"runs on {SPARK} by JIT alone: its wheel has PTX for it, which the driver compiles at first use",
        ),
        (made("sm_120a"), f"does not run on {SPARK}: sm_120a is for 12.0 alone"),
        (made("sm_120f", "sm_80 sm_90: _Z4gemmv"), f"runs on {SPARK}, but the operation gemm has no kernel"),
        (
            made("sm_80", compiles=("Triton",)),
            f"has no built code for {SPARK} (cubins for sm_80, no PTX), and the rest compiles at run time: Triton",
        ),
        (
            replace(ON_ARM, compiles=("Triton", "CuTe DSL")),
            f"compiles its kernels on {SPARK} at run time (Triton, CuTe DSL) and has no ready code",
        ),
        (ON_ARM, f"has no device code for {SPARK} in its aarch64 wheel"),
        (replace(ON_ARM, is_cpu_build=True), "has no CUDA code in its aarch64 wheel: it is the CPU build"),
        (replace(ON_ARM, is_cpu_build=True, own=(OUT,)), "has no CUDA code in its aarch64 wheel: it is the CPU build"),
        (Shipment("x-1.0-py3-none-any.whl"), f"has no device code for {SPARK}"),
        (
            replace(ON_ARM, unread=(Skipped("a.so", "a socket"),)),
            f"is unknown on {SPARK}: cannot be read: a socket",
        ),
        (
            replace(ON_ARM, assemblers=(Assembler("x/ptxas", (12, 8)),)),
            f"does not compile for {SPARK}: its ptxas is of CUDA 12.8 and does not know sm_121",
        ),
        (
            made("sm_120f", assemblers=(Assembler("x/ptxas", (13, 0)), Assembler("x/libnvrtc.so.12", (12, 8)))),
            f"compiles for {SPARK} with its ptxas of CUDA 13.0",
        ),
        (
            Shipment("x-1.0.tar.gz", built="no wheel: it is built on your machine", compiles=("3 files of CUDA C++",)),
            f"has no wheel for {SPARK}: it is built on your machine",
        ),
        (
            Shipment("x-1.0.tar.gz", built="no wheel for Linux aarch64: it is built on your machine", own=(OUT,)),
            f"has no wheel for {SPARK} on Linux aarch64; its own code turns it away in attention (x/a.py)",
        ),
        # What the build makes and what the code then does, with what check finds where nothing is built.
        (
            Shipment(
                "x-1.0.tar.gz", built="no wheel: it is built on your machine", own=(OUT, replace(OUT, does="made"))
            ),
            f"has no wheel for {SPARK}, but its own build makes code for it; its own code turns it away in attention"
            " (x/a.py)",
        ),
        (
            made("sm_120f", own=(OUT, FAULT)),
            f"runs on {SPARK} in part: its own code turns it away in attention (x/a.py)",
        ),
        (
            made("ptx_80", own=(OUT,)),
            f"runs on {SPARK} by JIT alone, in part: its own code turns it away in attention (x/a.py)",
        ),
        (made("sm_120f", own=(FAULT,)), f"runs on {SPARK}: its wheel has ready code for it"),
        (
            replace(ON_ARM, compiles=("Triton",), own=(FAULT,)),
            f"compiles its kernels on {SPARK} at run time (Triton) and has no ready code; "
            "bwlint check finds faults for it in its own code (decode)",
        ),
        (
            Shipment("x-1.0.tar.gz", built="a source distribution: it is built on your machine"),
            f"has no ready code for {SPARK}: it is built on your machine; no device code in its sources",
        ),
        (
            made("sm_120f", requires=(("torch", "==2.4.0"),)),
            f"does not run on {SPARK}: it requires torch==2.4.0, of which no wheel has kernels for 12.1",
        ),
        (
            made("sm_120a", requires=(("torch", "==2.4.0"),)),
            f"does not run on {SPARK}: it requires torch==2.4.0, of which no wheel has kernels for 12.1",
        ),
        (
            made("sm_120f", bound_to=("torch",)),
            f"does not run on {SPARK}: its libraries need torch before 2.7 (C++ ABI), "
            "of which no wheel has kernels for 12.1",
        ),
        (
            replace(ON_ARM, instead="it only requires other packages (y)"),
            f"says nothing of {SPARK}: it only requires other packages (y)",
        ),
        (
            replace(made("sm_120f"), own=(replace(OUT, chips=("12.0",)),)),
            f"runs on {SPARK}: its wheel has ready code for it",
        ),
    ],
)
def test_on_one_card(shipment: Shipment, expected: str) -> None:
    assert said(shipment) == f"x 1.0 {expected}."


@pytest.mark.parametrize(
    ("shipments", "runs"),
    [
        ((made("sm_120f"),), "yes"),
        ((made("ptx_80"),), "yes"),
        ((made("sm_120f", own=(FAULT,)),), "yes"),
        ((made("sm_120f", "sm_80 sm_90: _Z4gemmv"),), "in part"),
        ((made("sm_120f", own=(OUT,)),), "in part"),
        ((made("sm_120a"),), "no"),
        ((made("sm_120f", requires=(("torch", "==2.4.0"),)),), "no"),
        ((Shipment("x-1.0-py3-none-any.whl", missing="no wheel"),), "no"),
        ((made("sm_120f"), made("sm_120a")), "no"),
        ((ON_ARM,), "unknown"),
        ((replace(ON_ARM, compiles=("Triton",)),), "unknown"),
        ((Shipment("x-1.0.tar.gz", built="no wheel: it is built on your machine"),), "unknown"),
    ],
)
def test_the_verdict_is_that_of_the_worst_build(shipments: tuple[Shipment, ...], runs: str) -> None:
    (verdict,) = verdicts(shipments, ChipSet.of("12.1"), ("spark",))
    assert (verdict.package, verdict.chip, verdict.runs) == ("x 1.0", "12.1", runs)


@pytest.mark.parametrize(
    ("shipments", "expected"),
    [
        # The wheel for x86-64 is none for the card.
        (
            [made("sm_80", name=X86, machine="x86_64"), made("sm_121")],
            f"runs on {SPARK}: its wheel has ready code for it",
        ),
        (
            [made("sm_121", name=X86, machine="x86_64")],
            f"does not run on {SPARK}: it is built for x86_64, and this card needs a build for aarch64",
        ),
        (
            [
                made("sm_121", name=X86, machine="x86_64"),
                Shipment("pypi:x", machine="aarch64", missing="x has no wheel for Linux aarch64, only for win32"),
            ],
            f"cannot be installed for {SPARK}: x has no wheel for Linux aarch64, only for win32",
        ),
        # A package that is empty, and its content.
        (
            [
                Shipment("x-1.0-py3-none-any.whl", elsewhere=("x-base==1.0", "x-cu13==1.0")),
                Shipment("x_base-1.0-cp312-cp312-linux_aarch64.whl", machine="aarch64"),
                made("sm_120f", name="x_cu13-1.0-cp312-cp312-linux_aarch64.whl"),
            ],
            f"runs on {SPARK}: its wheel has ready code for it",
        ),
    ],
)
def test_over_several_files(shipments: list[Shipment], expected: str) -> None:
    assert said(*shipments) == f"x 1.0 {expected}."


def test_machines_that_differ() -> None:
    shipments = (made("sm_120", name=X86, machine="x86_64"), replace(ON_ARM, compiles=("Triton",)))
    card = "RTX PRO 6000 (12.0)"
    assert said(*shipments, target="pro-6000", chips=("12.0",)) == (
        f"x 1.0 runs on {card}: its wheel has ready code for it. "
        "On aarch64 it compiles its kernels at run time (Triton) and has no ready code."
    )
    sources = Shipment("x-1.0.tar.gz", built="no wheel for Linux aarch64: it is built on your machine", own=(OUT,))
    assert said(shipments[0], sources, target="pro-6000", chips=("12.0",)) == (
        f"x 1.0 runs on {card}: its wheel has ready code for it. "
        "It has no wheel on Linux aarch64; its own code turns it away in attention (x/a.py)."
    )
    alike = (made("sm_120", name=X86, machine="x86_64"), made("sm_120f"))
    assert (
        said(*alike, target="12.0", chips=("12.0",))
        == "x 1.0 runs on RTX 5090 (12.0): its wheel has ready code for it."
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("some/x_y-1.0-py3-none-any.whl", "x-y 1.0"),
        ("x_y-1.0.tar.gz", "x-y 1.0"),
        ("x==2.0+cu130", "x 2.0+cu130"),
        ("build/lib.so", "build/lib.so"),
        ("strange.whl", "strange.whl"),
    ],
)
def test_what_a_package_is_called(name: str, expected: str) -> None:
    assert said(replace(made("sm_120f"), name=name)).startswith(f"{expected} runs on ")


def test_a_sentence_for_each_package_and_each_card() -> None:
    told = said(made("sm_120f"), replace(made("sm_120"), name="y==2"), chips=("12.0", "12.1"))
    assert [line.partition(")")[0] for line in told.splitlines()] == [
        "x 1.0 runs on RTX 5090 (12.0",
        "x 1.0 runs on DGX Spark (GB10, 12.1",
        "y 2 runs on RTX 5090 (12.0",
        "y 2 runs on DGX Spark (GB10, 12.1",
    ]


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (["--card", "spark"], f"x 1.0 runs on {SPARK}: its wheel has ready code for it."),
        (["--target", "12.1"], f"x 1.0 runs on {SPARK}: its wheel has ready code for it."),
        ([], f"{ARM}: runs on 12.0 and 12.1"),
    ],
)
def test_the_report_begins_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], first: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code = shared_object(container(entry(cubin(120, "f"), 120, "f")), machine=183)
    Path(ARM).write_bytes(wheel({"x/_C.so": code}))
    result = CliRunner().invoke(app, ["inspect", *options, ARM])
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, first)
