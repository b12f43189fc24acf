"""Elements of lists and flags, in every spelling."""

from __future__ import annotations

import pytest

from bwlint.chips.flags import PLAIN, find_flags
from bwlint.readers.buildfiles.targets import parse_list


@pytest.mark.parametrize(
    ("text", "sass", "ptx"),
    [
        ("8.0 9.0a 12.0+PTX", "80 90a 120", "120"),
        ("80;90a-real;120-virtual", "80 90a", "120"),
        ("sm_120a,sm_121a", "120a 121a", ""),
        ("compute_90", "90", ""),
        ("9.0a;", "90a", ""),
        ("12.0F", "120f", ""),
        ("5.2", "52", ""),
    ],
)
def test_lists(text: str, sass: str, ptx: str) -> None:
    listed = parse_list(text)
    assert listed is not None
    assert (" ".join(listed.sass), " ".join(listed.ptx)) == (sass, ptx)


@pytest.mark.parametrize(
    "text", ["", " ; ", "native", "all-major", "8.0 x86", "90 ${MORE}", "1.2.3", "20", "0 1", "9" * 9000]
)
def test_no_lists(text: str) -> None:
    assert parse_list(text) is None


def test_cmake_keeps_ptx_of_bare_elements() -> None:
    listed = parse_list("80;90-real", with_ptx=True)
    assert listed is not None
    assert (listed.sass, listed.ptx) == (("80", "90"), ("80",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-gencode arch=compute_120f,code=sm_120", [("120f", ("120",), ())]),
        ("-gencode=arch=compute_90a,code=sm_90a", [("90a", ("90a",), ())]),
        ("arch=compute_80,code=[sm_80,compute_80]", [("80", ("80",), ("80",))]),
        ('arch=compute_80,code=\\"sm_80,compute_80\\"', [("80", ("80",), ("80",))]),
        ("arch=compute_90,code=compute_90", [("90", (), ("90",))]),
        ("-arch=sm_121a", [("121a", ("121a",), ("121", "121a"))]),
        ("-arch=sm_121", [("121", ("121",), ("121",))]),
        ("-arch=compute_120f", [("120f", (), ("120", "120f"))]),
        ("nvcc -cubin -arch=sm_120a", [("120a", ("120a",), ())]),
        ("nvcc --ptx -arch=sm_120a", [("120a", (), ("120a",))]),
        ("ptxas -arch=sm_120a k.ptx", [("120a", ("120a",), ())]),
        ("nvcc -Xptxas -v -arch=sm_90a", [("90a", ("90a",), ("90", "90a"))]),
        ("-arch=compute_120a -code=sm_120a,compute_120a", [("120a", ("120a",), ("120a",))]),
        ("-arch=compute_80 -code=$(CODE)", []),
        ("--gpu-name sm_120a", [("120a", ("120a",), ())]),
        ("--gpu-architecture sm_90a", [("90a", ("90a",), ("90", "90a"))]),
        ("--gpu-arch sm_120a --opt-level 3", [("120a", ("120a",), ("120a",))]),
        ("-gencode arch=compute_{n},code=sm_{n}", []),
        ("arch=compute_80,code=lto_80", []),
        ("-arch=native", [("native", PLAIN, ())]),
        ("-arch=all-major", [("all-major", PLAIN, ())]),
        ("-arch=nativeish", []),
        ("-march=sm_80", []),
        ("-arch=sm_80${x}", []),
    ],
)
def test_flags(text: str, expected: list[tuple[str, tuple[str, ...], tuple[str, ...]]]) -> None:
    assert [(flag.arch, flag.sass, flag.ptx) for flag in find_flags(text)] == expected
