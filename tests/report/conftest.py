"""Builders of findings for the tests of reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from shipments import make_library

from bwlint.binaries.shipments import (
    DeviceLibrary,
    Inspection,
    KernelOperation,
    Shipment,
)
from bwlint.model.findings import Claim, Edit, Finding, Fix, Proof, Region, Related, Report, Skipped, Suppressed
from bwlint.model.images import Cubin, Kernel
from bwlint.report import Lines


def make_finding(**changes: Any) -> Finding:
    """A family split in line 2 of ``pkg/gate.py`` (`GATE`), changed as told."""
    values: dict[str, Any] = {
        "rule": "BW101",
        "name": "family-split",
        "category": "family-split",
        "severity": "warning",
        "confidence": "high",
        "path": "pkg/gate.py",
        "region": Region(2, 8, 2, 18),
        "message": "12.1 falls into the arm that raises",
        "admitted": ("sm_120",),
        "certain": ("sm_120",),
        "legal": None,
        "fingerprint": "0123456789abcdef0123456789abcdef",
    }
    return Finding(**{**values, **changes})


def make_report(*findings: Finding, **changes: Any) -> Report:
    """A report of `findings`, changed as told."""
    values: dict[str, Any] = {
        "targets": ("12.0", "12.1"),
        "findings": findings,
        "skipped": (),
        "suppressed": (),
        "stats": {"files": 1},
    }
    return Report(**{**values, **changes})


def make_lines(files: Mapping[str, str]) -> Lines:
    """The sources of a run, held in memory, with their line ends."""
    split = {path: re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text) for path, text in files.items()}
    return split.get


GATE = """\
def pick(cap):
    if cap == 120:
        return fast()
    raise RuntimeError("needs 12.0")
"""


CLAIM = Claim(
    "gate",
    "the test `cap == 120` holds on 12.0 and fails on 12.1",
    chips=("12.0", "12.1"),
    holds=("12.0",),
    certain=("12.0",),
    subject="cap == 120",
    at=Region(2, 8, 2, 18),
)


def make_rich_report() -> Report:
    """A report with every part that a format can render."""
    proof = Proof(("12.0",), ("12.0",), ("12.0", "12.1"), ("12.0", "12.1"), "tests/test_gate.py:3 admits 12.1")
    fix = Fix(
        "safe",
        "family",
        "ask for the family",
        (
            Edit("pkg/gate.py", Region(2, 8, 2, 18), "cap // 10 == 12"),
            Edit("pkg/gate.py", Region(4, 1, 5, 1), ""),
        ),
        proof,
    )
    split = make_finding(
        legal=("sm_120", "sm_121"),
        label="true on sm_120 only",
        advice="`cap // 10 == 12`",
        related=(Related("pkg/gate.py", Region(4, 5, 4, 10), "what sm_121 gets"),),
        fix=fix,
        claims=(CLAIM,),
    )
    leak = make_finding(
        rule="BW102",
        name="leak",
        category="leak",
        severity="error",
        confidence="medium",
        path="pkg/späte datei.py",
        region=Region(1, 4, 1, 13),
        message="`cap[0](1)` admits sm_120 to tcgen05",
        certain=(),
        legal=(),
        related=(Related("lib/kernel.py", Region(1, 1, 1, 5), "the kernel [tcgen05]"),),
        fix_refused="the literal is compared with a queried limit",
        fingerprint="",
    )
    quiet = make_finding(rule="BW103", name="message", category="message", severity="note", confidence="low")
    return make_report(
        split,
        leak,
        skipped=(Skipped("pkg/big\x1b[31m.py", "30 MB, more than 10 MB"), Skipped("x.py", "a folder")),
        suppressed=(Suppressed(quiet, "meant for this part"), Suppressed(leak, "")),
    )


def make_inspection(*shipments: Shipment, **changes: Any) -> Inspection:
    """An inspection of `shipments` for 12.0 and 12.1, its answers "answer 1" and so on, changed as told."""
    values: dict[str, Any] = {
        "asked": ("12.0", "12.1"),
        "answers": tuple(f"answer {number}" for number, _ in enumerate(shipments, 1)),
        "report": make_report(),
    }
    return Inspection(shipments=shipments, **{**values, **changes})


def make_rich_inspection() -> Inspection:
    """An inspection with every part that a format can render."""
    partial = {"native": 2, "jit": 1, "jit-link": 1, "none": 3, "special": 2}
    core = make_library(
        "a.whl/pkg/core.so",
        {"12.0": partial, "12.1": {"none": 7}},
        reasons=("only 90a", "only 100f", "only 90a"),
        needed=("libcudart.so.12", "libcublasLt.so.12", "libtorch.so"),
        faults=("section 3 ends outside of the file",),
    )
    first = core.units[0]
    kernel = Kernel("_Z4gemmv", 1024, 64, (2, 1, 1), 16, True, 2, ("__cuda_syscall_x",), True, (256, 1, 1), (128, 1, 1))
    cubin = Cubin(120, "f", 8, (kernel, Kernel("_Z4copyv")), 100, "f", "ptxas -arch sm_100f", toolkit=(13, 0))
    container = replace(first.container, linked_from=(16, 32), fault="cut off at 0x2000")
    kernels = ("_Z4gemmv", "_Z4copyv")
    first = replace(first, container=container, generation="120f", kernels=kernels, cubins={0: cubin})
    binary = replace(core.binary, containers=(container, *core.binary.containers[1:]))
    core = replace(core, units=(first, *core.units[1:]), binary=binary)
    operation = KernelOperation("gemm", ("12.1",), "a.whl/pkg/core.so", "only 90a", True)
    wheel = Shipment(
        "a.whl", (core, make_library("a.whl/pkg/all.so")), "manylinux_2_28_aarch64", "aarch64", "", 3, (operation,)
    )
    missing = Shipment("pypi:a", machine="x86_64", missing="no wheel for it")
    finding = make_finding(
        path="a.whl/pkg/core.so",
        region=Region(1, 1, 1, 1),
        category="arch-target",
        admitted=("12.0",),
        certain=("12.0",),
    )
    return make_inspection(wheel, missing, Shipment("b.whl", others=12), report=make_report(finding))


@pytest.fixture
def rich_report() -> Report:
    return make_rich_report()


@pytest.fixture
def sources() -> Lines:
    return make_lines({"pkg/gate.py": GATE, "pkg/späte datei.py": "if cap >= 10:\n    go()\n"})


@pytest.fixture
def finding() -> Callable[..., Finding]:
    return make_finding


@pytest.fixture
def report() -> Callable[..., Report]:
    return make_report


@pytest.fixture
def lines() -> Callable[[Mapping[str, str]], Lines]:
    return make_lines


@pytest.fixture
def library() -> Callable[..., DeviceLibrary]:
    return make_library


@pytest.fixture
def inspection() -> Callable[..., Inspection]:
    return make_inspection


@pytest.fixture
def rich_inspection() -> Inspection:
    return make_rich_inspection()
