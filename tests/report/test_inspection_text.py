from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bwlint.binaries.shipments import NONE, DeviceLibrary, Inspection, KernelOperation, LoadUnit, LoadVerdict, Shipment
from bwlint.chips.drivers import jit_seconds
from bwlint.model.findings import Finding, Report
from bwlint.model.images import CUBIN, Binary, Container, Cubin, Image, Kernel
from bwlint.report import Setting
from bwlint.report.inspection_text import MOST_LINES, render

CARD = "Linux 570.26, Windows 570.65"

MakeLibrary = Callable[..., DeviceLibrary]
MakeInspection = Callable[..., Inspection]

CHIPS = ("9.0", "12.0", "12.1")


def test_an_inspection(rich_inspection: Inspection) -> None:
    assert render(rich_inspection, Setting(), chips=CHIPS) == (
        """\
a.whl (manylinux_2_28_aarch64): answer 1

file         CUDA  containers  9.0  12.0  12.1
pkg/all.so   12.9           1    ?   all   all
pkg/core.so  12.9           7    ?   4/7  none
all: every container has a cubin for the chip; none: no container runs; ?: not judged; 4/7: 4 of 7 containers run;
container: the kernels of one source file
12.0: RTX 5090, RTX PRO 6000; 12.1: GB10, DGX Spark

12.0  pkg/core.so: 4 of 7 containers run, 2 by JIT; 2 of the other 3 are for other chips; only 90a (2 of 3)
12.0  by JIT: 2 of 8 containers, compiled by the driver at first use
12.1  none of pkg/core.so (7 containers): only 90a (5 of 7)

needs libcublasLt.so.12, libcudart.so.12
built with CUDA 12.9
driver for 12.0: Linux 575.51.03, Windows 576.02 or newer (JIT of PTX 8.8 needs it; \
the card alone: Linux 570.26, Windows 570.65)
driver for 12.1: Linux 575.51.03 or newer (the card needs it)
pkg/core.so: section 3 ends outside of the file
pkg/core.so: cut off at 0x2000
no device code in 3 other files

pypi:a (x86_64): answer 2

b.whl: answer 3

warning[BW101] family-split: 12.1 falls into the arm that raises
 --> a.whl/pkg/core.so
  |
  = loads on: 12.0 only
"""
    )


def test_kernels(rich_inspection: Inspection) -> None:
    wheel = rich_inspection.shipments[0]
    core = replace(wheel.libraries[0], units=wheel.libraries[0].units[:3])
    small = replace(wheel, libraries=(core,))
    found = render(
        replace(rich_inspection, shipments=(small,), answers=("yes",)),
        Setting(),
        kernels=True,
        chips=CHIPS,
        readable=lambda name: name[3:-1],
    )
    assert found.partition("other files\n\n")[2].partition("\nwarning")[0] == (
        """\
pkg/core.so (elf x86_64, 3 containers)
  section 3 ends outside of the file
  container at 0x0 in .nv_fatbin
    specialised: 120f
    linked from 2 relocatable containers
    cut off at 0x2000
    12.0  native: native it is
    12.1  none: only 90a
    120f cubin zstd 14,336 B
      relabelled: its header says sm_120f, but its notes say sm_100f
      kernel gemm: 1,024 B static shared memory, cluster 2x1x1, clusters of at most 16 blocks, \
its launch must name a cluster, 64 registers, exactly 128x1x1 threads, at most 256x1x1 threads, setmaxnreg, \
tcgen05 with 2 CTAs, calls __cuda_syscall_x
      kernel copy
    80 ptx 8.8 lz4 3,000 B
  container at 0x1000 in .nv_fatbin
    linked from 1 relocatable container
    12.0  native: native it is
    12.1  none: only 100f
    120f cubin zstd 14,336 B
    80 ptx 8.8 lz4 3,000 B
  container at 0x2000 in .nv_fatbin
    linked from 1 relocatable container
    12.0  jit: jit it is
    12.1  none: only 90a
    120f cubin zstd 14,336 B
    80 ptx 8.8 lz4 3,000 B

operation gemm: no kernel for 12.1: only 90a
"""
    )


def test_names_of_kernels_that_were_not_looked_into(library: MakeLibrary, inspection: MakeInspection) -> None:
    lib = library("w/a.so")
    lib = replace(lib, units=(replace(lib.units[0], kernels=("_Z1av", "b", "_Z1av")),))
    found = render(inspection(Shipment("w", (lib,))), Setting(), kernels=True)
    assert found.endswith("    80 ptx 8.8 lz4 3,000 B\n    kernel _Z1av (2 variants)\n    kernel b\n")


