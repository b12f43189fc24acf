"""What nvcc and ptxas of PyPI build in the test run, listed by bwlint and by cuobjdump: every image, with its bytes.

A test builds what it looks at and nothing else, so that tests may run in any order and beside each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from cuobjdump_agreement import compare, heads, their_heads
from toolkit import Toolkit

from bwlint.binaries.library import read_library
from bwlint.binaries.shipments import FAMILY, JIT, LINK, NATIVE, NONE, DeviceLibrary
from bwlint.chips import ChipSet
from bwlint.model.images import CUBIN, LTO, PTX, Binary, Container
from bwlint.readers.binary import cubin, fatbin, read
from bwlint.readers.binary.fatbin import content
from bwlint.sources.archives import ArchiveEntry, entries
from bwlint.sources.stretch import ByteSource

READY, RELOCATABLE = fatbin.PARTS
SOURCE = """
namespace ops {
template <int N> __global__ void __launch_bounds__(128) scaled(float *p) {
    __shared__ float held[N];
    held[threadIdx.x] = *p;
    __syncthreads();
    p[threadIdx.x] = held[N - 1 - threadIdx.x];
}
template __global__ void scaled<512>(float *);
}
__global__ void doubled(float *p) { *p *= 2; }
"""
NAMES = ("_Z7doubledPf", "_ZN3ops6scaledILi512EEEvPf")
FAR = "__device__ float far(float x) { return 2 * x; }\n__global__ void beside(float *p) { *p = far(*p); }\n"
NEAR = "extern __device__ float far(float x);\n__global__ void calling(float *p) { *p = far(*p); }\n"
MAIN = "__global__ void one(float *p) { *p = 1; }\nint main() { one<<<1, 1>>>(nullptr); return 0; }\n"
EMPTY = ".version 8.8\n.target sm_{}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
SHARED = ("-shared", "-Xcompiler", "-fPIC", "-cudart", "none")


@dataclass(frozen=True)
class Workshop:
    """nvcc in a folder."""

    toolkit: Toolkit
    folder: Path

    def build(self, name: str, sources: Mapping[str, str], *options: str) -> Path:
        """A file that nvcc makes; `sources` are further files, their names the arguments of nvcc."""
        for file, text in sources.items():
            (self.folder / file).write_text(text)
        self.toolkit.run("nvcc", *options, *sources, "-o", name, folder=self.folder)
        return self.folder / name

    def listed(self, path: Path) -> tuple[str, ...]:
        """What both read in the head of each image."""
        program = self.toolkit.programs / "cuobjdump"
        found = compare(program, path)
        assert found.failure == ""
        assert found.ours == found.theirs
        ours = heads(path)
        assert ours == their_heads(program, path)
        return ours


@pytest.fixture
def workshop(nvcc: Toolkit, tmp_path: Path) -> Workshop:
    return Workshop(nvcc, tmp_path)


def read_file(path: Path) -> tuple[Binary, ByteSource]:
    source = ByteSource.of_bytes(path.read_bytes())
    return read(source), source


def pairs(*targets: str, ptx: Sequence[str] = ()) -> tuple[str, ...]:
    """Options for cubins and PTX, made from C++ for their own targets; cubins of plain ones for the oldest of them."""
    plain = sorted((target for target in targets if target.isdigit()), key=int)
    codes = [f"arch=compute_{plain[0]},code=[{','.join(f'sm_{target}' for target in plain)}]"] if plain else []
    codes += [f"arch=compute_{target},code=sm_{target}" for target in targets if target not in plain]
    codes += [f"arch=compute_{target},code=compute_{target}" for target in ptx]
    return tuple(part for code in codes for part in ("-gencode", code))


def in_short(listed: Sequence[str]) -> list[str]:
    """Without the version of PTX and the packing, which are nvcc's choice."""
    return [" ".join(line.split()[:2]) for line in listed]


MIXED = ("-gencode", "arch=compute_80,code=[sm_80,sm_90,compute_80]", "-gencode", "arch=compute_120f,code=sm_121f")


