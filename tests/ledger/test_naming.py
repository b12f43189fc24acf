"""For which generations names are meant."""

from __future__ import annotations

import pytest

from bwlint.chips import ChipSet
from bwlint.ledger.naming import around, generations, group_of, of_file, of_others

ASKED = ChipSet.of("12.0", "12.1")
NAMES = {
    "launch_sm100_gemm": {"10"},
    "ops.cutlass_sm90_mm": {"9"},
    "is_sm120a_supported": {"12"},
    "HopperKernel": {"9"},
    "is_blackwell": {"10", "12"},
    "gemm": set(),
    "search": set(),
    "prism": set(),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name(name: str) -> None:
    assert generations(name) & {"9", "10", "12"} == NAMES[name]


def test_a_file_and_its_folder() -> None:
    assert "9" in of_file("csrc/hopper/gemm.cu")
    assert of_file("csrc/attention/gemm.cu") == frozenset()


@pytest.mark.parametrize(
    ("found", "marks"),
    [
        ({"10"}, {"stands-among-names-of-others"}),
        ({"9", "10"}, {"stands-among-names-of-others"}),
        ({"12"}, {"stands-among-own-names"}),
        ({"10", "12"}, {"stands-among-own-names"}),
        ({"8"}, set()),
        (set(), set()),
    ],
)
def test_the_marks_around_a_question(found: set[str], marks: set[str]) -> None:
    assert around(frozenset(found), ASKED) == marks
    assert of_others(frozenset(found), ASKED) == ("stands-among-names-of-others" in marks)


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/p/csrc/a.cu", "own"),
        ("/p/third_party/cutlass/a.cu", "vendored"),
        ("/p/third-party/a.cu", "vendored"),
        ("/p/thirdparty/a.cu", "vendored"),
        ("/p/3rdparty/a.cu", "vendored"),
        ("/p/External/a.cu", "vendored"),
        ("/p/vendor/a.py", "vendored"),
        ("/p/vendored/a.py", "vendored"),
        ("/p/x/_vendor/a.py", "vendored"),
        ("/p/third_party/generated/a.cu", "vendored"),
        ("/p/vendors/a.py", "own"),
        ("/p/third_party.py", "own"),
        ("/p/external_ops/a.py", "own"),
        ("/p/vendor_neutral/a.py", "own"),
        ("/p/my_third_party/a.py", "own"),
        ("/p/generated/a.cu", "generated"),
        ("/p/autogen_ops/a.cu", "generated"),
        ("/p/gen_kernels/a.cu", "own"),
        ("/p/instantiations/a.cu", "generated"),
        ("/p/a_generated.cu", "generated"),
        ("/p/a.gen.h", "generated"),
        ("/p/generated.py", "own"),
        ("/p/generator/a.py", "own"),
        ("/p/degenerated/a.py", "own"),
        ("/p/rebuild/a.py", "own"),
        ("/p/a.general.h", "own"),
    ],
)
def test_by_its_path(path: str, group: str) -> None:
    assert group_of(path.removeprefix("/p/"), path, lambda real: False) == group


def test_what_no_build_compiles() -> None:
    assert group_of("csrc/a.cu", "/p/csrc/a.cu", lambda real: real == "/p/csrc/a.cu") == "unbuilt"
    assert group_of("vendor/a.cu", "/p/vendor/a.cu", lambda real: True) == "vendored"


def test_a_folder_around_the_project_says_nothing() -> None:
    assert group_of("csrc/a.cu", "/home/vendor/third_party/p/csrc/a.cu", lambda real: False) == "own"
