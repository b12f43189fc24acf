"""Shell's tests of the compute capability."""

from __future__ import annotations

import pytest

from bwlint.readers.buildfiles.shell_conditions import shell_conditions

ASKED = "cap=$(nvidia-smi --query-gpu=compute_cap --format=csv)\n"


def twelves(source: str) -> list[tuple[tuple[int, ...], bool]]:
    return [(tuple(sorted(test.chips & {120, 121})), test.refuses) for test in shell_conditions(ASKED + source)]


@pytest.mark.parametrize(
    ("condition", "chips"),
    [
        ('[ "$cap" = "12.0" ]', (120,)),
        ('[ "$cap" = "12.0" ] || [ "$cap" = "12.1" ]', (120, 121)),
        ("[[ $cap == 12.* ]]", (120, 121)),
        ("[[ $cap != 12.0 ]]", (121,)),
        ('[[ "$cap" =~ ^12\\.1 ]]', (121,)),
        ("[ ${cap} -ge 120 ]", (120, 121)),
        ("[ ${cap} -gt 120 ]", (121,)),
        ("[ ${cap} -eq 120 ] && [ $QUICK = 1 ]", (120,)),
    ],
)
def test_conditions(condition: str, chips: tuple[int, ...]) -> None:
    assert twelves(f"if {condition}; then\n  a\nfi\n") == [(chips, False)]


@pytest.mark.parametrize("condition", ['[ "$CC" = gcc ]', "[ $cap -ge 0 ]", '[ "$cap" =~ ( ]', '[ "$other" = 12.0 ]'])
def test_what_asks_for_nothing_such(condition: str) -> None:
    assert twelves(f"if {condition}; then\n  a\nfi\n") == []


def test_who_is_refused() -> None:
    assert twelves('if [ "$cap" = 12.0 ]; then\n a\nelse\n exit 1\nfi\n') == [((120,), True)]
    assert twelves('if [ "$cap" != 12.0 ]; then\n exit 1\nfi\n') == [((120,), True)]


def test_arms_of_a_case() -> None:
    arms = "case $cap in\n 12.1) a ;;\n 12.*|sm_90) b ;;\n *) c ;;\nesac\n"
    assert twelves(arms) == [((121,), False), ((120,), False)]
    assert twelves(arms.replace("c ;;", "exit 1 ;;")) == [((121,), True), ((120,), True)]