def lines_of(
    library: DeviceLibrary | tuple[DeviceLibrary, ...], inspection: MakeInspection, **changes: Any
) -> list[str]:
    libraries = (library,) if isinstance(library, DeviceLibrary) else library
    return render(inspection(Shipment("w", libraries), **changes), Setting(), chips=("12.0",)).splitlines()


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        # Silent: everything runs.
        ({"12.0": {"native": 3}}, []),
        ({"12.0": {"family": 3}}, []),
        ({"12.0": {"jit": 3}}, []),
        ({"12.0": {"jit-link": 3}}, []),
        ({"12.0": {"native": 1, "family": 1, "jit": 1}, "12.1": {"native": 3}}, []),
        # Nobody asked about 9.0.
        ({"9.0": {"none": 3}}, []),
        ({"12.0": {"native": 3}, "9.0": {"none": 3}}, []),
        (
            {"12.0": {"native": 1, "none": 2}},
            ["12.0  a.so: 1 of 3 containers run; only 90a"],
        ),
        (
            {"12.0": {"native": 3}, "12.1": {"none": 3, "special": 3}},
            ["12.1  none of a.so (3 containers): only 90a"],
        ),
        # Equal for both: said once.
        (
            {"12.0": {"none": 3}, "12.1": {"none": 3}},
            ["12.0, 12.1  none of a.so (3 containers): only 90a"],
        ),
    ],
)
def test_what_does_not_run(
    served: dict[str, Any], expected: list[str], library: MakeLibrary, inspection: MakeInspection
) -> None:
    found = lines_of(library("w/a.so", served), inspection)
    assert [line for line in found if "only 90a" in line] == expected


def test_one_reason_once(library: MakeLibrary, inspection: MakeInspection) -> None:
    dead = {"12.0": {"none": 2}}
    other = library("w/d.so", dead, reasons=("no PTX",))
    libraries = (library("w/a.so", dead), library("w/b.so"), library("w/c.so", dead), other)
    assert [line for line in lines_of(libraries, inspection) if line.startswith("12.0  ")] == [
        "12.0  none of a.so (2 containers), c.so (2 containers): only 90a",
        "12.0  none of d.so (2 containers): no PTX",
    ]
    # The answer has said it.
    assert "none of" not in "\n".join(lines_of(libraries[0], inspection, answers=("does not run: only 90a",)))


def test_the_worst_come_first_and_the_rest_is_counted(library: MakeLibrary, inspection: MakeInspection) -> None:
    partial = tuple(library(f"w/{n:02}.so", {"12.0": {"native": 1, "none": n}}) for n in range(1, 15))
    none = tuple(library(f"w/x{n}.so", {"12.0": {"none": 1}}) for n in range(2))
    found = [line for line in lines_of((*partial, *none), inspection) if line.startswith("12.0  ") or "more" in line]
    assert found[0] == "12.0  none of x0.so (1 container), x1.so (1 container): only 90a"
    assert [line.split()[1] for line in found[1:3]] == ["01.so:", "02.so:"]
    assert found[MOST_LINES:] == ["and 7 more: --kernels or --format json lists them"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            [
                "needs libcudart.so.12",
                "built with CUDA 12.9",
                f"driver for 12.0: {CARD} or newer (the card needs it)",
            ],
        ),
        (
            {"toolkit": None},
            ["needs libcudart.so.12", f"driver for 12.0: {CARD} or newer (the card needs it)"],
        ),
        (
            {"needed": (), "toolkit": (99, 1)},
            [
                "built with CUDA 99.1",
                f"driver for 12.0: one of CUDA 99.1 or newer (CUDA 99.1 needs it; the card alone: {CARD})",
            ],
        ),
        (
            {"needed": ("cudart64_12.dll",), "form": "pe"},
            [
                "needs cudart64_12.dll",
                "built with CUDA 12.9",
                "driver for 12.0: Windows 570.65 or newer (the card needs it)",
            ],
        ),
        # One library of CUDA 13 does not make the card older.
        (
            {"needed": (), "toolkit": (13, 0), "served": {"12.0": {"jit": 1}}},
            [
                "built with CUDA 13.0",
                f"driver for 12.0: Linux 580.65.06, Windows 580 or newer (CUDA 13.0 needs it; the card alone: {CARD})",
            ],
        ),
        # Compiled from PTX that is older than the card.
        (
            {"needed": (), "toolkit": None, "isa": (7, 8), "served": {"12.0": {"jit": 1}}},
            [f"driver for 12.0: {CARD} or newer (the card needs it)"],
        ),
        (
            {"needed": (), "toolkit": None, "isa": (9, 5), "served": {"12.0": {"jit": 1}, "12.1": {"none": 1}}},
            [f"driver for 12.0: one of CUDA 13.5 or newer (JIT of PTX 9.5 needs it; the card alone: {CARD})"],
        ),
        (
            {"needed": (), "toolkit": None, "isa": (77, 7), "served": {"12.0": {"jit": 1}}},
            [f"driver for 12.0: one that knows it or newer (JIT of PTX 77.7 needs it; the card alone: {CARD})"],
        ),
        ({"needed": (), "toolkit": None, "served": {"12.0": {"none": 1}}}, []),
    ],
)
def test_needs(changes: dict[str, Any], expected: list[str], library: MakeLibrary, inspection: MakeInspection) -> None:
    found = lines_of(library("w/a.so", **changes), inspection)
    assert [line for line in found if line.startswith(("needs", "built", "driver for 12.0"))] == expected


