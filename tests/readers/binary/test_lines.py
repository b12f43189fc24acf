"""Line tables of cubins: made by hand and damaged here; those of nvcc against nvdisasm."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_binaries import RELA, RELOCATION, SYMTAB, Kernel, Section, container, cubin, elf, entry, shared_object
from toolkit import Toolkit

from bwlint import cli
from bwlint.binaries.library import Allowance, read_library
from bwlint.binaries.shipments import DeviceLibrary
from bwlint.chips import ChipSet
from bwlint.model.images import Place
from bwlint.readers.binary import elf as elves
from bwlint.readers.binary.cubin import of_elf
from bwlint.readers.binary.lines import LineAllowance, places
from bwlint.sources.stretch import ByteSource

PLACE = struct.Struct("<IBBHQQ")
BEGIN = b"\0\x09\x02" + bytes(8)
END = b"\x02\x10\0\x01\x01"
FOLDERS, FILES = (b"/src",), ((b"k.cu", 1), (b"sub/k.cuh", 1), (b"/abs/x.cu", 0), (b"here.cu", 0))
ROW_OF_9 = b"\x04\x01\x03\x08\x01"
"""File 1, eight lines on, a row."""


def program(
    *sequences: bytes,
    version: int = 3,
    folders: tuple[bytes, ...] = FOLDERS,
    files: tuple[tuple[bytes, int], ...] = FILES,
    line_range: int = 14,
) -> bytes:
    lengths = bytes((0, 1, 1, 1, 1, 0, 0, 0, 1))
    listed = b"".join(name + b"\0" for name in folders) + b"\0"
    listed += b"".join(name + b"\0" + bytes((folder, 0, 0)) for name, folder in files) + b"\0"
    head = struct.pack("<BBbBB", 1, 1, -5, line_range, 10) + lengths + listed
    body = struct.pack("<HI", version, len(head)) + head + b"".join(sequences)
    return struct.pack("<I", len(body)) + body


def table(
    data: bytes,
    relocations: tuple[tuple[int, int, int], ...] | None = None,
    *,
    symbols: tuple[tuple[int, int], ...] = ((0, 0), (1, 0), (2, 0)),
    kind: int = RELA,
) -> elves.Elf:
    """A file with two kernels' code (sections 1 and 2), a line table and relocations (offset, symbol, addend) on it.

    By default the n-th address in the table is that of the n-th section of code. `symbols` are (section, value).
    """
    if relocations is None:
        found = [match.start() + 3 for match in re.finditer(re.escape(BEGIN), data)]
        relocations = tuple((at, number, 0) for number, at in enumerate(found, 1))
    rows = b"".join(RELOCATION.pack(at, symbol << 32 | 2, addend) for at, symbol, addend in relocations)
    made = elf(
        [
            Section(".text.a", bytes(128)),
            Section(".text.b", bytes(128)),
            Section(".symtab", b"".join(PLACE.pack(0, 0x12, 0, code, value, 0) for code, value in symbols), SYMTAB),
            Section(".debug_line", data),
            Section(".rela.debug_line", rows, kind, link=3, info=4),
        ],
        machine=190,
    )
    return elves.read(ByteSource.of_bytes(made))


def read(file: elves.Elf, left: int = 1 << 20) -> tuple[dict[str, Place], str]:
    return places(file, {1: "a", 2: "b"}, LineAllowance(left))


NINE = ("/src/k.cu", 9)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (program(BEGIN + ROW_OF_9 + END), {"a": NINE}),
        (
            program(BEGIN + ROW_OF_9 + END, BEGIN + b"\x04\x02\x03\x02\x01" + END),
            {"a": NINE, "b": ("/src/sub/k.cuh", 3)},
        ),
        # One part for each source that was linked.
        (
            program(BEGIN + ROW_OF_9 + END) + program(BEGIN + b"\x01" + END, files=((b"b.cu", 0),)),
            {"a": NINE, "b": ("b.cu", 1)},
        ),
        (program(BEGIN + b"\x04\x03\x03\x01\x01" + END), {"a": ("/abs/x.cu", 2)}),
        (program(BEGIN + b"\x04\x04\x01" + END), {"a": ("here.cu", 1)}),
        # A special operation, NVIDIA's own (inlined calls), one of many bytes that the next part begins in.
        (program(BEGIN + b"\x04\x01\x10" + END), {"a": ("/src/k.cu", 2)}),
        (program(BEGIN + b"\x00\x03\x90\x03\x00" + ROW_OF_9 + END), {"a": NINE}),
        (program(BEGIN + ROW_OF_9 + b"\x03\x01\x01" * 200 + END), {"a": NINE}),
        (program(BEGIN + ROW_OF_9 + b"\x00\xff\x7f\x90" + bytes(40) + END), {"a": NINE}),
        (program(BEGIN + ROW_OF_9 + END, version=2), {"a": NINE}),
        # Nothing that says which function it is.
        (program(), {}),
        (b"", {}),
    ],
)
def test_places(data: bytes, found: dict[str, Place]) -> None:
    assert read(table(data)) == (found, "")


def test_what_is_not_the_begin_of_a_kernel_names_none() -> None:
    data = program(BEGIN + ROW_OF_9 + END)
    at = data.index(BEGIN) + 3
    for relocations, symbols in (
        ((), ((0, 0), (1, 0))),
        (((at, 1, 16),), ((0, 0), (1, 0))),
        (((at, 1, 0),), ((0, 0), (1, 16))),
        (((at, 1, 0),), ((0, 0), (4, 0))),
        (((at, 0, 0),), ((0, 0), (1, 0))),
        (((at, 1, 0),), ((0, 0), (0xFFF1, 0))),
    ):
        assert read(table(data, relocations, symbols=symbols)) == ({}, "")
    assert read(table(data, ((at, 1, -16),), symbols=((0, 0), (1, 16)))) == ({"a": NINE}, "")


def test_without_a_line_table_no_pyelftools_is_loaded() -> None:
    code = (
        "import sys; from small_binaries import cubin; from bwlint.readers.binary.cubin import read;"
        "from bwlint.sources.stretch import ByteSource; read(ByteSource.of_bytes(cubin(120)));"
        "sys.exit('elftools' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env).returncode == 0


GOOD = program(BEGIN + ROW_OF_9 + END)
AT = GOOD.index(BEGIN) + 3


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (table(GOOD[:-4]), "cut off"),
        (table(GOOD[:4] + b"\x05" + GOOD[5:]), "DWARF 5"),
        (table(GOOD[:6] + b"\xff\xff\xff\x7f" + GOOD[10:]), "a header of 2147483647 bytes"),
        (table(struct.pack("<I", 0xFFFFFFFF) + GOOD[4:]), "cut off"),
        (table(struct.pack("<I", 0) + GOOD[4:]), "cut off"),
        (table(GOOD, ((AT + 1, 1, 0),)), "where no address is"),
        (table(GOOD, ((2**63, 1, 0),)), "ends before its relocations do"),
        (table(GOOD, ((AT, 9, 0),)), "a relocation of a line table for symbol 9"),
        (table(GOOD, kind=9), "without addends"),
        (table(program(BEGIN + b"\x04\x09\x01" + END)), "a line of file 9 of 4"),
        (table(program(BEGIN + b"\x04\x00\x01" + END)), "a line of file 0 of 4"),
        (table(program(BEGIN + b"\x01" + END, files=((b"k.cu", 7),))), "a file in folder 7 of 1"),
        (table(program(BEGIN + END)), "without a row"),
        (table(program(BEGIN + b"\x03\x7f\x01" + END)), "without a row"),
        (table(program(BEGIN + b"\x04" + b"\x80" * 200 + b"\x01")), "without a row"),
        (table(program(BEGIN + b"\x14" + END, line_range=0)), "that pyelftools does not read: ZeroDivisionError"),
        (table(program(BEGIN + END, files=((b"k", 0xFF), (b"\xff" * 99, 0)))), "numbers without end"),
    ],
)
def test_what_is_wrong_is_said_and_names_nothing(file: elves.Elf, why: str) -> None:
    found, said = read(file)
    assert found == {} and why in said, said


def test_a_kernel_that_cannot_be_read_leaves_those_before_it() -> None:
    found, said = read(table(program(BEGIN + ROW_OF_9 + END, BEGIN + b"\x04\x09\x01" + END)))
    assert found == {"a": NINE} and "file 9" in said


@pytest.mark.parametrize(
    "data",
    [
        # Files without end, a program of nothing but rows, parts of nothing, jumps that lead nowhere.
        program(BEGIN + ROW_OF_9 + END, files=((b"f", 0),) * 500_000),
        program(BEGIN + b"\x20" * (4 << 20)),
        program() * 400_000 + GOOD,
        program(BEGIN + b"\x00\x00\x90" * 100_000),
        program(BEGIN + b"\x00" + b"\xff" * 9 + b"\x01\x90" + ROW_OF_9),
    ],
    ids=["files", "rows", "parts", "jumps", "far"],
)
def test_large_tables_take_no_more_than_they_are_allowed(data: bytes) -> None:
    """Counted in what pyelftools is given: its time is that."""
    allowance = LineAllowance()
    before = allowance.left
    places(table(data), {1: "a"}, allowance)
    assert before - allowance.left < 1024


def test_an_allowance_is_for_all_tables_together() -> None:
    size = len(GOOD)
    found, said = read(table(GOOD), left=size + 64)
    assert (found, said) == ({"a": NINE}, "")
    found, said = read(table(GOOD), left=20)
    assert found == {} and said == "more line tables than are read"


def test_damage_in_any_byte_ends_in_a_place_or_a_reason() -> None:
    draws = random.Random(1)
    data = program(BEGIN + ROW_OF_9 + END, BEGIN + b"\x04\x02\x03\x02\x01" + END)
    for at in range(len(data)):
        for byte in (0, 0xFF, 0x7F, 0x80, draws.randrange(256)):
            found, _ = read(table(data[:at] + bytes((byte,)) + data[at + 1 :], ((AT, 1, 0),)))
            assert all(line > 0 for _, line in found.values())


SOURCE = """#include "inc.cuh"

