"""Comparisons that can never be true, rewritten to what their literals say."""

from __future__ import annotations

import pytest

from bwlint.chips import EVERY, ChipSet
from bwlint.model.findings import Fix

from .conftest import Make

HEAD = "from vllm.platforms import current_platform\ncap = current_platform.get_device_capability()\n"
TWELVE = ("12.0", "12.1")


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ("cap in [89, 120]", ("8.9", *TWELVE), "cap in [(8, 9), (12, 0), (12, 1)]"),
        ("cap in (89, 120,)", ("8.9", *TWELVE), "cap in ((8, 9), (12, 0), (12, 1),)"),
        ("cap in {120}", TWELVE, "cap in {(12, 0), (12, 1)}"),
        ("cap in (120,)", TWELVE, "cap in ((12, 0), (12, 1))"),
        ("cap in [120, 121]", TWELVE, "cap in [(12, 0), (12, 1)]"),
        ("cap in [100, 103]", ("10.0", "10.3", "10.7"), "cap in [(10, 0), (10, 3), (10, 7)]"),
        ("cap == 120", TWELVE, "cap in ((12, 0), (12, 1))"),
        ("cap == 90", ("9.0",), "cap == (9, 0)"),
        ("cap == '12.0'", TWELVE, "cap in ((12, 0), (12, 1))"),
        (
            "current_platform.get_device_capability() in [89, 120]",
            ("8.9", *TWELVE),
            "current_platform.get_device_capability() in [(8, 9), (12, 0), (12, 1)]",
        ),
    ],
)
def test_type(snippet: Make, before: str, wanted: tuple[str, ...], after: str) -> None:
    found = snippet(f"{HEAD}if {before}: pass\n")
    fix = found.propose(ChipSet.of(*wanted))
    assert isinstance(fix, Fix), fix
    assert (fix.kind, fix.proof.before_may, fix.proof.after_must) == ("type", (), wanted)
    fixed = found.fixed(ChipSet.of(*wanted))
    assert fixed == f"{HEAD}if {after}: pass\n"
    assert snippet(fixed).refused(ChipSet.of(*wanted)).startswith("nothing to do")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cap not in [89, 120]", "cap not in [(8, 9), (12, 0), (12, 1)]"),
        ("not (cap in [89, 120])", "not (cap in [(8, 9), (12, 0), (12, 1)])"),
    ],
)
def test_negated(snippet: Make, before: str, after: str) -> None:
    wanted = EVERY - ChipSet.of("8.9", *TWELVE)
    assert snippet(f"{HEAD}if {before}: pass\n").fixed(wanted) == f"{HEAD}if {after}: pass\n"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("cap == 12", TWELVE),
        ("cap >= 120", TWELVE),
        ("cap in [8, 12]", TWELVE),
        ("cap in [89, 120]", ("8.9", "9.0", *TWELVE)),
        ("cap in [89, 120]", TWELVE),
        ("cap == 120 or cap == 90", ("9.0", *TWELVE)),
    ],
)
def test_refused(snippet: Make, before: str, wanted: tuple[str, ...]) -> None:
    snippet(f"{HEAD}if {before}: pass\n").refused(ChipSet.of(*wanted))