@pytest.mark.parametrize(
    ("shipment", "answer", "expected"),
    [
        (Shipment("a", others=0), "nothing", "a: nothing\n"),
        (Shipment("a", others=0), "no device code", "a: no device code\n"),
        (Shipment("a", others=12), "no device code", "a: no device code in 12 files\n"),
        (Shipment("a", others=1), "nothing", "a: nothing\n"),
        (Shipment("a", others=1234), "no device code", "a: no device code in 1,234 files\n"),
        (Shipment("a", missing="no wheel"), "gone", "a: gone\n"),
        (
            Shipment("a", machine="aarch64", missing="no wheel for it", tag="t"),
            "gone",
            "a (t): gone\n",
        ),
        # The answer has said so.
        (
            Shipment("a", machine="aarch64", missing="no wheel for it"),
            "not installable: no wheel for it",
            "a (aarch64): not installable: no wheel for it\n",
        ),
    ],
)
def test_shipments_without_libraries(
    shipment: Shipment, answer: str, expected: str, inspection: MakeInspection
) -> None:
    assert render(inspection(shipment, answers=(answer,)), Setting()) == expected


@pytest.mark.parametrize(
    ("machine", "chips"), [("aarch64", "12.0, 12.1"), ("x86_64", "12.0"), ("i386", "12.0"), ("", "12.0, 12.1")]
)
def test_chips_that_no_such_machine_has_are_left_out(
    machine: str, chips: str, library: MakeLibrary, inspection: MakeInspection
) -> None:
    served = {"12.0": {"jit": 1, "none": 1}, "12.1": {"jit": 1, "none": 1}}
    shipment = Shipment("w", (library("w/a.so", served),), machine=machine)
    found = render(inspection(shipment), Setting(), kernels=True)
    assert f"\n{chips}  a.so: 1 of 2 containers run, 1 by JIT; only 90a\n" in found
    assert ("\ndriver for 12.1: " in found) is ("12.1" in chips)
    header = found.splitlines()[2].split()[3:]
    assert header[: len(chips.split(", "))] == chips.split(", ")
    assert ("8.7" in header) is ("12.1" in chips)
    assert ("    12.1  jit" in found) is ("12.1" in chips)


def test_a_folder_of_files(library: MakeLibrary, inspection: MakeInspection) -> None:
    lib = library("w/cubins", form="cubin", machine="", containers=(), faults=())
    units = tuple(replace(lib.units[0], path=f"w/cubins/{name}.cubin") for name in "ab")
    lib = replace(lib, units=(*units, replace(lib.units[0], container=replace(lib.units[0].container, fault="torn"))))
    found = render(inspection(Shipment("w", (lib,))), Setting(), kernels=True)
    assert "\ncubins: torn\n" in found
    assert "\ncubins (cubin, 3 containers)\n  container at 0x0 in .nv_fatbin of cubins/a.cubin\n" in found


def test_findings_alone_and_nothing_at_all(
    inspection: MakeInspection, report: Callable[..., Report], finding: Callable[..., Finding]
) -> None:
    assert render(inspection(), Setting()) == ""
    assert render(inspection(report=report(finding())), Setting()).startswith("warning[BW101]")


