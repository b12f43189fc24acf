from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from bwlint.binaries.shipments import DeviceLibrary, Shipment, Tally
from bwlint.report.inspection_table import MOST_ROWS, InspectionCell, draw, relative, shortened
from bwlint.report.snippet import columns
from bwlint.report.text import painter

MakeLibrary = Callable[..., DeviceLibrary]

SOLD = ("7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "10.7", "11.0", "12.0", "12.1")


def drawn(
    libraries: list[DeviceLibrary], chips: tuple[str, ...] = ("12.0", "12.1"), width: int = 120, name: str = "w"
) -> str:
    shipment = Shipment(name, tuple(libraries))
    return "\n".join(draw(shipment, chips, width, painter(False)))


@pytest.mark.parametrize(
    ("tally", "word", "text", "compact"),
    [
        (Tally(native=3), "all", "all", "all"),
        (Tally(family=3), "all", "all", "all"),
        (Tally(native=2, family=1), "all", "all", "all"),
        (Tally(native=2, jit=1), "jit", "jit", "jit"),
        (Tally(jit=3), "jit", "jit", "jit"),
        (Tally(link=1), "link", "link", "link"),
        (Tally(native=1, jit=1, link=1), "link", "link", "link"),
        (Tally(none=3), "none", "none", "none"),
        (Tally(none=3, specialised=3), "none", "none", "none"),
        (Tally(native=85, jit=6, none=27), "partial", "91/118", "91"),
        (Tally(link=1, none=1), "partial", "1/2", "1"),
        (Tally(), "-", "-", "-"),
        (None, "?", "?", "?"),
    ],
)
def test_cells(tally: Tally | None, word: str, text: str, compact: str) -> None:
    cell = InspectionCell.of(tally)
    assert (cell.word, cell.text(False), cell.text(True)) == (word, text, compact)


def test_a_table(library: MakeLibrary) -> None:
    found = drawn(
        [
            library("w/pkg/b.so", {"12.0": {"native": 2}, "12.1": {"family": 1, "jit": 1}}),
            library("w/pkg/a.so", {"12.0": {"native": 9, "none": 1}, "12.1": {"none": 10}}, toolkit=(13, 0)),
            library("w/c.so", {"12.0": {"jit-link": 1}}, toolkit=None),
        ]
    )
    assert found == (
        "file      CUDA  containers  12.0  12.1\n"
        "c.so                     1  link     ?\n"
        "pkg/a.so  13.0          10  9/10  none\n"
        "pkg/b.so  12.9           2   all   jit\n"
        "all: every container has a cubin for the chip; jit: all run, some after the driver has compiled their PTX; "
        "link: all\nrun, some after the driver has compiled and linked their PTX; none: no container runs; "
        "?: not judged; 9/10: 9 of 10\ncontainers run; container: the kernels of one source file"
    )


@pytest.mark.parametrize(
    ("served", "legend"),
    [
        ({"native": 2}, ["all"]),
        ({"jit": 2}, ["jit"]),
        ({"jit-link": 2}, ["link"]),
        ({"none": 2}, ["none"]),
        ({"native": 1, "none": 1}, ["1/2"]),
    ],
)
def test_the_legend_has_only_what_occurs(served: dict[str, int], legend: list[str], library: MakeLibrary) -> None:
    words = drawn([library("w/a.so", {"12.0": served})], ("12.0",)).splitlines()[2:]
    assert [part.partition(":")[0] for part in " ".join(words).split("; ")] == [*legend, "container"]


def test_no_column_for_unknown_toolkits(library: MakeLibrary) -> None:
    assert drawn([library("w/a.so", toolkit=None)]).splitlines()[0] == "file  containers  12.0  12.1"


def _wheel(library: MakeLibrary) -> list[DeviceLibrary]:
    """Long names, and every kind of cell for every chip."""
    kinds: list[dict[str, Any]] = [
        {"native": 85, "jit": 6, "none": 27},
        {"none": 192},
        {"jit": 76},
        {"jit-link": 3},
        {"native": 999, "none": 9},
    ]
    return [
        library(f"w/package/kernels/sm{place}00/_common_operations_C_abi3.so", dict.fromkeys(SOLD, kind))
        for place, kind in enumerate(kinds)
    ]


def test_fourteen_chips_fit_beside_names(library: MakeLibrary) -> None:
    lines = drawn(_wheel(library), SOLD).splitlines()
    assert max(map(len, lines)) <= 120
    assert len([line for line in lines if line.startswith("file")]) == 1
    assert lines[1].startswith("package/kernels/sm000..._abi3.so ")
    assert "a number: that many of the containers run" in " ".join(lines)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 119, 120, 160, 240])
@pytest.mark.parametrize("count", [1, 2, 7, 14])
def test_the_width_is_kept(width: int, count: int, library: MakeLibrary) -> None:
    chips = SOLD[-count:]
    lines = drawn(_wheel(library), chips, width).splitlines()
    assert max(map(columns, lines)) <= max(width, 52)
    titles = [title for line in lines if line.startswith("file") for title in re.findall(r"\d+\.\d", line)]
    assert tuple(titles) == chips


def test_a_narrow_terminal_gets_every_row_in_each_part(library: MakeLibrary) -> None:
    parts = drawn(_wheel(library), SOLD, 80).split("\n\n")
    assert len(parts) > 1
    assert all(len([line for line in part.splitlines() if line.startswith("package")]) == 5 for part in parts)


