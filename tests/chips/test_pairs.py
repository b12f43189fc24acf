"""Pairs of targets against what nvcc 13.5 and ptxas said when they were asked."""

from __future__ import annotations

import pytest

from bwlint.chips import Target
from bwlint.chips.pairs import refusal, same_cubin
from bwlint.chips.toolkits import bounds, every_toolkit, first_toolkit, releases, within

TARGETS = [
    "90",
    "90a",
    "100",
    "100a",
    "100f",
    "103",
    "103a",
    "103f",
    "110",
    "110a",
    "110f",
    "120",
    "120a",
    "120f",
    "121",
    "121a",
    "121f",
]
# PTX for the one, cubins that nvcc takes with it (--dryrun, all 17 x 17 pairs).
NVCC = {
    "90": TARGETS,
    "90a": ["90a", "100a", "103a", "110a", "120a", "121a"],
    "100": TARGETS[2:],
    "100a": ["100a", "103a", "110a", "120a", "121a"],
    "100f": ["100", "100a", "100f", "103", "103a", "103f"],
    "103": TARGETS[5:],
    "103a": ["103a", "110a", "120a", "121a"],
    "103f": ["103", "103a", "103f"],
    "110": TARGETS[8:],
    "110a": ["110a", "120a", "121a"],
    "110f": ["110", "110a", "110f"],
    "120": TARGETS[11:],
    "120a": ["120a", "121a"],
    "120f": TARGETS[11:],
    "121": TARGETS[14:],
    "121a": ["121a"],
    "121f": ["121", "121a", "121f"],
}


@pytest.mark.parametrize("arch", TARGETS)
def test_pairs(arch: str) -> None:
    for code in TARGETS:
        words = refusal(Target.parse(arch), Target.parse(code))
        if code not in NVCC[arch]:
            assert words is not None
            assert words.startswith("nvcc fatal : Incompatible code generation requested")
        elif arch.endswith("a") and arch != code:
            assert words is not None
            assert words.endswith(f"'sm_{arch}' cannot be compiled to future architecture")
        else:
            assert words is None


@pytest.mark.parametrize(
    ("one", "other", "refused"),
    [
        ("120", "120f", True),
        ("121f", "121", True),
        ("100", "100f", True),
        ("120a", "120f", False),
        ("120", "121a", False),
        ("120f", "121a", False),
        ("120", "120", False),
    ],
)
def test_cubins_of_one_number(one: str, other: str, refused: bool) -> None:
    assert same_cubin(Target.parse(one), Target.parse(other)) is refused


@pytest.mark.parametrize(
    ("target", "release"),
    [
        ("100", "12.8"),
        ("120", "12.8"),
        ("120a", "12.8"),
        ("120f", "12.9"),
        ("121", "12.9"),
        ("103a", "12.9"),
        ("110", "13.0"),
    ],
)
def test_first_toolkits(target: str, release: str) -> None:
    assert first_toolkit(Target.parse(target)) == release


@pytest.mark.parametrize("limits", [("", ""), ("12.8", ""), ("", "12.9"), ("12.8", "13.0"), ("12.9", "13.0")])
def test_bounds(limits: tuple[str, str]) -> None:
    assert bounds(within(limits)) == limits


def test_no_release_at_all() -> None:
    assert within(bounds(frozenset())) == frozenset()
    assert every_toolkit() == frozenset(releases())
