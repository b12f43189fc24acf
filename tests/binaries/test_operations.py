"""Operations without a kernel for a chip: names less their tags, over all containers of a wheel."""

from __future__ import annotations

import pytest
from libraries import library

from bwlint.binaries.operations import operations
from bwlint.binaries.shipments import DeviceLibrary, KernelOperation
from bwlint.chips import ChipSet

CONSUMER = ChipSet.of("12.0", "12.1")
SERVED = "sm_120f: base"


def found(*libraries: DeviceLibrary, asked: ChipSet = CONSUMER) -> dict[str, tuple[str, ...]]:
    """Names of operations, and the chips that have no kernel for them."""
    return {one.name: one.unserved for one in operations(libraries, asked)}


@pytest.mark.parametrize(
    "units",
    [
        [],
        # Everything runs, in one way or another.
        ["sm_120f: gemm"],
        ["sm_120: gemm", "sm_80 ptx_80: copy"],
        ["sm_120a sm_121a: gemm"],
        # A variant for the chip stands in another container: its tag and template arguments are no part of its name.
        [SERVED, "sm_90 sm_100: gemm", "sm_120f: gemm"],
        [SERVED, "sm_80 sm_90: gemm_sm90", "ptx_120: gemm_sm120"],
        [SERVED, "sm_80 sm_90: _Z4gemmILi90EEvv", "sm_120f: _Z4gemmILi120EEvv"],
        [SERVED, "sm_80 sm_90: _ZN2fa8fwd_sm90Ev", "sm_120f: _ZN2fa9fwd_sm120Ev"],
        # A container for one other family or generation asks for nothing.
        [SERVED, "sm_90a: gemm_sm90"],
        [SERVED, "sm_100f sm_103a: gemm"],
        [SERVED, "sm_75: gemm"],
        [SERVED, "sm_120a sm_121a: gemm", "sm_110: gemm"],
        # A library of no use is a finding of its own, with all that is in it.
        ["sm_80 sm_90: gemm copy"],
        ["sm_90a: gemm", "sm_100f: gemm"],
        # Kernels that were not looked for.
        [SERVED, "sm_80 sm_90"],
        [SERVED, ""],
    ],
)
def test_nothing_is_missing(units: list[str]) -> None:
    assert found(library("w/a.so", *units)) == {}


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([SERVED, "sm_80 sm_90: gemm"], {"gemm": ("12.0", "12.1")}),
        ([SERVED, "sm_80 sm_90: gemm_sm90 copy"], {"copy": ("12.0", "12.1"), "gemm": ("12.0", "12.1")}),
        ([SERVED, "sm_80 sm_90: gemm", "sm_75 sm_90: gemm"], {"gemm": ("12.0", "12.1")}),
        ([SERVED, "sm_80 sm_90: _ZN2fa8fwd_sm90ILi64EEEvv"], {"fa::fwd": ("12.0", "12.1")}),
        # For one of the two alone.
        ([SERVED, "sm_90 sm_120a: gemm"], {"gemm": ("12.1",)}),
        ([SERVED, "sm_90 sm_121: gemm"], {"gemm": ("12.0",)}),
        ([SERVED, "sm_90 sm_100: gemm", "sm_120a: gemm"], {"gemm": ("12.1",)}),
        # One of two operations has a variant.
        ([SERVED, "sm_80 sm_90: gemm copy", "ptx_80: copy"], {"gemm": ("12.0", "12.1")}),
    ],
)
def test_operations_without_a_variant(units: list[str], expected: dict[str, tuple[str, ...]]) -> None:
    assert found(library("w/a.so", *units)) == expected


def test_a_variant_in_another_library_of_the_wheel() -> None:
    lacking = library("w/a.so", SERVED, "sm_80 sm_90: gemm copy")
    assert found(lacking, library("w/b.so", "sm_120f: gemm")) == {"copy": ("12.0", "12.1")}
    assert found(library("w/b.so", "sm_120a: gemm"), lacking) == {"copy": ("12.0", "12.1"), "gemm": ("12.1",)}
    # A library that a chip does not run at all is not asked for its operations, and has none to give.
    assert found(lacking, library("w/b.so", "sm_80 sm_90: gemm other")) == {
        "copy": ("12.0", "12.1"),
        "gemm": ("12.0", "12.1"),
    }


def test_chips_that_are_asked_for() -> None:
    one = library("w/a.so", "sm_90: base", "sm_120f: base", "sm_80 sm_100: gemm")
    assert found(one, asked=ChipSet.of("9.0")) == {"gemm": ("9.0",)}
    assert found(one, asked=ChipSet.of("9.0", "12.0")) == {"gemm": ("9.0", "12.0")}
    assert found(one, asked=ChipSet.of("10.0")) == {}
    # Nothing else of it runs on 8.0.
    assert found(library("w/a.so", "sm_90: base"), asked=ChipSet.of("8.0")) == {}


def test_what_is_said_of_one() -> None:
    first = library("w/a.so", SERVED, "sm_80 sm_90: _Z4gemmv")
    second = library("w/b.so", SERVED, "sm_90a sm_100f: _Z4gemmv fwd_64x64x128_sm100")
    ampere = ("8.0", "8.6", "8.8", "8.9")
    assert operations([first, second], CONSUMER) == (
        KernelOperation(
            "fwd_64x64x128",
            ("12.0", "12.1"),
            "w/b.so",
            "cubins for sm_90a, sm_100f, no PTX",
            is_specific=True,
            served=("9.0", "10.0", "10.3", "10.7"),
            # Numbers in a C name stand for template arguments.
            is_sure=False,
        ),
        KernelOperation(
            "gemm",
            ("12.0", "12.1"),
            "w/a.so",
            "cubins for sm_80, sm_90, no PTX",
            # One variant for several chips is enough to be meant for all.
            is_specific=False,
            served=(*ampere, "9.0", "10.0", "10.3", "10.7"),
            is_sure=True,
        ),
    )


@pytest.mark.parametrize(
    ("kernel", "is_sure"),
    [
        ("_Z4gemmv", True),
        ("_ZN2fa3fwdILi64ELi128ELi8EEEvv", True),
        ("gemm", True),
        ("gemm_f16", True),
        ("gemm_f16_v2", True),
        ("gemm_f16_128x64", False),
        ("fmhaSm100fKernel_QkvE4m3OBfloat16H128", False),
    ],
)
def test_names_in_c_are_less_sure(kernel: str, is_sure: bool) -> None:
    (one,) = operations([library("w/a.so", SERVED, f"sm_80 sm_90: {kernel}")], CONSUMER)
    assert one.is_sure == is_sure
