"""Macros on compile targets: whose definition counts, and what stays open."""

from __future__ import annotations

import pytest

from bwlint.chips import EVERY_TARGET, NO_TARGET, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.model.expr import Expr, Span
from bwlint.readers.cuda import read
from bwlint.world.tree import Tree

HOPPER = TargetSet.of("90", "90a")
CONSUMER = TargetSet.of("120", "120f", "120a")


def sets(source: str, **headers: str) -> tuple[TargetSet, TargetSet]:
    """Where the last guard of a file may and must hold; `headers` are other files of the tree."""
    tree = Tree(Sources({}), lambda path, name: None)
    module = read("/tree/a.cu", source)
    tree.headers.add(module)
    for name, text in headers.items():
        tree.headers.add(read(f"/tree/{name}.h", text))
    found = tree.target_sets(module, module.guards[-1])
    return (found.may, found.must) if found else (EVERY_TARGET, NO_TARGET)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#define A __CUDA_ARCH__ == 900\n#if A\n#endif", HOPPER),
        ("#define A (B)\n#define B __CUDA_ARCH__\n#if A == 1200\n#endif", CONSUMER),
        ("#define A 1\n#undef A\n#if __CUDA_ARCH__ == 1200 && !defined(A)\n#endif", CONSUMER),
        ("#if __CUDA_ARCH__ == 900\n#define A\n#endif\n#ifdef A\n#endif", HOPPER),
        ("#define A 900\n#undef A\n#define A 1200\n#if __CUDA_ARCH__ == A\n#endif", CONSUMER),
        ("#define A 1200\n#ifndef A\n#define A 900\n#endif\n#if __CUDA_ARCH__ == A\n#endif", CONSUMER),
        ("#ifndef A\n#define A 900\n#endif\n#if __CUDA_ARCH__ == A\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ == A\n#endif\n#define A 900\n#if __CUDA_ARCH__ == 900 && A\n#endif", HOPPER),
        ("#define F(a, b) (__CUDA_ARCH__ >= a && __CUDA_ARCH__ < b)\n#if F(900, 1000)\n#endif", HOPPER),
        ("#define F(a) (__CUDA_ARCH__ == a)\n#define G(a) F(a)\n#if G(900) || G(1)\n#endif", HOPPER),
        ("#define A A\n#if __CUDA_ARCH__ == 900 + A\n#endif", HOPPER),
        ("#define A B\n#define B A\n#if __CUDA_ARCH__ == 900 + A\n#endif", HOPPER),
        (
            "#define MADE(major, minor) ((major) * 100 + (minor))\n#define V MADE(__GNUC__, 0)\n"
            "#define AT_LEAST(major, minor) (V >= MADE(major, minor))\n"
            "#if __CUDA_ARCH__ == 900 && defined(AT_LEAST)\n#endif",
            HOPPER,
        ),
        ("#if __CUDA_ARCH_FEAT_SM90_ALL\n#endif", TargetSet.of("90a")),
        ("#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\n#endif", TargetSet.of("90a")),
        ("#if defined(__HIP_PLATFORM_AMD__) || __CUDA_ARCH__ == 900\n#endif", HOPPER),
    ],
)
def test_definitions_of_the_file(source: str, expected: TargetSet) -> None:
    assert sets(source) == (expected, expected)


@pytest.mark.parametrize(
    "source",
    [
        "#if __CUDA_ARCH__ == 900 && OPTION\n#endif",
        "#if __CUDA_ARCH__ == 900 && defined(OPTION)\n#endif",
        "#if __CUDA_ARCH__ == 900 && !defined(OPTION)\n#endif",
        "#if __CUDA_ARCH__ == 900 && __has_include(<a.h>)\n#endif",
        "#ifdef OPTION\n#define A 1\n#endif\n#if __CUDA_ARCH__ == 900 && defined(A)\n#endif",
        "#define A a ## b\n#if __CUDA_ARCH__ == 900 && A\n#endif",
    ],
)
def test_what_a_build_may_define_stays_open(source: str) -> None:
    assert sets(source) == (HOPPER, NO_TARGET)


HEADER = "#if __CUDA_ARCH__ == 900\n#define A 1\n#endif\n"
ASKS = "#ifdef A\n#endif"


@pytest.mark.parametrize(
    ("source", "headers", "expected"),
    [
        (f'#include "b.h"\n{ASKS}', {"b": HEADER}, HOPPER),
        (f'#include "b.h"\n{ASKS}', {"b": '#include "c.h"', "c": HEADER}, HOPPER),
        (f'#include "b.h"\n{ASKS}', {"b": "#define A (B == 900)\n#define B __CUDA_ARCH__"}, EVERY_TARGET),
        (f'#include "b.h"\n{ASKS}', {"b": HEADER + "#undef A\n"}, NO_TARGET),
        (f'#include "b.h"\n#if __CUDA_ARCH__ == 1200\n#define A\n#endif\n{ASKS}', {"b": HEADER}, HOPPER | CONSUMER),
        (f'#include "b.h"\n#undef A\n{ASKS}', {"b": HEADER}, NO_TARGET),
        (f"{ASKS}", {"b": HEADER}, HOPPER),
    ],
)
def test_definitions_of_headers(
    source: str, headers: dict[str, str], expected: TargetSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bwlint.world.headers.resolve", lambda folder, text: f"/tree/{text}")
    tree = Tree(Sources({}), lambda path, name: None)
    module = read("/tree/a.cu", source)
    tree.headers.add(module)
    for name, text in headers.items():
        tree.headers.add(read(f"/tree/{name}.h", text))
    assert tree.compiled(module, (Expr("defined", ("A",), Span(99, 0, 99, 1)),)) == expected


def test_of_two_files_that_nobody_includes_none_counts() -> None:
    may, must = sets(f"{ASKS}", b=HEADER, c="#define A 1\n")
    assert (may, must) == (EVERY_TARGET, NO_TARGET)


@pytest.mark.parametrize(
    ("macro", "expected"),
    [
        # what gcc -E leaves of cute/arch/config.hpp for each target
        ("CUTLASS_ARCH_MMA_SM90_ENABLED", ("90", "90a")),
        ("CUTE_ARCH_MMA_SM90A_ENABLED", ("90a",)),
        ("CUTE_ARCH_MMA_SM120_ENABLED", ("120", "120a", "120f", "121", "121a", "121f")),
    ],
)
def test_targets_of_a_library_macro(macro: str, expected: tuple[str, ...]) -> None:
    found = TargetSet.of(*expected)
    assert sets(f"#ifdef {macro}\n#endif") == (found, found)


def test_a_library_that_is_not_in_the_tree() -> None:
    assert sets("#ifdef CUTLASS_ARCH_MMA_SM90_ENABLED\n#endif")[0] == HOPPER
    assert (
        sets("#define CUTLASS_ARCH_MMA_SM90_ENABLED\n#if CUTLASS_ARCH_MMA_SM90_ENABLED && A\n#endif")[0] == EVERY_TARGET
    )
