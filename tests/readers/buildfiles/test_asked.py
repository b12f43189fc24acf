"""What CMake's variables hold for each target."""

from __future__ import annotations

import pytest

from bwlint.readers.buildfiles.asked import NAMES, AskedTargets

EVERY = frozenset(NAMES)


def admitted(asked: AskedTargets, condition: str) -> str:
    found = asked.admitted(condition.split(), {})
    return "-" if found is None else " ".join(sorted(name for name in found if name.startswith("12")))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("arch STREQUAL 120a", "120a"),
        ("arch MATCHES ^12", "120 120a 120f 121 121a 121f"),
        ("NOT arch MATCHES ^12", ""),
        ("arch STREQUAL 12.0f", "120f"),
        ("arch GREATER_EQUAL 120", "120 121"),
        ("120a IN_LIST ARCHS", "120a"),
        ("other STREQUAL 120a", "-"),
        ("arch MATCHES ${UNKNOWN}", "-"),
        ("arch MATCHES (", "-"),
    ],
)
def test_conditions(condition: str, expected: str) -> None:
    asked = AskedTargets()
    asked.loop(["arch", "IN", "LISTS", "CMAKE_CUDA_ARCHITECTURES"])
    assert admitted(asked, condition) == expected


@pytest.mark.parametrize(
    ("command", "condition", "expected"),
    [
        ("string REGEX REPLACE [a-z]+$ {} n ${arch}", "n EQUAL 120", "120 120a 120f"),
        ("string REGEX MATCH ^[0-9]+ n ${arch}", "n EQUAL 121", "121 121a 121f"),
        ("string REPLACE a {} n ${arch}", "n STREQUAL 120", "120 120a"),
        ("string SUBSTRING ${arch} 0 2 n", "n EQUAL 12", "120 120a 120f 121 121a 121f"),
        ("string FIND ${arch} 120 n", "n EQUAL 0", "120 120a 120f"),
        ("list FIND ARCHS 120a n", "n GREATER -1", "120a"),
        ("set n ${arch}", "n STREQUAL 120a", "120a"),
        ("string REGEX REPLACE (.*)a \\1 n ${arch}", "n EQUAL 120", "-"),
    ],
)
def test_what_is_made_of_a_name(command: str, condition: str, expected: str) -> None:
    asked = AskedTargets()
    asked.loop(["arch", "${ARCHS}"])
    name, *words = command.split()
    asked.run(name, ["" if word == "{}" else word for word in words], EVERY)
    assert admitted(asked, condition) == expected


def test_filters_keep_targets() -> None:
    asked = AskedTargets()
    asked.run("set", ["MINE", "${ARCHS}"], EVERY)
    kept = asked.run("list", ["FILTER", "MINE", "INCLUDE", "REGEX", "^120"], EVERY)
    assert sorted(kept or ()) == ["120", "120a", "120f"]
    assert asked.run("list", ["FILTER", "OTHER", "INCLUDE", "REGEX", "^120"], EVERY) is None


def test_a_loop_over_numbers_asks_for_nothing() -> None:
    asked = AskedTargets()
    asked.loop(["n", "80", "120"])
    assert admitted(asked, "n EQUAL 120") == "-"
