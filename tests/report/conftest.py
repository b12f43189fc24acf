"""Builders of findings for the tests of reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bwlint.findings import Edit, Finding, Fix, Proof, Region, Related, Report, Skipped, Suppressed
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