def test_faults_are_counted_beyond_a_limit(library: MakeLibrary, inspection: MakeInspection) -> None:
    faults = tuple(f"fault {n}" for n in range(20))
    found = lines_of(library("w/a.so", faults=faults), inspection)
    assert [line for line in found if "fault" in line] == [f"a.so: fault {n}" for n in range(MOST_LINES)]
    assert "and 12 more: --kernels or --format json lists them" in found


def test_every_fault_is_listed_with_kernels(library: MakeLibrary, inspection: MakeInspection) -> None:
    faults = tuple(f"fault {n}" for n in range(20))
    lib = library("w/a.so", faults=faults)
    lib = replace(lib, binary=replace(lib.binary, containers=(replace(lib.binary.containers[0], fault="torn"),)))
    found = render(inspection(Shipment("w", (lib,))), Setting(), kernels=True)
    assert all(f"fault {n}\n" in found for n in range(20))
    assert "torn" in found


def test_a_library_without_containers(inspection: MakeInspection) -> None:
    lib = DeviceLibrary("w/a.so", Binary("elf", (), faults=("cut off",)), (), {})
    found = lines_of(lib, inspection)
    assert found[3] == "a.so           0     ?"
    assert "a.so: cut off" in found


def test_color_changes_nothing_else(rich_inspection: Inspection) -> None:
    for kernels in (False, True):
        painted = render(rich_inspection, Setting(color=True), kernels)
        assert "\x1b[31mnone\x1b[0m" in painted
        assert "\x1b[33m4 of 7 containers run\x1b[0m" in painted
        assert re.sub(r"\x1b\[[\d;]*m", "", painted) == render(rich_inspection, Setting(), kernels)


@pytest.mark.parametrize("kernels", [False, True])
def test_a_terminal_gets_lines_that_fit(rich_inspection: Inspection, kernels: bool) -> None:
    shown = replace(rich_inspection, report=replace(rich_inspection.report, findings=()))
    whole, narrow = (render(shown, Setting(width=60, folds=folds), kernels) for folds in (False, True))
    assert max(map(len, whole.splitlines())) > 60 >= max(map(len, narrow.splitlines()))
    assert narrow.split() == whole.split()


def test_the_columns(rich_inspection: Inspection) -> None:
    def header(width: int, *chips: str) -> list[str]:
        return render(rich_inspection, Setting(width=width), chips=chips).splitlines()[2].split()[3:]

    assert tuple(header(120, *CHIPS)) == CHIPS
    every = header(120)
    assert (every[:3], every[-1], len(every)) == (["12.0", "12.1", "11.0"], "7.0", 14)
    # What is asked for stays where there is no room for the rest.
    few = header(60)
    assert few[:2] == ["12.0", "12.1"] and len(few) < 14 and few == every[: len(few)]
    assert f"--target shows {every[len(few)]}" in " ".join(render(rich_inspection, Setting(width=60)).split())


HOSTILE = (
    "\x1b[31mred",
    "a\nb\r\tc",
    "\x9b2J",
    "\u202egnp",
    "\u2028line",
    "\udcff\ud800",
    "\x00\x07",
    "\U000e0041",
    "x" * 100_000,
    "../../etc/passwd",
    "日本語" * 50,
    "e" + "\u0301" * 500,
    "%s %(a)s {0}",
    "",
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_nothing_of_a_file_reaches_the_terminal_raw(text: str, inspection: MakeInspection) -> None:
    image = Image(CUBIN, 999_999, text, 0, 1, 1, text)
    container = Container(0, (image,), text, (), text)
    binary = Binary("elf", (container,), text, (text, "libcudart.so.12" + text), (text,))
    kernel = Kernel(text, driver_calls=(text,))
    unit = LoadUnit(
        container, {"12.0": LoadVerdict(NONE, None, text)}, text, (text,), {0: Cubin(1, text, 8, (kernel,), 2)}, text
    )
    lib = DeviceLibrary(f"w/{text}", binary, (unit,), {}, (10**9, 10**9))
    shipment = Shipment(
        f"w{text}", (lib, lib), text, text, "", 1, (KernelOperation(text, ("12.0",), text, text, True),)
    )
    gone = Shipment(text, machine=text, missing=text)
    found = render(inspection(shipment, gone, answers=(text, "x")), Setting(), kernels=True)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff\U000e0000-\U000e007f]", found)
    found.encode()


