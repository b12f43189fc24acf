"""Directives: which tests stand above a line, what the branches of a guard do, and what a macro stands for."""

from __future__ import annotations

import pytest

from bwlint.chips import EVERY_TARGET, Target, TargetSet
from bwlint.evaluate.sources import Sources
from bwlint.model.facts import Gate
from bwlint.readers.cuda import read
from bwlint.readers.cuda.lexer import clean
from bwlint.readers.cuda.preprocessor import Directives, directives
from bwlint.world.tree import Tree


def found(source: str) -> Directives:
    return directives(clean(source))


def compiled(source: str, word: str = "HERE") -> TargetSet:
    """The targets for which the line with a word may compile."""
    module = read("/tree/a.cu", source)
    tree = Tree(Sources({}), lambda path, name: None)
    return tree.compiled(module, found(source).path(source.index(word)))


def only_guard(source: str) -> Gate:
    (guard,) = found(source).guards
    return guard


HOPPER = TargetSet.of("90", "90a")
NEWER = TargetSet.where(lambda target: target.number >= 100)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("HERE", EVERY_TARGET),
        ("#if __CUDA_ARCH__ == 900\nHERE\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ == 900\n#endif\nHERE", EVERY_TARGET),
        ("#if __CUDA_ARCH__ != 900\n#else\nHERE\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ == 900\nHERE", HOPPER),
        ("#if __CUDA_ARCH__ < 1000\n#if __CUDA_ARCH__ >= 900\nHERE\n#endif\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ < 900\n#elif __CUDA_ARCH__ < 1000\nHERE\n#endif", HOPPER),
        ("#endif\n#else\n#elif 1\nHERE", EVERY_TARGET),
        ("// #if 0\nHERE", EVERY_TARGET),
        ("/*\n#if 0\n*/ HERE", EVERY_TARGET),
        ("a #if 0\nHERE", EVERY_TARGET),
        ("#iffy 0\nHERE", EVERY_TARGET),
        ("#if\nHERE\n#endif", EVERY_TARGET),
        ("#if __CUDA_ARCH__ >=\nHERE\n#endif", EVERY_TARGET),
        ("#pragma once\n#if __CUDA_ARCH__ == 900 // new\nHERE\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ == \\\n 900\nHERE\n#endif", HOPPER),
        ("#if __CUDA_ARCH__ >= 1000\r\nHERE\r\n#endif\r\n", NEWER),
        ("#elifdef X\n#if __CUDA_ARCH__ >= 1000\nHERE\n#elifndef Y\n#endif", NEWER),
    ],
)
def test_where_a_line_compiles(source: str, expected: TargetSet) -> None:
    assert compiled(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "#ifndef A_H\n#define A_H\nHERE\n#endif",
        "#ifndef A_H\n#define A_H 1\n#if 1\nHERE\n#endif\n#endif",
        "#ifndef STAGES\n#define STAGES 4\n#endif\nHERE",
        "#if 1\nHERE\n#endif",
    ],
)
def test_guards_of_headers_and_defaults_are_no_guards(source: str) -> None:
    assert not found(source).guards
    assert compiled(source) == EVERY_TARGET


