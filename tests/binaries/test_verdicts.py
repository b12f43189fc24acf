"""How chips run containers: every kind of image against every chip, by the load rules of the driver."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from libraries import container

from bwlint.binaries.shipments import LINK, NONE, LoadVerdict, Tally
from bwlint.binaries.verdicts import generation, linked_verdicts, runs, tally, verdicts
from bwlint.chips import ALL_TARGETS, all_chips, chip
from bwlint.model.images import CUBIN, LTO, PTX


def named(text: str) -> set[str]:
    """Chips of "12.0", "8.x" and "9.0+"."""
    chips: set[str] = set()
    for word in text.split():
        least = chip(word[:-1]).joined if word.endswith("+") else 0
        major = int(word[:-2]) if word.endswith(".x") else 0
        chips |= {
            each.name
            for each in all_chips()
            if each.name == word or (least and each.joined >= least) or (major and each.major == major)
        }
    return chips


def ways(found: Mapping[str, LoadVerdict]) -> dict[str, set[str]]:
    """The chips of each way but none."""
    sets: dict[str, set[str]] = {}
    for name, verdict in found.items():
        if verdict.way != NONE:
            sets.setdefault(verdict.way, set()).add(name)
    return sets


def meant(**sets: str) -> dict[str, set[str]]:
    return {way.replace("_", "-"): named(chips) for way, chips in sets.items()}


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        # A plain cubin: its chip, and later minors of its line.
        ("sm_70", meant(native="7.0", family="7.5")),
        ("sm_75", meant(native="7.5")),
        ("sm_80", meant(native="8.0", family="8.6 8.8 8.9")),
        # A system on a chip and a card do not load each other's.
        ("sm_72", meant(native="7.2")),
        ("sm_87", meant(native="8.7")),
        ("sm_86", meant(native="8.6", family="8.8 8.9")),
        ("sm_89", meant(native="8.9")),
        ("sm_90", meant(native="9.0")),
        ("sm_100", meant(native="10.0", family="10.3 10.7")),
        ("sm_101", meant(native="10.1")),
        ("sm_103", meant(native="10.3", family="10.7")),
        ("sm_110", meant(native="11.0")),
        ("sm_120", meant(native="12.0", family="12.1")),
        ("sm_121", meant(native="12.1")),
        # For a family: the same, as far as the family goes.
        ("sm_100f", meant(native="10.0", family="10.3 10.7")),
        ("sm_101f", meant(native="10.1")),
        ("sm_103f", meant(native="10.3", family="10.7")),
        ("sm_107f", meant(native="10.7")),
        ("sm_110f", meant(native="11.0")),
        ("sm_120f", meant(native="12.0", family="12.1")),
        ("sm_121f", meant(native="12.1")),
        # For one chip.
        ("sm_90a", meant(native="9.0")),
        ("sm_100a", meant(native="10.0")),
        ("sm_103a", meant(native="10.3")),
        ("sm_110a", meant(native="11.0")),
        ("sm_120a", meant(native="12.0")),
        ("sm_121a", meant(native="12.1")),
        # PTX: compiled for every later chip, with f for later members of the family, with a for its chip.
        ("ptx_70", meant(jit="7.0+")),
        ("ptx_80", meant(jit="8.0+")),
        ("ptx_90", meant(jit="9.0+")),
        ("ptx_100", meant(jit="10.0+")),
        ("ptx_103", meant(jit="10.3+")),
        ("ptx_120", meant(jit="12.0 12.1")),
        ("ptx_121", meant(jit="12.1")),
        ("ptx_90a", meant(jit="9.0")),
        ("ptx_100a", meant(jit="10.0")),
        ("ptx_100f", meant(jit="10.0 10.3 10.7")),
        ("ptx_110f", meant(jit="11.0")),
        ("ptx_120a", meant(jit="12.0")),
        ("ptx_120f", meant(jit="12.0 12.1")),
        ("ptx_121a", meant(jit="12.1")),
        ("ptx_121f", meant(jit="12.1")),
        # The silicon of 10.1 is that of 11.0, whose ptxas takes PTX of the old name.
        ("ptx_101a", meant(jit="10.1 11.0")),
        ("ptx_101f", meant(jit="10.1 11.0")),
        # Older than every chip that bwlint knows.
        ("sm_50", {}),
        ("sm_52 sm_60 sm_61", {}),
        ("ptx_50", meant(jit="7.0+")),
        ("ptx_61", meant(jit="7.0+")),
        # Later than every one, and what no assembler makes.
        ("sm_130", {}),
        ("sm_200a", {}),
        ("ptx_130", {}),
        ("ptx_130f", {}),
        ("sm_130 ptx_130", {}),
        ("sm_80a", {}),
        ("ptx_80f", {}),
        ("ptx_52a", {}),
        # Intermediate code is for the linker.
        ("lto_80", {}),
        ("lto_120", {}),
        ("lto_120 sm_120", meant(native="12.0", family="12.1")),
        # Nothing at all.
        ("", {}),
        # A cubin is better than PTX, and a native one than one of the family.
        ("sm_120 ptx_120", meant(native="12.0", family="12.1")),
        ("sm_120 sm_121", meant(native="12.0 12.1")),
        ("sm_120a sm_121a", meant(native="12.0 12.1")),
        ("sm_120a ptx_120", meant(native="12.0", jit="12.1")),
        ("sm_121 ptx_120", meant(native="12.1", jit="12.0")),
        ("sm_90a ptx_90", meant(native="9.0", jit="10.0+")),
        ("sm_80 sm_90 ptx_90a", meant(native="8.0 9.0", family="8.6 8.8 8.9")),
        ("sm_80 ptx_80", meant(native="8.0", family="8.6 8.8 8.9", jit="8.7 9.0+")),
        # What wheels carry: toolchain.md, section 3.
        ("sm_80 sm_86 sm_90a", meant(native="8.0 8.6 9.0", family="8.8 8.9")),
        ("sm_90a sm_100f sm_103a", meant(native="9.0 10.0 10.3", family="10.7")),
        (
            "sm_80 sm_89 sm_90 sm_90a sm_100f sm_120a",
            meant(native="8.0 8.9 9.0 10.0 12.0", family="8.6 8.8 10.3 10.7"),
        ),
        (
            "sm_75 sm_80 sm_86 sm_89 sm_90 sm_100f sm_120f ptx_120",
            meant(native="7.5 8.0 8.6 8.9 9.0 10.0 12.0", family="8.8 10.3 10.7 12.1"),
        ),
        ("sm_100 ptx_120", meant(native="10.0", family="10.3 10.7", jit="12.0 12.1")),
        (
            "sm_75 sm_80 sm_90a ptx_80",
            meant(native="7.5 8.0 9.0", family="8.6 8.8 8.9", jit="8.7 10.0+"),
        ),
    ],
)
def test_ways(images: str, expected: dict[str, set[str]]) -> None:
    found = verdicts(container(images))
    assert set(found) == {each.name for each in all_chips()}
    assert ways(found) == expected


@pytest.mark.parametrize(
    ("images", "name", "place"),
    [
        # The place of the image that a chip takes.
        ("sm_80 sm_86", "8.9", 1),
        ("sm_86 sm_80", "8.9", 0),
        ("sm_80 sm_86", "8.0", 0),
        ("sm_120 sm_121", "12.0", 0),
        ("sm_120 sm_121", "12.1", 1),
        ("sm_120f ptx_120", "12.1", 0),
        ("ptx_120 sm_120f", "12.1", 1),
        ("sm_120 sm_120a", "12.0", 1),
        ("sm_120 sm_120a", "12.1", 0),
        ("sm_120 sm_121a", "12.1", 1),
        ("sm_120f sm_121a", "12.0", 0),
        ("ptx_80 ptx_90", "12.0", 1),
        ("ptx_90 ptx_80", "12.0", 0),
        ("ptx_90 ptx_90a", "12.0", 0),
        ("ptx_90 ptx_90a", "9.0", 1),
        ("lto_120 ptx_80 sm_120", "12.0", 2),
        ("sm_90 sm_100", "12.0", None),
        ("lto_120", "12.0", None),
    ],
)
def test_the_image_that_is_taken(images: str, name: str, place: int | None) -> None:
    assert verdicts(container(images))[name].place == place


@pytest.mark.parametrize(
    ("images", "name", "reason"),
    [
        ("sm_120", "12.0", "cubin for sm_120"),
        ("sm_120a", "12.0", "cubin for sm_120a"),
        ("sm_120", "12.1", "cubin for sm_120, of a lower minor"),
        ("sm_120f", "12.1", "cubin for sm_120f, for its family"),
        ("sm_86 sm_80", "8.9", "cubin for sm_86, of a lower minor"),
        ("sm_75 ptx_75", "12.0", "PTX for sm_75, compiled at first use"),
        ("ptx_120f", "12.1", "PTX for sm_120f, compiled at first use"),
        # Why not.
        ("sm_120a", "12.1", "sm_120a is for 12.0 alone"),
        ("sm_80 sm_100f sm_120a", "12.1", "sm_120a is for 12.0 alone"),
        ("sm_120a ptx_120a", "12.1", "sm_120a is for 12.0 alone"),
        ("sm_100a sm_103a", "10.7", "sm_103a is for 10.3 alone"),
        ("sm_121", "12.0", "built for later minors only (sm_121)"),
        ("sm_121a ptx_121a", "12.0", "built for later minors only (sm_121a)"),
        ("sm_90a", "12.0", "cubins for sm_90a, no PTX"),
        ("sm_90a sm_80 sm_80", "12.0", "cubins for sm_80, sm_90a, no PTX"),
        ("sm_50", "12.0", "cubins for sm_50, no PTX"),
        ("sm_130", "12.0", "cubins for sm_130, no PTX"),
        ("sm_100f", "11.0", "cubins for sm_100f, no PTX"),
        ("sm_100", "10.1", "cubins for sm_100, no PTX"),
        ("ptx_90a", "12.0", "PTX only for sm_90a"),
        ("ptx_100f ptx_90a", "12.0", "PTX only for sm_90a, sm_100f"),
        ("sm_80 ptx_90a", "12.0", "cubins for sm_80, PTX for sm_90a"),
        ("ptx_121", "12.0", "PTX for sm_121"),
        ("sm_75 ptx_75", "7.0", "built for later minors only (sm_75)"),
        ("sm_80 ptx_80", "7.5", "cubins for sm_80, PTX for later chips"),
        ("lto_120", "12.0", "LTO code for sm_120, which only a program that links it can load"),
        (
            "sm_80 lto_120",
            "12.0",
            "cubins for sm_80, no PTX; LTO code for sm_120, which only a program that links it can load",
        ),
        ("sm_80 lto_120", "9.0", "cubins for sm_80, no PTX"),
        ("lto_120", "9.0", "LTO code for sm_120 alone"),
        ("", "12.0", "no image"),
    ],
)
def test_reasons(images: str, name: str, reason: str) -> None:
    assert verdicts(container(images))[name].reason == reason


def test_a_cubin_loads_where_its_target_does() -> None:
    for target in ALL_TARGETS:
        assert runs(CUBIN, target.number, target.suffix) == target.loads_on()
        assert runs(PTX, target.number, target.suffix) == target.jits_on()
        assert not runs(LTO, target.number, target.suffix)


@pytest.mark.parametrize(
    ("images", "without", "expected", "reason"),
    [
        ("sm_120", "sm_120", {}, "no image whose header matches its code"),
        ("sm_120 sm_90a", "sm_120", meant(native="9.0"), "cubins for sm_90a, no PTX"),
        ("sm_120 ptx_80", "sm_120", meant(jit="8.0+"), "PTX for sm_80, compiled at first use"),
        ("sm_120 sm_120a", "sm_120a", meant(native="12.0", family="12.1"), "cubin for sm_120"),
        ("sm_120", "sm_90", meant(native="12.0", family="12.1"), "cubin for sm_120"),
        ("sm_120", "", meant(native="12.0", family="12.1"), "cubin for sm_120"),
    ],
)
def test_images_that_do_not_count(images: str, without: str, expected: dict[str, set[str]], reason: str) -> None:
    found = verdicts(container(images), container(without).images)
    assert ways(found) == expected
    assert found["12.0"].reason == reason


# Sets that the device linker made: error 300 where one object has no PTX, run on an H100.


@pytest.mark.parametrize(
    ("images", "objects", "expected"),
    [
        # Silent: what was linked is there for the chip.
        ("sm_120", ["sm_120", "sm_120"], meant(native="12.0", family="12.1")),
        ("sm_120f", ["sm_120f"], meant(native="12.0", family="12.1")),
        # PTX in all objects.
        ("sm_80", ["sm_80 ptx_80", "sm_80 ptx_80"], meant(native="8.0", family="8.6 8.8 8.9", jit_link="8.7 9.0+")),
        ("sm_80", ["ptx_80"], meant(native="8.0", family="8.6 8.8 8.9", jit_link="8.7 9.0+")),
        ("", ["ptx_90", "sm_80 ptx_80"], meant(jit_link="9.0+")),
        ("sm_120a", ["sm_120a ptx_120", "ptx_90"], meant(native="12.0", jit_link="12.1")),
        ("sm_90", ["ptx_120f", "ptx_80"], meant(native="9.0", jit_link="12.0 12.1")),
        ("sm_90", ["ptx_120", "ptx_121"], meant(native="9.0", jit_link="12.1")),
        # One object without, or without one that suits.
        ("sm_80", ["sm_80 ptx_80", "sm_80"], meant(native="8.0", family="8.6 8.8 8.9")),
        ("sm_80", ["sm_80", "sm_80"], meant(native="8.0", family="8.6 8.8 8.9")),
        ("sm_90a", ["ptx_90a", "ptx_90"], meant(native="9.0")),
        ("sm_90", ["ptx_90", "lto_90"], meant(native="9.0")),
        ("sm_90", ["ptx_90", ""], meant(native="9.0")),
        # Cubins of the objects are no help: the linked set has none for the chip.
        ("sm_90", ["sm_120", "sm_120"], meant(native="9.0")),
        ("sm_90", ["ptx_121 sm_120", "ptx_80"], meant(native="9.0", jit_link="12.1")),
        # Linked from nothing that is known.
        ("sm_90", [], meant(native="9.0")),
    ],
)
def test_linked_sets(images: str, objects: list[str], expected: dict[str, set[str]]) -> None:
    assert ways(linked_verdicts(container(images), [container(each) for each in objects])) == expected


@pytest.mark.parametrize(
    ("objects", "verdict"),
    [
        (["ptx_80"] * 3, LoadVerdict(LINK, None, "relocatable PTX in all 3 objects, linked at first use")),
        (
            ["ptx_80", "sm_80", "lto_80"],
            LoadVerdict(NONE, None, "cubins for sm_80, no PTX; 2 of 3 linked objects lack PTX for it"),
        ),
        (["ptx_90a"], LoadVerdict(NONE, None, "cubins for sm_80, no PTX; 1 of 1 linked objects lacks PTX for it")),
    ],
)
def test_reasons_of_linked_sets(objects: list[str], verdict: LoadVerdict) -> None:
    assert linked_verdicts(container("sm_80"), [container(each) for each in objects])["12.0"] == verdict


# One family or generation, and counts


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ("sm_100f", "100f"),
        ("sm_100a sm_103a", "100f"),
        ("sm_100f ptx_107", "100f"),
        ("sm_110", "110f"),
        ("sm_120a", "120f"),
        ("sm_120 sm_121", "120f"),
        ("sm_90a", "Hopper"),
        ("sm_90 sm_90a ptx_90", "Hopper"),
        ("sm_80 sm_86", "Ampere"),
        ("sm_75", "Turing"),
        ("sm_61", "6.x"),
        ("sm_130a", "13.x"),
        # Several.
        ("sm_80 sm_89", ""),
        ("sm_90a sm_100f", ""),
        ("sm_100f sm_120f", ""),
        ("sm_70 sm_75", ""),
        ("sm_100 sm_110", ""),
        ("", ""),
    ],
)
def test_generation(images: str, expected: str) -> None:
    assert generation(container(images)) == expected


def tallies(*containers: str) -> dict[str, Tally]:
    each = [container(images) for images in containers]
    return tally((verdicts(one), generation(one)) for one in each)


@pytest.mark.parametrize(
    ("containers", "name", "expected", "word"),
    [
        (["sm_120"], "12.0", Tally(native=1), "all"),
        (["sm_120", "sm_120f", "sm_80 ptx_80"], "12.1", Tally(family=2, jit=1), "all"),
        (["ptx_80", "ptx_80"], "12.0", Tally(jit=2), "all"),
        # A container for another generation is specialised, not one for the chip's own.
        (["sm_120", "sm_90a"], "12.0", Tally(native=1, none=1, specialised=1), "partial"),
        (["sm_120", "sm_100f sm_103a", "sm_75"], "12.0", Tally(native=1, none=2, specialised=2), "partial"),
        (["sm_120", "sm_80 sm_90a"], "12.0", Tally(native=1, none=1), "partial"),
        (["sm_120", "sm_120a"], "12.1", Tally(family=1, none=1), "partial"),
        (["sm_120", "sm_121"], "12.0", Tally(native=1, none=1), "partial"),
        (["sm_90", "sm_90a"], "12.0", Tally(none=2, specialised=2), "none"),
        (["sm_86"], "8.0", Tally(none=1), "none"),
        (["sm_86"], "8.9", Tally(family=1), "all"),
        (["sm_89"], "8.0", Tally(none=1, specialised=1), "none"),
        ([""], "12.0", Tally(none=1), "none"),
        ([], "12.0", Tally(), "all"),
    ],
)
def test_tally(containers: list[str], name: str, expected: Tally, word: str) -> None:
    found = tallies(*containers)[name]
    assert (found, found.word) == (expected, word)
    assert (found.served + found.none, found.total) == (len(containers), len(containers))


def test_linked_containers_are_counted_apart() -> None:
    found = tally([(linked_verdicts(container("sm_80"), [container("ptx_80")]), "Ampere")])
    assert (found["12.0"], found["12.0"].word) == (Tally(link=1), "all")
    assert found["8.0"] == Tally(native=1)
    assert found["8.6"] == Tally(family=1)
    assert found["7.5"] == Tally(none=1, specialised=1)