@pytest.mark.parametrize(
    "names",
    [
        ("sm90/common_ops.abi3.so", "sm100/common_ops.abi3.so"),
        ("a/very/long/folder/kernels_one/lib.so", "a/very/long/folder/kernels_two/lib.so"),
        ("first_of_all_the_kernels_that_there_are.so", "first_of_all_the_kernels_that_there_was.so"),
        ("x" * 30 + "a.so", "x" * 30 + "b.so"),
        ("a" + "x" * 300 + ".so", "b" + "x" * 300 + ".so"),
    ],
)
def test_cut_names_stay_apart(names: tuple[str, str], library: MakeLibrary) -> None:
    served = {chip: {"native": 1} for chip in SOLD}
    rows = drawn([library(f"w/{name}", served) for name in names], SOLD).splitlines()[1:3]
    first, second = (row.split()[0] for row in rows)
    assert first != second


@pytest.mark.parametrize(
    ("text", "room", "head", "short"),
    [
        ("lib.so", 10, 3, "lib.so"),
        ("lib.so", 6, 2, "lib.so"),
        ("library.so", 9, 3, "lib....so"),
        ("abcdefghij", 7, 0, "...ghij"),
        ("abcdefghij", 7, 7, "abcd..."),
        ("", 5, 1, ""),
        ("日本語のライブラリ.so", 12, 4, "日本...リ.so"),
        ("日本語のライブラリ.so", 11, 3, "日...リ.so"),
    ],
)
def test_shortened(text: str, room: int, head: int, short: str) -> None:
    assert shortened(text, room, head) == short
    assert columns(short) <= room


def test_shortening_a_huge_name_is_quick() -> None:
    assert shortened("a" * 10_000_000, 24, 8) == "a" * 8 + "..." + "a" * 13


@pytest.mark.parametrize(
    ("name", "path", "shown"),
    [
        ("a.whl", "a.whl/pkg/x.so", "pkg/x.so"),
        ("dist/", "dist/pkg/x.so", "pkg/x.so"),
        ("pypi:vllm==1.0", "pypi:vllm==1.0/vllm/x.so", "vllm/x.so"),
        ("dist/x.so", "dist/x.so", "x.so"),
        ("x.so", "x.so", "x.so"),
        ("a.whl", "a.whl2/x.so", "a.whl2/x.so"),
        ("a.whl", "b/x.so", "b/x.so"),
        ("a", "a/\x1b[31m\n.so", r"\x1b[31m\n.so"),
        ("a", "a/\udce4\u202e.so", r"\udce4\u202e.so"),
    ],
)
def test_relative(name: str, path: str, shown: str) -> None:
    assert relative(path, Shipment(name)) == shown


def test_wide_names_keep_the_columns(library: MakeLibrary) -> None:
    lines = drawn([library("w/日本.so"), library("w/abc.so"), library("w/e\u0301.so")]).splitlines()[:4]
    assert {columns(line) for line in lines} == {len(lines[0])}


def test_alike_files_are_merged_when_there_are_many(library: MakeLibrary) -> None:
    many = [library(f"w/{number:05}.cubin", {"12.0": {"none": 1}}) for number in range(3000)]
    many += [library(f"w/x{number}.cubin", {"12.0": {"native": 1}}) for number in range(2)]
    lines = drawn(many, ("12.0",)).splitlines()
    assert lines[:3] == [
        "file                        CUDA  containers  12.0",
        "00000.cubin and 2,999 more  12.9           1  none",
        "x0.cubin and 1 more         12.9           1   all",
    ]
    assert len(lines) == 4


def test_few_alike_files_are_not_merged(library: MakeLibrary) -> None:
    same = [library(f"w/{number}.so") for number in range(MOST_ROWS)]
    assert len(drawn(same).splitlines()) == 1 + MOST_ROWS + 1


def test_rows_beyond_the_limit_are_counted(library: MakeLibrary) -> None:
    many = [library(f"w/{number:03}.so", {"12.0": {"native": number + 1}}) for number in range(MOST_ROWS + 5)]
    lines = drawn(many, ("12.0",)).splitlines()
    assert lines[-2] == "and 5 more: --format json lists them"
    assert len(lines) == 1 + MOST_ROWS + 2


def test_color(library: MakeLibrary) -> None:
    ways: dict[str, dict[str, int]] = {
        "8.0": {"native": 2},
        "9.0": {"jit": 2},
        "12.0": {"native": 1, "none": 1},
        "12.1": {"none": 2},
    }
    shipment = Shipment("w", (library("w/a.so", ways),))
    chips = (*ways, "11.0")
    painted = "\n".join(draw(shipment, chips, 120, painter(True)))
    row = painted.splitlines()[1]
    assert row.split()[3:] == [
        "\x1b[32mall\x1b[0m",
        "\x1b[33mjit\x1b[0m",
        "\x1b[33m1/2\x1b[0m",
        "\x1b[31mnone\x1b[0m",
        "?",
    ]
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == "\n".join(draw(shipment, chips, 120, painter(False)))


def test_names_of_extension_modules_lose_their_tag_first(library: MakeLibrary) -> None:
    tag = "cpython-310-x86_64-linux-gnu"
    paths = ("w/sgl_kernel/flash_ops.abi3.so", f"w/sgl_kernel/infllm_ops.{tag}.so", f"w/sgl_kernel/new_ops.{tag}.so")
    shown = drawn([library(path) for path in paths], width=62).splitlines()
    assert [line.split()[0] for line in shown[1:4]] == [
        "sgl_kernel/flash_ops.abi3.so",
        "sgl_kernel/infllm_ops.*.so",
        "sgl_kernel/new_ops.*.so",
    ]


def test_tags_of_extension_modules_stay_where_they_tell(library: MakeLibrary) -> None:
    paths = [f"w/sgl_kernel/ops.cpython-{number}-x86_64-linux-gnu.so" for number in (310, 311)]
    shown = drawn([library(path) for path in paths], width=62).splitlines()
    assert len({line.split()[0] for line in shown[1:3]}) == 2