__global__ void alpha(int *p) {
  int x = twice(p[0]);
  p[1] = x;
}

namespace n {
__global__ void
__launch_bounds__(128) beta(float *p, int n) {
  for (int i = 0; i < n; ++i) p[i] *= 2.0f;
}
}
template __global__ void tk<128>(int *);
extern "C" __global__ void inlined(int *p) { *p = twice(*p); }
"""
INCLUDED = """template <int N>
__global__ void tk(int *p) {
  __shared__ int s[N];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__device__ __forceinline__ int twice(int x) { return x * 2 + 1; }
"""


@pytest.fixture(scope="module")
def built(nvcc: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Cubins with lines: linked, relocatable, for debugging, of an older chip."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "k.cu").write_text(SOURCE)
    (folder / "inc.cuh").write_text(INCLUDED)
    made = {}
    for name, options in {
        "linked": ("-arch=sm_120", "-lineinfo"),
        "relocatable": ("-arch=sm_120", "-lineinfo", "-rdc=true"),
        "debug": ("-arch=sm_120", "-G"),
        "older": ("-arch=sm_90", "-lineinfo"),
    }.items():
        made[name] = folder / f"{name}.cubin"
        nvcc.run("nvcc", "-cubin", "k.cu", *options, "-o", made[name].name, folder=folder)
    return made


def of_file(path: Path) -> dict[str, Place]:
    found = of_elf(elves.read(ByteSource.of_bytes(path.read_bytes())))
    assert found.unplaced == ""
    return {kernel.name: kernel.source for kernel in found.kernels if kernel.source}


@pytest.mark.parametrize("name", ["linked", "relocatable", "debug", "older"])
def test_kernels_of_nvcc(built: dict[str, Path], name: str) -> None:
    folder = built[name].parent
    lines = {
        "_Z5alphaPi": ("k.cu", 3),
        "_ZN1n4betaEPfi": ("k.cu", 10),
        "_Z2tkILi128EEvPi": ("inc.cuh", 2),
        "inlined": ("k.cu", 15),
    }
    found = {kernel: (Path(path).name, line) for kernel, (path, line) in of_file(built[name]).items()}
    assert set(found) == set(lines)
    assert {Path(path).parent.resolve() for path, _ in of_file(built[name]).values()} == {folder.resolve()}
    if name != "debug":
        assert found == lines


@pytest.fixture(scope="module")
def nvdisasm(toolkit: Toolkit) -> str:
    found = shutil.which("nvdisasm", path=f"{toolkit.programs}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip("no nvdisasm: pip install nvidia-cuda-nvdisasm")
    return found


@pytest.mark.parametrize("name", ["linked", "relocatable", "debug", "older"])
def test_nvdisasm_has_functions_begin_on_the_same_lines(built: dict[str, Path], nvdisasm: str, name: str) -> None:
    shown = subprocess.run([nvdisasm, "-g", built[name]], capture_output=True, text=True, check=True).stdout
    assert _of_nvdisasm(shown, of_file(built[name])) == of_file(built[name])


def _of_nvdisasm(text: str, kernels: dict[str, Place]) -> dict[str, Place]:
    """The first line that stands behind the label of each kernel."""
    found: dict[str, Place] = {}
    name = ""
    for line in text.splitlines():
        if (label := re.match(r"\.text\.(\S+):$", line)) is not None:
            name = label[1]
        told = re.search(r'//## File "(.+?)", line (\d+)', line)
        if told is not None and name in kernels:
            found.setdefault(name, (told[1], int(told[2])))
    return found


def library(lines: bytes, number: int = 120) -> DeviceLibrary:
    image = entry(cubin(number, kernels=["k"], lines=lines), number)
    # Another container runs on 12.x, so that what does not is looked into.
    made = shared_object(container(image), container(entry(cubin(120, kernels=["other"]), 120)))
    return read_library("lib.so", ByteSource.of_bytes(made), ChipSet.of("12.0"), deep=True, allowance=Allowance())


def test_kernels_of_a_library() -> None:
    assert library(GOOD).units[0].sources == {"k": NINE}
    found = library(GOOD, 90)
    assert (found.units[0].cubins, found.units[0].sources, found.binary.faults) == ({}, {"k": NINE}, ())


@pytest.mark.parametrize("number", [120, 90])
def test_faults_of_a_line_table_are_listed_and_the_rest_is_read(number: int) -> None:
    found = library(program(BEGIN + b"\x04\x09\x01" + END), number)
    (fault,) = found.binary.faults
    assert fault.startswith(f"sm_{number} at offset ")
    assert fault.endswith(": its kernels have no lines: a line of file 9 of 4")
    assert (found.units[0].kernels, found.units[0].sources) == (("k",), {})


def test_findings_and_inspections_name_the_place(tmp_path: Path) -> None:
    path = tmp_path / "x.cubin"
    path.write_bytes(cubin(120, kernels=[Kernel("k", shared=110_000)], lines=GOOD))
    found = CliRunner().invoke(cli.app, ["check", "--no-cache", "--format", "concise", str(path)])
    assert "[BW501] smem: The static shared memory of `k` (/src/k.cu:9) is up to " in found.stdout, found.output
    shown = CliRunner().invoke(cli.app, ["inspect", "--kernels", str(path)])
    assert "kernel k at /src/k.cu:9: 110,000 B static shared memory" in shown.stdout, shown.output
    log = json.loads(CliRunner().invoke(cli.app, ["inspect", "--kernels", "--format", "json", str(path)]).stdout)
    (unit,) = log["shipments"][0]["libraries"][0]["units"]
    (kernel,) = unit["images"][0]["cubin"]["kernels"]
    assert kernel["source"] == {"path": "/src/k.cu", "line": 9}


def test_an_operation_without_a_kernel_is_named_where_it_is_defined(tmp_path: Path) -> None:
    image = entry(cubin(90, kernels=["_Z5alphaPi"], lines=GOOD), 90)
    other = [container(entry(cubin(80 + 40 * place, kernels=["other"]), 80 + 40 * place)) for place in (0, 1)]
    both = container(image, entry(cubin(100, kernels=["_Z5alphaPi"], lines=GOOD), 100))
    path = tmp_path / "x.so"
    path.write_bytes(shared_object(both, *other))
    found = CliRunner().invoke(cli.app, ["check", "--no-cache", "--severity", "note", str(path)])
    assert "`alpha` at /src/k.cu:9" in found.stdout, found.output