@pytest.mark.parametrize(
    ("source", "yes", "no"),
    [
        ("#if A\nx();\n#endif", "", "empty"),
        ("#if A\n#else\nx();\n#endif", "empty", ""),
        ("#if A\n\n#pragma unroll\n#endif", "empty", "empty"),
        ("#if A\n// x\n#endif", "empty", "empty"),
        ("#if A\n#error no\n#endif", "raise", "empty"),
        ("#if A\nx();\n#else\n#error no\n#endif", "", "raise"),
        ('#if A\nstatic_assert(false, "no");\n#endif', "raise", "empty"),
        ("#if A\nKIT_STATIC_ASSERT(false);\n#endif", "raise", "empty"),
        # these compile, and fail where they run
        ('#if A\nasm volatile("trap;");\n#endif', "exit", "empty"),
        ("#if A\nassert(0);\n#endif", "exit", "empty"),
        ("#if A\n__trap();\n#endif", "exit", "empty"),
        ('#if A\nprintf("no");\n__trap();\n#endif', "exit", "empty"),
        ('#if A\nprintf("no");\n#endif', "exit", "empty"),
        ('#if A\nCUTE_INVALID_CONTROL_PATH("no");\n#endif', "exit", "empty"),
        ('#if A\nCUTE_RUNTIME_ASSERT("no");\n#endif', "exit", "empty"),
        ("#if A\nassert(x);\n#endif", "", "empty"),
        ("#if A\nthrow x;\n#else\ny();\n#endif", "exit", ""),
        ("#if A\n#define X 1\n#endif", "tuning", "empty"),
        ("#if A\n#define X 1\n#define Y 2\n#else\n#define X 2\n#endif", "tuning", "tuning"),
        ("#if A\n#define X 1\nx();\n#endif", "", "empty"),
        ("#if A\n#undef X\n#endif", "", "empty"),
        ("#if A\n#include <a.h>\n#endif", "", "empty"),
        ("#if A\n#if 0\n#endif\n#endif", "empty", "empty"),
    ],
)
def test_sides(source: str, yes: str, no: str) -> None:
    guard = found(source).guards[0]
    for side, expected in ((guard.yes, yes), (guard.no, no)):
        shown = "empty" if side.empty else "tuning" if side.tuning else side.ends.removeprefix("fall")
        assert shown == expected


def test_a_chain_is_one_chain_and_its_tests_follow_each_other() -> None:
    source = "#if A\nx\n#elif B\ny\n#else\nz\n#endif"
    first, second = found(source).guards
    assert first.chain == second.chain == 1
    assert (first.position, second.position) == (0, 1)
    assert len(second.path) == 1
    assert source.splitlines()[second.at[0] - 1].startswith("#elif")


def test_a_guard_knows_its_place_text_and_comment() -> None:
    guard = only_guard("// for the family\n#if __CUDA_ARCH__ == 1200 // exact\nx\n#endif")
    assert guard.at == (2, 4, 2, 25)
    assert guard.text == "#if __CUDA_ARCH__ == 1200 // exact"
    assert guard.comment == "for the family exact"


def test_columns_are_bytes() -> None:
    assert only_guard("/* é */ \n/* ü */ #if A == 1\n#endif").at == (2, 13, 2, 19)


@pytest.mark.parametrize(
    ("source", "includes"),
    [
        ('#include "a.h"', ("a.h",)),
        ("#include <a/b.h> // c", ("a/b.h",)),
        ('#include "a.h"\n#include "a.h"', ("a.h",)),
        ("#include MACRO", ()),
        ('#include "', ()),
        ('// #include "a.h"', ()),
    ],
)
def test_includes(source: str, includes: tuple[str, ...]) -> None:
    assert tuple(one.text for one in found(source).includes) == includes


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        ('#include "a.h"', 0),
        ('#ifndef X_H\n#define X_H\n#include "a.h"\n#endif', 0),
        ('#if 1\n#include "a.h"\n#endif', 0),
        ('#ifdef X\n#include "a.h"\n#endif\n#include "a.h"', 0),
        ('#ifdef X\n#include "a.h"\n#endif', 1),
        ('#if __CUDA_ARCH__ >= 900\n#include "a.h"\n#endif', 1),
        ('#ifdef X\n#else\n#include "a.h"\n#endif', 0),
        ('#ifndef X_H\n#define X_H\n#if A\n#if B\n#include "a.h"\n#endif\n#endif\n#endif', 2),
    ],
)
def test_what_an_include_hangs_on(source: str, tests: int) -> None:
    (include,) = found(source).includes
    assert len(include.tests) == tests


@pytest.mark.parametrize(
    ("source", "name", "params"),
    [
        ("#define A", "A", ()),
        ("#define A(x, y) x", "A", ("x", "y")),
        ("#define A (x)", "A", ()),
        ("# define A() 1", "A", ()),
        ("#undef A", "A", ()),
    ],
)
def test_macros(source: str, name: str, params: tuple[str, ...]) -> None:
    (macro,) = found(source).macros.values()
    assert (macro.qualname, macro.params) == (name, params)


def test_what_stands_in_a_directive() -> None:
    source = "#define A b\nc"
    assert found(source).holds(source.index("b"))
    assert not found(source).holds(source.index("c"))


def test_a_target_of_no_suffix_is_no_family_target() -> None:
    assert Target.parse("120") not in compiled("#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__\nHERE\n#endif")