def test_a_wheel_of_many_cubins_stays_short(library: MakeLibrary, inspection: MakeInspection) -> None:
    served = {"12.0": {"none": 1}, "12.1": {"none": 1}}
    libraries = tuple(library(f"w/{number}.cubin", served, faults=("torn",)) for number in range(5000))
    found = lines_of(libraries, inspection)
    assert len(found) < 40
    assert "0.cubin and 4,999 more" in found[3]
    assert "and 4,992 more: --kernels or --format json lists them" in found


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (400_000, "first use"),
        (2_000_000, "first use: 4.0 MB of PTX in all, about {:.0f} to {:.0f} s of one core"),
    ],
)
def test_what_jit_costs(each: int, said: str, library: MakeLibrary, inspection: MakeInspection) -> None:
    lib = library("w/a.so", {"12.0": {"jit": 2, "native": 3}})
    units = []
    for unit in lib.units:
        images = tuple(replace(image, full_size=each) for image in unit.container.images)
        units.append(replace(unit, container=replace(unit.container, images=images)))
    found = lines_of(replace(lib, units=tuple(units)), inspection)
    line = "12.0  by JIT: 2 of 5 containers, compiled by the driver at " + said.format(*jit_seconds(2 * each))
    assert line in found  # what is native costs nothing


def _with_ptx(lib: DeviceLibrary, size: int) -> DeviceLibrary:
    """The library with images of so many bytes."""
    units = []
    for unit in lib.units:
        images = tuple(replace(image, full_size=size) for image in unit.container.images)
        units.append(replace(unit, container=replace(unit.container, images=images)))
    return replace(lib, units=tuple(units))


_OF_CUDA = (("w/ops_cuda118.so", "libcudart.so.11.0", (11, 8)), ("w/ops_cuda126.so", "libcudart.so.12", (12, 6)))


def test_jit_costs_what_the_library_that_is_loaded_holds(library: MakeLibrary, inspection: MakeInspection) -> None:
    by_jit = {"12.0": {"jit": 1}, "12.1": {"jit": 1}}
    small, large = (library(path, by_jit, needed=(so,), toolkit=of) for path, so, of in _OF_CUDA)
    always = library("w/other.so", by_jit, needed=())
    shipped = (_with_ptx(small, 2_000_000), _with_ptx(large, 3_000_000), _with_ptx(always, 1_000_000))
    found = lines_of(shipped, inspection)
    least, most = jit_seconds(3_000_000)[0], jit_seconds(4_000_000)[1]
    cost = f"3.0 to 4.0 MB of PTX in the one that is loaded, about {least:.0f} to {most:.0f} s of one core"
    assert f"12.0, 12.1  by JIT: 3 of 3 containers, compiled by the driver at first use: {cost}" in found


@pytest.mark.parametrize(
    ("libraries", "expected"),
    [
        (
            _OF_CUDA,
            [
                "needs libcudart.so.11.0 (built with CUDA 11.8)",
                "needs libcudart.so.12 (built with CUDA 12.6)",
            ],
        ),
        (
            (*_OF_CUDA, ("w/ops_cuda121.so", "libcudart.so.12", (12, 1))),
            [
                "needs libcudart.so.11.0 (built with CUDA 11.8)",
                "needs libcudart.so.12 (built with CUDA 12.1, 12.6)",
            ],
        ),
        # Folders for two majors, whose names say nothing, and what goes with both.
        (
            (
                ("w/a/x.so", "libcudart.so.12", (12, 8)),
                ("w/b/x.so", "libcudart.so.13", (13, 0)),
                ("w/c.so", "libnccl.so.2", None),
            ),
            [
                "needs libcudart.so.12, libnccl.so.2 (built with CUDA 12.8)",
                "needs libcudart.so.13, libnccl.so.2 (built with CUDA 13.0)",
            ],
        ),
        (
            (("w/a.so", "libcudart.so.12", (12, 8)), ("w/b.so", "libcublas.so.12", (12, 9))),
            ["needs libcublas.so.12, libcudart.so.12"],
        ),
        ((("w/ops_cuda126.so", "libcudart.so.12", (12, 6)),), ["needs libcudart.so.12"]),
        ((("w/a.so", "libtorch.so", (12, 6)),), []),
    ],
)
def test_libraries_of_one_cuda_are_needed_at_once(
    libraries: Sequence[tuple[str, str, tuple[int, int] | None]],
    expected: list[str],
    library: MakeLibrary,
    inspection: MakeInspection,
) -> None:
    shipped = tuple(library(path, needed=(so,), toolkit=toolkit) for path, so, toolkit in libraries)
    assert [line for line in lines_of(shipped, inspection) if line.startswith("needs")] == expected