@pytest.mark.parametrize(
    ("options", "cubins", "ptx"),
    [
        ("", None, None),
        ("--compress-mode=default", None, None),
        ("--compress-mode=balance", None, None),
        ("--compress-mode=size", "zstd", "zstd"),
        ("--compress-mode=speed", None, "lz4"),
        ("--compress-mode=none", "", ""),
        ("--no-compress", "", ""),
        ("-Xfatbin -compress-all", "zstd", "zstd"),
        # Images with names, options and other headers.
        ("-G", None, None),
        ("-lineinfo -Xptxas --maxrregcount=64", None, None),
    ],
)
def test_compression(workshop: Workshop, options: str, cubins: str | None, ptx: str | None) -> None:
    """None: what nvcc takes by itself, which changes from release to release."""
    path = workshop.build("ops.so", {"ops.cu": SOURCE}, *SHARED, *MIXED, *options.split())
    assert in_short(workshop.listed(path)) == ["elf sm_80", "elf sm_90", "ptx sm_80", "elf sm_121f"]
    found, source = read_file(path)
    for image in (image for container in found.containers for image in container.images):
        asked = cubins if image.kind == CUBIN else ptx
        assert asked is None or image.packed == asked
    assert (found.form, found.faults, len(found.containers)) == ("elf", (), 1)
    assert_same_bytes(workshop, path, found, source)
    assert_same_kernels(workshop, path, found, source)


def assert_same_bytes(workshop: Workshop, path: Path, found: Binary, source: ByteSource) -> None:
    """What is unpacked is what cuobjdump extracts."""
    into = workshop.folder / "extracted"
    into.mkdir()
    workshop.toolkit.run("cuobjdump", "-all", "-xelf", "all", "-xptx", "all", str(path), folder=into)
    theirs = Counter(file.read_bytes().rstrip(b"\0\n") for file in into.iterdir())
    images = [image for container in found.containers for image in container.images if image.kind != LTO]
    insides = [content(source, image) for image in images]
    assert Counter(inside.read(0, inside.size).rstrip(b"\0\n") for inside in insides) == theirs


BLOCK = re.compile(r"^Fatbin elf code:\n=+\narch = (\w+)$(.*?)(?=^Fatbin|\Z)", re.S | re.M)
USAGE = re.compile(r" Function (\S+):\s+REG:(\d+) STACK:\d+ SHARED:(\d+)")


def assert_same_kernels(workshop: Workshop, path: Path, found: Binary, source: ByteSource) -> None:
    """Names, registers and shared memory of each cubin of a host file, in order."""
    printed = workshop.toolkit.run("cuobjdump", "-all", "-res-usage", str(path))
    theirs = [(target, sorted(USAGE.findall(usage))) for target, usage in BLOCK.findall(printed)]
    ours = []
    for image in (image for container in found.containers for image in container.images if image.kind == CUBIN):
        said = cubin.read(content(source, image))
        reserved = 1024 if image.number >= 90 else 0
        kernels = [
            (kernel.name, str(kernel.registers), str(kernel.shared + reserved if kernel.shared else 0))
            for kernel in said.kernels
        ]
        ours.append((image.target, sorted(kernels)))
        assert (said.number, said.suffix, said.relabelled) == (image.number, image.suffix, False)
        assert set(cubin.kernel_names(content(source, image))) == set(NAMES)
    assert ours == theirs


@pytest.fixture
def targets(nvcc: Toolkit) -> tuple[str, ...]:
    """All that this nvcc makes cubins for: "75", "90a", "120f"."""
    told = re.search(r"--gpu-code <.*?Allowed values for this option:(.*?)\n\n", nvcc.run("nvcc", "--help"), re.S)
    assert told
    found = sorted(set(re.findall(r"sm_(\d+[af]?)'", told[1])))
    assert {"75", "90a", "100f", "120", "120a", "120f", "121", "121a", "121f"} <= set(found)
    return tuple(found)


@pytest.mark.parametrize("suffixes", ["a", "f"])
def test_every_target_in_a_shared_object(workshop: Workshop, targets: tuple[str, ...], suffixes: str) -> None:
    """Plain and f cubins of one chip go not into one file, says nvcc; a and either of them do."""
    cubins = [target for target in targets if target.endswith(("a", "f")) == (suffixes == "f")]
    cubins += [target for target in targets if target.endswith("a") and suffixes == "a"]
    with_ptx = [target for target in targets if target.endswith(suffixes)] + ["80", "120"] * (suffixes == "a")
    path = workshop.build("all.so", {"all.cu": MAIN}, *SHARED, *pairs(*cubins, ptx=with_ptx))
    assert Counter(in_short(workshop.listed(path))) == Counter(
        [*(f"elf sm_{target}" for target in cubins), *(f"ptx sm_{target}" for target in with_ptx)]
    )


