"""Releases of CUDA, PTX versions and drivers."""

from __future__ import annotations

import pytest

from bwlint.chips import chip
from bwlint.chips.drivers import driver_for_chip, driver_for_cubin, driver_for_jit, jit_seconds, minimum, toolkit_of_isa
from bwlint.chips.toolkits import releases
from bwlint.data import table

Version = tuple[int, int]
KINDS = ("assembled", "run", "read", "reported", "documented")


@pytest.mark.parametrize(
    ("isa", "toolkit", "driver"),
    [
        ((6, 5), "10.2", "440.33"),
        ((7, 0), "11.0", "450.51.05"),
        ((8, 0), "12.0", "525.60.13"),
        ((8, 5), "12.5", "555.42.02"),
        ((8, 6), "12.7", "565.57.01"),
        ((8, 7), "12.8", "570.26"),
        ((8, 8), "12.9", "575.51.03"),
        ((9, 0), "13.0", "580.65.06"),
        ((9, 3), "13.3", "610.43.02"),
        ((9, 5), "13.5", None),
        ((6, 4), None, None),
        ((8, 9), None, None),
        ((9, 6), None, None),
        ((0, 0), None, None),
    ],
)
def test_of_an_isa(isa: Version, toolkit: str | None, driver: str | None) -> None:
    assert toolkit_of_isa(isa) == toolkit
    assert driver_for_jit(isa) == driver


@pytest.mark.parametrize(
    ("toolkit", "driver"),
    [
        ((10, 2), "440.33"),
        ((11, 0), "450.36.06"),
        ((11, 1), "450.80.02"),
        ((11, 8), "450.80.02"),
        ((12, 0), "525.60.13"),
        ((12, 7), "525.60.13"),
        ((12, 9), "525.60.13"),
        ((13, 0), "580.65.06"),
        ((13, 5), "580.65.06"),
        ((10, 1), None),
        ((9, 2), None),
        ((14, 0), None),
        ((0, 0), None),
    ],
)
def test_of_a_cubin(toolkit: Version, driver: str | None) -> None:
    assert driver_for_cubin(toolkit) == driver


def test_of_windows() -> None:
    assert driver_for_jit((8, 7), "windows") == driver_for_chip(chip("12.0"), "windows") == "570.65"
    assert (driver_for_cubin((12, 9), "windows"), driver_for_cubin((13, 2), "windows")) == ("528.33", "580")
    # None comes with the release: the branch that the PTX ISA names.
    assert driver_for_jit((9, 0), "windows") == "580"
    assert driver_for_jit((7, 8), "windows") is None


@pytest.mark.parametrize(
    ("drivers", "least"),
    [
        (("525.60.13", "580.65.06"), "580.65.06"),
        (("570.26", "570.124.06"), "570.124.06"),
        (("570.26", None), None),
        ((None,), None),
        ((), None),
    ],
)
def test_minimum(drivers: tuple[str | None, ...], least: str | None) -> None:
    assert minimum(*drivers) == least


def test_rows_ascend_and_name_their_sources() -> None:
    content = table("drivers")
    rows = content["release"]
    for key in ("cuda", "isa", "driver", "windows"):
        found = [tuple(map(int, row[key].split("."))) for row in rows if key in row]
        assert found == sorted(found)
    assert all(source.startswith(KINDS) for source in content["sources"].values())
    named = {key for row in (*rows, *content["compatible"], content["jit"]) for key in row["source"].split()}
    assert named == set(content["sources"])


def test_every_release_of_a_toolkit_has_a_row() -> None:
    assert set(releases()) <= {row["cuda"] for row in table("drivers")["release"]}


def test_jit_takes_longer_for_more() -> None:
    (least, most), (twice, _) = jit_seconds(1_000_000), jit_seconds(2_000_000)
    assert 1 < least < most < 10
    assert twice == 2 * least
