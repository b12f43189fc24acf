"""arch-target on carries, without a reader: levels, toolkits and what is silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bwlint.chips import ChipSet
from bwlint.evaluate.sources import Sources
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module
from bwlint.run.engine import analyse
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import Collected

BOTH = ChipSet.of("12.0", "12.1")


def levels(*carries: Carry, targets: ChipSet = BOTH, path: str = "/kit/CMakeLists.txt") -> list[str]:
    """What the rule says, as "line level"."""
    module = Module(path=path, language="build", carries=carries)
    file = SourceFile(path, path, "build", "/kit")
    analysis = analyse(Collected(((file, module),), (), ()), Sources({}), targets, ["arch-target"])
    return [f"{draft.at[0]} {draft.severity}" for _, drafts in analysis.drafts for draft in drafts]


def carry(kind: str, sass: str, ptx: str = "", *, line: int = 1, name: str = "X", **more: object) -> Carry:
    at = Span(line, 0, line, 1)
    return Carry(kind, name, tuple(sass.split()), tuple(ptx.split()), at, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "sass", "ptx", "expected"),
    [
        ("kernel", "120a", "", ["1 warning"]),
        ("kernel", "120f", "", []),
        ("kernel", "120", "", []),
        ("kernel", "120a 121a", "", []),
        ("kernel", "121a", "", ["1 warning"]),
        ("kernel", "121", "", ["1 note"]),
        ("kernel", "90a 100a", "", []),
        ("kernel", "80 120a", "80", ["1 note"]),
        ("request", "80 90 120a", "", ["1 warning"]),
        ("request", "120a", "", ["1 note"]),
        ("request", "80 90 100 120", "", []),
        ("request", "80 90 100", "", ["1 warning"]),
        ("request", "80 90", "90", []),
        ("request", "80 90", "", ["1 note"]),
        ("request", "80 90a 100a", "", ["1 note"]),
        ("gencode", "80 90", "", ["1 warning"]),
        ("gencode", "80 90a 100a", "", []),
        ("gencode", "90 100 103", "", ["1 note"]),
        ("list", "80 90", "", ["1 note"]),
        ("request", "80 86", "", []),
        ("request", "80 90a", "", []),
        ("request", "90a 100a", "", []),
        ("request", "80 90a 100f 120", "", ["1 note"]),
        ("request", "80 90a 100 120", "", []),
        ("request", "120 120f", "", ["1 warning"]),
        ("list", "120 120f", "", ["1 error"]),
        ("list", "89a 120", "", ["1 error"]),
        ("filter", "100a 120a", "", ["1 warning"]),
        ("filter", "100 120", "", ["1 note"]),
        ("filter", "120a 121a", "", []),
        ("filter", "120a 120f 121a", "", ["1 note"]),
        ("filter", "120 120f 121", "", []),
        ("filter", "120 121a", "", []),
        ("filter", "100a 100f 103a 120f 121f", "", []),
        ("match", "120a 120f 121a", "", []),
        ("filter", "100a", "", []),
        ("match", "120a 120f", "", ["1 warning"]),
        ("match", "120a 121a", "", ["1 warning"]),
        ("match", "120a 121a 121f", "", []),
        ("match", "120 120a 121a", "", []),
        ("match", "120 120a 121 121a", "", ["1 warning"]),
        ("match", "100a 103a", "", []),
        ("file", "", "120a", ["1 note"]),
        ("file", "", "121", ["1 note"]),
        ("file", "", "120", []),
        ("file", "", "90", []),
        ("file", "", "100a", []),
        ("list", "9000", "", []),
        ("list", "52 61", "", []),
    ],
)
def test_levels(kind: str, sass: str, ptx: str, expected: list[str]) -> None:
    assert levels(carry(kind, sass, ptx)) == expected


@pytest.mark.parametrize(
    ("sass", "toolkit", "expected"),
    [
        ("120a", ("", "12.9"), []),
        ("120a", ("12.8", "12.9"), []),
        ("120a", ("12.9", "13.0"), ["1 warning"]),
        ("120a", ("", "13.0"), ["1 warning"]),
        ("120f", ("12.8", ""), ["1 warning"]),
        ("121", ("12.8", ""), ["1 warning", "1 note"]),
        ("120", ("12.8", ""), []),
        ("120f", ("12.9", ""), []),
        ("110a 120f", ("12.9", ""), ["1 warning"]),
        ("120f", ("", "13.0"), []),
        ("120", ("", "12.8"), ["1 warning"]),
        ("80 90", ("", "12.8"), []),
    ],
)
def test_toolkits(sass: str, toolkit: tuple[str, str], expected: list[str]) -> None:
    found = levels(carry("list", sass, toolkit=toolkit))
    assert found == expected[:1]


def test_pieces_add_up_under_a_common_toolkit() -> None:
    late = carry("piece", "121a", line=2, toolkit=("12.9", ""))
    assert levels(carry("list", "120a"), late) == []
    assert levels(carry("list", "120a", toolkit=("", "12.9")), late) == ["2 warning"]
    assert levels(carry("list", "120a"), carry("list", "121a", line=2)) == ["1 warning", "2 warning"]


def test_flags_of_a_file_add_up() -> None:
    exact = carry("gencode", "120a", name="", text="120a")
    assert levels(exact) == ["1 warning"]
    assert levels(exact, carry("option", "120f", line=2)) == []


def test_flags_add_up_toolkit_by_toolkit() -> None:
    exact = carry("gencode", "120a", name="", text="120a", toolkit=("12.8", ""))
    late = carry("gencode", "121a", name="", text="121a", line=2, toolkit=("13.0", ""))
    assert levels(exact, late) == ["1 warning"]  # 12.9 could build 121a
    assert levels(exact, carry("gencode", "121a", name="", text="121a", line=2, toolkit=("12.9", ""))) == []


def test_later_toolkits_count_where_an_earlier_one_has_no_choice() -> None:
    exact, early = carry("piece", "120a"), carry("piece", "90a", line=2, toolkit=("", "12.9"))
    assert levels(exact, early, carry("piece", "121a", line=3, toolkit=("12.9", "13.0"))) == ["1 warning"]
    assert levels(exact, early, carry("piece", "121a", line=3, toolkit=("12.9", ""))) == []


def test_pairs() -> None:
    assert levels(carry("gencode", "121a", text="120a"), carry("gencode", "120f", text="120f", line=2)) == ["1 error"]
    assert levels(carry("gencode", "121", text="120f"), carry("gencode", "120", text="120", line=2)) == []


def test_hosts() -> None:
    assert levels(carry("request", "90 120a", host="x86_64")) == []
    assert levels(carry("request", "90 120a", host="aarch64")) == ["1 warning"]


def test_lists_of_two_hosts_are_held_against_each_other() -> None:
    x86, arm = carry("request", "90a 100a 120f", host="x86_64"), carry("request", "90a 100a", line=2, host="aarch64")
    assert levels(x86, arm) == ["2 warning"]
    assert levels(x86) == []
    assert levels(arm) == []
    assert levels(replace(arm, host="x86_64"), replace(x86, host="aarch64")) == []


def test_one_list_in_several_places_is_one_finding() -> None:
    first, again = carry("request", "80 120a"), carry("request", "80 120a", line=2)
    assert levels(first, again) == ["1 warning"]
    assert levels(first, replace(again, name="OTHER")) == ["1 warning", "2 warning"]


def test_a_row_of_one_name_without_the_chips_that_another_has() -> None:
    wide = carry("request", "80 90 120", line=2, name="X_ARCHS")
    assert levels(carry("request", "80 90a 100f", name="X_ARCHS"), wide) == ["1 warning"]
    assert levels(carry("request", "80 90a 100f", name="Y_ARCHS"), wide) == ["1 note"]
    assert levels(carry("request", "90a 100f", name="X_ARCHS"), wide) == []


def test_a_list_that_a_test_of_old_toolkits_leaves_to_new_ones() -> None:
    old, new = (carry("request", "80 90", toolkit=toolkit) for toolkit in (("", "12.8"), ("13.0", "")))
    known = carry("request", "80 90 120", line=2, toolkit=("12.8", "13.0"))
    assert levels(old, new, known) == ["2 warning"]
    assert levels(old, carry("request", "80 90 120", line=2, toolkit=("12.8", ""))) == []


def test_the_longest_of_several_lists_counts() -> None:
    assert levels(carry("request", "80 86", name="X"), carry("request", "80 90", line=2, name="X")) == ["2 note"]


def test_each_toolkit_adds_its_chips_up_to_one() -> None:
    steps = [carry("piece", "86", "86", toolkit=("11.1", "")), carry("piece", "89", "89", line=2, toolkit=("11.8", ""))]
    assert levels(*steps) == ["2 warning"]
    assert levels(*steps, carry("piece", "120", "120", line=3, toolkit=("12.8", ""))) == []
    assert levels(steps[0]) == ["1 note"]


def test_names_that_a_build_takes_but_makes_for_another_chip() -> None:
    apart = carry("kernel", "120a 121a", line=2, name="K")
    family = carry("kernel", "120f 121f", line=2, name="K")
    assert levels(carry("filter", "90 120"), apart) == ["1 warning"]
    assert levels(carry("filter", "90 120"), family) == ["1 note"]
    assert levels(carry("filter", "90 120 121"), apart) == []


def test_sparse_fp4_is_for_exact_targets() -> None:
    assert levels(carry("match", "120a 121a", sources=("nvfp4_sparse_gemm.cu",))) == ["1 note"]
    assert levels(carry("match", "120a 121a", sources=("nvfp4_gemm.cu",))) == ["1 warning"]


def test_sources_named_for_another_part() -> None:
    assert levels(carry("kernel", "100f 120f", sources=("mla_sm100.cu",))) == ["1 note"]
    assert levels(carry("kernel", "100f 120f", sources=("mla_sm100.cu", "mla.cu"))) == []
    assert levels(carry("kernel", "90a 120f", sources=("gemm_sm90.cu",))) == []
    assert levels(carry("kernel", "100f 120f", sources=("gemm_sm100_sm120.cu",))) == []


def test_conditions_of_one_file_may_share_the_chips() -> None:
    assert levels(carry("match", "120a"), carry("match", "121a", line=2)) == []
    assert levels(carry("match", "120a"), carry("match", "120a 121a", line=2)) == ["1 warning", "2 warning"]


def test_other_chips_are_asked_about() -> None:
    assert levels(carry("kernel", "100a"), targets=ChipSet.of("10.0", "10.3")) == ["1 warning"]
    assert levels(carry("kernel", "120a"), targets=ChipSet.of("12.0")) == []
    assert levels(carry("kernel", "120a"), targets=ChipSet.of("9.0")) == []


def test_tests_have_a_category_of_their_own() -> None:
    path = "/kit/test/unit/CMakeLists.txt"
    module = Module(path=path, language="build", carries=(carry("match", "120a"),))
    collected = Collected(((SourceFile(path, path, "build", "/kit"), module),), (), ())
    analysis = analyse(collected, Sources({}), BOTH, ["arch-target"])
    assert [draft.category for _, drafts in analysis.drafts for draft in drafts] == ["test-gate"]


@pytest.mark.parametrize(
    ("sass", "path", "expected"),
    [
        ("80 86 89 90a", "/kit/Dockerfile", ["1 warning"]),
        ("80 86 90a", "/kit/Dockerfile", ["1 note"]),
        ("80 86 89 90a", "/kit/.github/workflows/ci.yml", ["1 note"]),
        ("80 86 89 90a", "/kit/docker/Dockerfile.test", ["1 note"]),
        ("80 86 89 90a 120f", "/kit/Dockerfile", []),
    ],
)
def test_a_list_for_the_cards_before_them(sass: str, path: str, expected: list[str]) -> None:
    assert levels(carry("request", sass, name="TORCH_CUDA_ARCH_LIST"), path=path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/kit/Dockerfile", ["1 warning"]),
        ("/kit/docker/Dockerfile.ci.dev", ["1 note"]),
        ("/kit/.github/workflows/install-test.yml", ["1 note"]),
        ("/kit/.github/workflows/nightly-release.yml", ["1 warning"]),
        ("/kit/.github/workflows/publish.yml", ["1 warning"]),
        ("/kit/.github/scripts/build-cuda.sh", ["1 warning"]),
        ("/kit/specific/Dockerfile", ["1 warning"]),
    ],
)
def test_what_is_built_for_machines_of_the_project_itself(path: str, expected: list[str]) -> None:
    assert levels(carry("request", "80 86 89 90 100", name="TORCH_CUDA_ARCH_LIST"), path=path) == expected


def test_each_list_of_flags_stands_for_itself() -> None:
    whole = (carry("gencode", "80", line=1, group="f 1"), carry("gencode", "120", line=2, group="f 1"))
    short = (carry("gencode", "80", line=3, group="f 2"), carry("gencode", "90", line=4, group="f 2"))
    assert levels(*whole, *short) == ["4 warning"]
    assert levels(*whole) == []


@pytest.mark.parametrize(
    ("first", "second", "line", "expected"),
    [
        ("120", "120f", 1, ["1 warning"]),
        ("120f", "120", 1, ["1 warning"]),
        ("120", "120f", 2, []),
        ("120a", "120f", 1, []),
        ("120", "121", 1, []),
        ("90", "120f", 1, []),
    ],
)
def test_flags_of_one_line(first: str, second: str, line: int, expected: list[str]) -> None:
    assert levels(carry("gencode", first), carry("gencode", second, line=line)) == expected


@pytest.mark.parametrize(
    ("kind", "sass", "ptx", "expected"),
    [
        ("kernel", "80 89 90", "", ["1 warning"]),
        ("kernel", "80 89 90", "80", []),
        ("kernel", "80 89 90a", "", []),
        ("kernel", "80 86 89", "", []),
        ("kernel", "90 100", "", []),
        ("kernel", "80", "", []),
        ("filter", "80 86 89 90", "", ["1 warning"]),
        ("filter", "80 86 89", "", []),
        ("filter", "75 80 86 89", "", ["1 warning"]),
        ("filter", "80 90a 100a", "", []),
        ("filter", "80 90 120", "120", ["1 note"]),
    ],
)
def test_kernels_and_names_that_stop_early(kind: str, sass: str, ptx: str, expected: list[str]) -> None:
    assert levels(carry(kind, sass, ptx)) == expected


def test_kernels_that_another_list_of_theirs_builds() -> None:
    old, new = (carry("kernel", sass, name=sass, sources=("k.cu",)) for sass in ("80 90", "120f"))
    assert levels(old, new) == []
    assert levels(old, carry("kernel", "120f", name="Y", sources=("other.cu",))) == ["1 warning"]


def test_kernels_of_a_build_that_takes_no_asked_chip() -> None:
    accepted, kernel = carry("filter", "80 86 90", name="A"), carry("kernel", "80 90", line=2)
    assert levels(accepted, kernel) == ["1 warning"]
    assert levels(carry("filter", "80 90 120 121", name="A"), kernel) == ["2 warning"]


@pytest.mark.parametrize(
    ("names", "sources", "expected"),
    [
        (("120f", "120a 121a"), ("mla/sm100_kernel.cu",), ["1 note"]),
        (("100f", "120a 121a"), ("mla/sm100_kernel.cu",), ["2 note"]),
        (("120f", "120a 121a"), ("mla/kernel.cu",), []),
        (("120f", "120a 121a"), ("mla/sm100_kernel.cu", "mla/common.cu"), []),
        (("100f", "100a"), ("mla/sm100_kernel.cu",), []),
    ],
)
def test_one_source_under_two_toolkits_is_one_finding(
    names: tuple[str, str], sources: tuple[str, ...], expected: list[str]
) -> None:
    found = [
        carry("kernel", sass, line=line, sources=sources, toolkit=bounds)
        for (line, sass), bounds in zip(enumerate(names, 1), (("13.0", ""), ("", "13.0")), strict=True)
    ]
    assert levels(*found) == expected


@pytest.mark.parametrize("chips", [("9.0",), ("8.0", "8.6"), ("9.0", "12.0", "12.1")])
def test_a_condition_about_chips_that_no_family_target_serves(chips: tuple[str, ...]) -> None:
    assert levels(carry("match", "90a"), targets=ChipSet.of(*chips)) == []