def test_every_target_as_a_cubin(workshop: Workshop, targets: tuple[str, ...]) -> None:
    """The suffix f stands only in the notes of a cubin, which cuobjdump does not look into."""
    for target in targets:
        path = workshop.folder / f"{target}.cubin"
        version = EMPTY if target.rstrip("af") not in ("88", "107", "110") else EMPTY.replace("8.8", "9.4")
        path.write_bytes(workshop.toolkit.cubin(version.format(target), f"sm_{target}"))
        found = compare(workshop.toolkit.programs / "cuobjdump", path)
        assert (found.ours, found.failure) == (found.theirs, "")
        assert found.ours == (f"ELF sm_{target.removesuffix('f')}",)
        binary, _ = read_file(path)
        assert (binary.form, binary.containers[0].images[0].target) == ("cubin", f"sm_{target}")


def test_a_fatbin(workshop: Workshop) -> None:
    path = workshop.build("ops.fatbin", {"ops.cu": SOURCE}, "-fatbin", *MIXED, *pairs("120a", ptx=("121f",)))
    assert Counter(in_short(workshop.listed(path))) == Counter(
        ["elf sm_80", "elf sm_90", "ptx sm_80", "elf sm_120a", "elf sm_121f", "ptx sm_121f"]
    )
    found, source = read_file(path)
    assert (found.form, found.machine, [container.part for container in found.containers]) == ("fatbin", "", [""])
    assert_same_bytes(workshop, path, found, source)


def test_ptx(workshop: Workshop) -> None:
    path = workshop.build("ops.ptx", {"ops.cu": SOURCE}, "-ptx", "-arch=compute_120f")
    found, _ = read_file(path)
    (image,) = found.containers[0].images
    version = re.search(r"\.version (\d+)\.(\d+)", path.read_text())
    assert version
    assert (found.form, image.kind, image.target) == ("ptx", PTX, "sm_120f")
    assert image.isa == (int(version[1]), int(version[2]))


def test_a_program(workshop: Workshop) -> None:
    """The runtime that is linked into a program brings containers of its own."""
    path = workshop.build("program", {"main.cu": MAIN}, *pairs("120a", ptx=("120",)))
    assert Counter(["elf sm_120a", "ptx sm_120"]) <= Counter(in_short(workshop.listed(path)))
    found, _ = read_file(path)
    assert (found.form, {container.part for container in found.containers}) == ("elf", {READY})


def test_no_device_code(workshop: Workshop) -> None:
    path = workshop.build("host.so", {"host.cpp": "extern int none() { return 0; }"}, *SHARED)
    assert workshop.listed(path) == ()
    assert read_file(path)[0].containers == ()


# Relocatable code

WITH_PTX = ("-Xcompiler", "-fPIC", "-gencode", "arch=compute_80,code=[sm_80,compute_80]")
WITHOUT = ("-Xcompiler", "-fPIC", "-gencode", "arch=compute_80,code=sm_80")


def linked_sets(found: Binary) -> list[list[list[str]]]:
    """For each container that a link made, the images of those that it was made from."""
    by_offset = {container.at: container for container in found.containers}
    return [
        [[f"{image.kind} {image.target}" for image in by_offset[at].images] for at in container.linked_from]
        for container in found.containers
        if container.linked_from
    ]


def test_relocatable_objects(workshop: Workshop) -> None:
    """Objects, a static library of them, and what becomes of both in a link; PTX in all objects, and in some."""
    build = workshop.build
    far = build("far.o", {"far.cu": FAR}, "-dc", *WITH_PTX)
    near = build("near.o", {"near.cu": NEAR}, "-dc", *WITH_PTX)
    bare = build("bare.o", {"near.cu": NEAR}, "-dc", *WITHOUT)
    for path, listed in (
        (far, ["elf sm_80", "ptx sm_80"]),
        (near, ["elf sm_80", "ptx sm_80"]),
        (bare, ["elf sm_80"]),
    ):
        assert in_short(workshop.listed(path)) == listed
        assert [container.part for container in read_file(path)[0].containers] == [RELOCATABLE]

    library = build("ops.a", {}, "-lib", "near.o", "far.o")
    assert [image.target for each in members(library) for image in each.images] == ["sm_80"] * 4
    assert len(workshop.listed(library)) == 4

    with_ptx, without = ["cubin sm_80", "ptx sm_80"], ["cubin sm_80"]
    link = ("-shared", "-rdc=true", "-gencode", "arch=compute_80,code=sm_80")
    for name, objects, expected in (
        ("all.so", ("near.o", "far.o"), [[with_ptx, with_ptx]]),
        ("some.so", ("bare.o", "far.o"), [[without, with_ptx]]),
        ("library.so", ("-Xlinker", "--whole-archive", "ops.a", "-Xlinker", "--no-whole-archive"), [[with_ptx] * 2]),
    ):
        path = build(name, {}, *link, *objects)
        workshop.listed(path)
        found, source = read_file(path)
        assert linked_sets(found) == expected
        assert [container.part for container in found.containers].count(RELOCATABLE) == 2
        assert linked_kernels(found, source) >= {"_Z7callingPf", "_Z6besidePf"}
        assert ways(path) == {
            "7.5": [NONE],
            "8.0": [NATIVE],
            "8.9": [FAMILY],
            "12.1": [NONE if name == "some.so" else LINK],
        }


