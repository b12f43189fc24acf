"""No input crashes a reader or takes time that grows with its square."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from effort import at_most, grows_as_its_input

from bwlint.model.facts import Carry
from bwlint.readers.buildfiles.patterns import BadRegex, Regex

Carries = Callable[[str, str], tuple[Carry, ...]]

NAMES = ["CMakeLists.txt", "build.sh", "release.yml", "data.json"]
HOSTILE: dict[str, Callable[[int], str]] = {
    "letters": lambda n: "a" * n,
    "spaces": lambda n: "set (" + " " * n,
    "open parentheses": lambda n: "if(" + "(" * n,
    "nested": lambda n: "if" + "(" * n + "ARCHS MATCHES 120a" + ")" * n + "\nendif()",
    "ors": lambda n: "if(A" + " OR ARCHS MATCHES 120a" * (n // 20) + ")",
    "nots": lambda n: "if(" + "NOT " * n + "A)",
    "open quote": lambda n: 'set(ARCHS "' + "90a;" * n,
    "quotes": lambda n: 'set(ARCHS "' + '\\"' * n,
    "open brackets": lambda n: "set(A " + "[[" * n,
    "bracket comment": lambda n: "#[" + "=" * n,
    "comments": lambda n: "#\n" * n,
    "ifs": lambda n: "if(A)\n" * (n // 4),
    "ends": lambda n: "endif()\n" * (n // 4),
    "names": lambda n: "arch_list" * (n // 9),
    "dots": lambda n: "a." * n + "arch_list",
    "assignments": lambda n: "X_ARCH_LIST=9.0a " * (n // 16),
    "long list": lambda n: 'X_ARCH_LIST="' + "9.0a " * n + '"',
    "braces": lambda n: "X_ARCH_LIST: {" * (n // 14),
    "brackets": lambda n: "X_ARCH_LIST: [" * (n // 14),
    "flags": lambda n: "-gencode arch=compute_90a,code=sm_90a " * (n // 40),
    "open flags": lambda n: "arch=compute_90,code=[sm_90," * (n // 30),
    "umlauts": lambda n: "é" * n + " X_ARCH_LIST=9.0a" * 100,
    "nul": lambda n: "\0" * n + "set(ARCHS \0 90a)",
    "aliases": lambda n: "a: &a [x_arch_list]\n" + "b: &b [*a,*a,*a]\n" * (n // 20),
    "shell ifs": lambda n: "if [ $CUDA_VERSION = 12.9 ]; then\n" * (n // 400),
    "expressions": lambda n: "X_ARCH_LIST: ${{ " + "cuda < '13.0' && '9.0a' || " * (n // 30),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_time_grows_with_the_input(carries: Carries, name: str, kind: str) -> None:
    grows_as_its_input(lambda source: carries(name, source), HOSTILE[kind], 10_000)


def test_a_line_of_a_megabyte(carries: Carries) -> None:
    with at_most(20):
        for name in NAMES:
            carries(name, "set(X " + "y_arch_list: 9.0a z " * 50_000)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "((a*)*)*b", "a?" * 300 + "a" * 300, "(" * 40 + "a" + ")*" * 40]
)
def test_evil_patterns_are_quick(pattern: str) -> None:
    with at_most(5):
        Regex(pattern).search("a" * 200)


@pytest.mark.parametrize("pattern", ["(", ")", "a)", "[a", "*", "a\\", "(" * 60 + ")" * 60, "a" * 2000])
def test_bad_patterns(pattern: str) -> None:
    with pytest.raises(BadRegex):
        Regex(pattern)
