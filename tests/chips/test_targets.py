"""Target names and load rules."""

from __future__ import annotations

import pytest

from bwlint.chips import ALL_TARGETS, EVERY, ChipSet, Target, chip, parse_targets, targets_of
from bwlint.chips.targets import refusal, same_cubin
from bwlint.chips.toolkits import bounds, every_toolkit, first_toolkit, releases, within

SPELLINGS = [
    ("sm_120a", "sm_120a"),
    ("compute_120f", "sm_120f"),
    ("lto_90", "sm_90"),
    ("120a", "sm_120a"),
    ("12.0a", "sm_120a"),
    ("12.1", "sm_121"),
    ("9.0a", "sm_90a"),
    ("75", "sm_75"),
    ("SM_100A", "sm_100a"),
    (" sm_103f ", "sm_103f"),
    ("sm_101a", "sm_101a"),
]

NO_TARGETS = [
    "",
    "sm_",
    "sm_130",
    "sm_60",
    "sm_90f",
    "sm_89a",
    "120x",
    "sm_120af",
    "12",
    "native",
    "12.x",
    "1.20",
]

# What a driver loads (cubin).
LOADS = {
    "sm_80": "8.0 8.6 8.8 8.9",
    "sm_89": "8.9",
    "sm_90": "9.0",
    "sm_90a": "9.0",
    "sm_100": "10.0 10.3 10.7",
    "sm_100a": "10.0",
    "sm_100f": "10.0 10.3 10.7",
    "sm_101": "10.1",
    "sm_103": "10.3 10.7",
    "sm_103a": "10.3",
    "sm_103f": "10.3 10.7",
    "sm_107": "10.7",
    "sm_110": "11.0",
    "sm_110a": "11.0",
    "sm_110f": "11.0",
    "sm_120": "12.0 12.1",
    "sm_120a": "12.0",
    "sm_120f": "12.0 12.1",
    "sm_121": "12.1",
    "sm_121a": "12.1",
    "sm_121f": "12.1",
}

# For what ptxas 13.5 assembles (PTX).
JITS = {
    "sm_89": "8.9 9.0 10.0 10.1 10.3 10.7 11.0 12.0 12.1",
    "sm_90": "9.0 10.0 10.1 10.3 10.7 11.0 12.0 12.1",
    "sm_90a": "9.0",
    "sm_100": "10.0 10.1 10.3 10.7 11.0 12.0 12.1",
    "sm_100a": "10.0",
    "sm_100f": "10.0 10.3 10.7",
    "sm_101a": "10.1 11.0",
    "sm_101f": "10.1 11.0",
    "sm_103": "10.3 10.7 11.0 12.0 12.1",
    "sm_103a": "10.3",
    "sm_103f": "10.3 10.7",
    "sm_107f": "10.7",
    "sm_110": "11.0 12.0 12.1",
    "sm_110a": "11.0",
    "sm_110f": "11.0",
    "sm_120": "12.0 12.1",
    "sm_120a": "12.0",
    "sm_120f": "12.0 12.1",
    "sm_121": "12.1",
    "sm_121a": "12.1",
    "sm_121f": "12.1",
}
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


@pytest.mark.parametrize(("text", "name"), SPELLINGS)
def test_parse(text: str, name: str) -> None:
    assert Target.parse(text).name == name


@pytest.mark.parametrize("text", NO_TARGETS)
def test_no_target(text: str) -> None:
    with pytest.raises(ValueError, match="target"):
        Target.parse(text)


@pytest.mark.parametrize(("name", "chips"), LOADS.items())
def test_loads_on(name: str, chips: str) -> None:
    assert " ".join(Target.parse(name).loads_on().names) == chips


@pytest.mark.parametrize(("name", "chips"), JITS.items())
def test_jits_on(name: str, chips: str) -> None:
    assert " ".join(Target.parse(name).jits_on().names) == chips


@pytest.mark.parametrize("target", ALL_TARGETS, ids=str)
def test_every_target_serves_its_own_chip(target: Target) -> None:
    assert Target.parse(target.name) == target
    assert target.chip in target.loads_on()
    assert target.loads_on() <= target.jits_on()


def test_all_targets() -> None:
    names = [target.name for target in ALL_TARGETS]
    assert names[:3] == ["sm_70", "sm_72", "sm_75"]
    assert names[-6:] == ["sm_120", "sm_120f", "sm_120a", "sm_121", "sm_121f", "sm_121a"]
    assert "sm_90a" in names
    assert "sm_90f" not in names
    assert len(names) == len(set(names)) == 16 + 1 + 2 * 7
    assert ChipSet.joining(target.chip for target in ALL_TARGETS) == EVERY


def test_native_targets() -> None:
    assert [target.name for target in targets_of(chip("12.1"))] == ["sm_121", "sm_121f", "sm_121a"]
    assert [target.name for target in targets_of(chip("8.9"))] == ["sm_89"]


def test_targets_of_a_command_line() -> None:
    assert parse_targets(["sm_120", "12.1"]) == (ChipSet.of("12.0", "12.1"), ())
    assert parse_targets(["sm_120a", "sm_90", "sm_120a"]) == (ChipSet.of("9.0", "12.0"), (Target(120, "a"),))
    assert parse_targets([]) == (ChipSet(0), ())
    with pytest.raises(ValueError, match="sm_130"):
        parse_targets(["sm_120", "sm_130"])


@pytest.mark.parametrize("names", [[""], [","], [" , ", ""]])
def test_names_without_a_word_ask_about_no_chip(names: list[str]) -> None:
    """A check for no chip would find nothing, and say so."""
    with pytest.raises(ValueError, match="names no target"):
        parse_targets(names)


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