def linked_kernels(found: Binary, source: ByteSource) -> set[str]:
    """The kernels of cubins that a link made."""
    ready = [container for container in found.containers if container.linked_from]
    cubins = [image for container in ready for image in container.images if image.kind == CUBIN]
    return {name for image in cubins for name in cubin.kernel_names(content(source, image))}


@pytest.mark.parametrize(
    "order", ["one.o one-linked.o two.o two-linked.o", "one-linked.o one.o two-linked.o two.o"], ids=["after", "before"]
)
def test_two_linked_sets_in_one_library(workshop: Workshop, order: str) -> None:
    """What CMake makes of two static libraries that are each linked for devices: a set with PTX and one without."""
    build = workshop.build
    build("one.o", {"one.cu": MAIN.replace("main", "first")}, "-dc", *WITH_PTX)
    build("two.o", {"two.cu": MAIN.replace("main", "second").replace("one", "two")}, "-dc", *WITHOUT)
    for name in ("one", "two"):
        build(f"{name}-linked.o", {}, "-dlink", "-Xcompiler", "-fPIC", f"{name}.o", "-arch=sm_80")
    path = build("both.so", {}, *SHARED, *order.split())
    workshop.listed(path)
    found, source = read_file(path)
    assert sorted(linked_sets(found)) == [[["cubin sm_80"]], [["cubin sm_80", "ptx sm_80"]]]
    assert linked_kernels(found, source) == {"_Z3onePf", "_Z3twoPf"}
    assert ways(path) == {"7.5": [NONE] * 2, "8.0": [NATIVE] * 2, "8.9": [FAMILY] * 2, "12.1": [LINK, NONE]}


def library_of(path: Path) -> DeviceLibrary:
    return read_library(path.name, read_file(path)[1], ChipSet.of("12.0", "12.1"), deep=True)


def ways(path: Path) -> dict[str, list[str]]:
    """How some chips run the containers of a file."""
    units = library_of(path).units
    return {chip: sorted(unit.verdicts[chip].way for unit in units) for chip in ("7.5", "8.0", "8.9", "12.1")}


def members(library: Path) -> Iterator[Container]:
    """The containers of a static library, member by member, as `inspect` reads them."""
    for entry in entries(library, library.name, library.parent, lambda name: False):
        assert isinstance(entry, ArchiveEntry)
        yield from read(entry.source).containers


LTO_80 = ("-gencode", "arch=compute_80,code=lto_80")


def test_intermediate_code_for_the_linker(workshop: Workshop) -> None:
    alone = workshop.build("alone.o", {"far.cu": FAR}, "-dc", "-gencode", "arch=compute_120,code=lto_120")
    assert in_short(workshop.listed(alone)) == ["nvvm sm_120"]
    codes = "arch=compute_120f,code=[lto_120f,sm_120f,compute_120f]"
    beside = workshop.build("beside.o", {"far.cu": FAR}, "-dc", "-gencode", codes)
    assert in_short(workshop.listed(beside)) == [
        "nvvm sm_120f",
        "elf sm_120f",
        "ptx sm_120f",
    ]
    assert [image.kind for image in read_file(beside)[0].containers[0].images] == [LTO, CUBIN, PTX]
    with_ptx = workshop.build("with_ptx.o", {"far.cu": FAR}, "-dc", *pairs(ptx=("80",)), *LTO_80)
    for path, way, kernels in (
        (alone, NONE, ()),
        (beside, NATIVE, ("_Z6besidePf",)),
        (with_ptx, JIT, ("_Z6besidePf",)),
    ):
        found = library_of(path)
        assert found.binary.faults == ()
        assert [(unit.verdicts["12.0"].way, unit.kernels) for unit in found.units] == [(way, kernels)]
