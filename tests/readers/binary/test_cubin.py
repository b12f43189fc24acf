"""Cubins that ptxas and nvlink make in the test run, against what is known of their source and what cuobjdump says."""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from effort import at_most
from ptxas import Folder, Ptxas
from toolkit import Toolkit

from bwlint.model.images import Cubin, Kernel
from bwlint.readers.binary import cubin, elf
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

TARGETS = ("75", "80", "90", "90a", "100", "100a", "100f", "103a", "120", "120a", "120f", "121", "121a", "121f")
CUDA_12 = "12.9.86"

SHARED = """.visible .entry {name}(.param .u64 p) {{ .shared .align 16 .b8 s[{size}]; .reg .b32 r;
    mov.u32 r, s; st.shared.b32 [r], r; ret; }}"""
CALL = ".func {name}_inner(.reg .b32 i) {{ {inner} ret; }}\n.visible .entry {name}() {{ call {name}_inner, (1); ret; }}"
TMA = """.visible .entry {name}(.param .u64 p) {{ .shared .align 128 .b8 s[1024]; .shared .align 16 .b8 m[16];
    .reg .b32 a, b, c; .reg .b16 k; .reg .b64 x;
    mov.u32 a, s; mov.u32 b, m; mov.u32 c, %tid.x; mov.u16 k, 3; ld.param.u64 x, [p]; {body} ret; }}"""
TILE = "cp.async.bulk.tensor.2d.shared::{to}.global.tile.mbarrier::complete_tx::bytes [a], [x, {{c, c}}], [b];"
MANY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [a], [x], 128, [b], k;"
ALLOCATE = """.visible .entry {name}() {{ .reg .b32 a; .shared .align 16 .b8 s[16]; mov.u32 a, s;
    tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [a], 32; ret; }}"""
PRINT = """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.visible .entry print(.param .u64 p) { .reg .b64 x; ld.param.u64 x, [p];
    { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], x; st.param.b64 [v], x;
      call.uni (r), vprintf, (f, v); } ret; }"""
DYNAMIC = """.extern .shared .align 16 .b8 d[];
.visible .entry dynamic() { .reg .b32 r; mov.u32 r, d; st.shared.b32 [r], r; ret; }"""
STEPPING = "setmaxnreg.dec.sync.aligned.u32 24;"
CALLS = "__cuda_syscall_cp_async_bulk_"

PLAIN = {
    ".visible .entry plain() { ret; }": Kernel("plain"),
    ".entry hidden(.param .u64 p) { ret; }": Kernel("hidden"),
    SHARED.format(name="small", size=48): Kernel("small", shared=48),
    SHARED.format(name="full", size=49152): Kernel("full", shared=49152),
    DYNAMIC: Kernel("dynamic"),
    CALL.format(name="calling", inner=".shared .align 16 .b8 s[16]; st.shared.b32 [s], i;"): (
        Kernel("calling", shared=16)
    ),
    ".visible .entry bounded() .maxntid 256, 2, 1 .minnctapersm 2 { ret; }": Kernel("bounded", threads=(256, 2, 1)),
    ".visible .entry exact() .reqntid 64 { ret; }": Kernel("exact", required_threads=(64, 1, 1)),
    ".visible .entry few() .maxnreg 24 { ret; }": Kernel("few"),
    PRINT: Kernel("print"),
}
CLUSTERS = {
    ".visible .entry pair() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }": (
        Kernel("pair", cluster=(2, 1, 1), explicit_cluster=True)
    ),
    ".visible .entry sixteen() .reqnctapercluster 4, 4, 1 { ret; }": (Kernel("sixteen", cluster=(4, 4, 1))),
    ".visible .entry atmost() .explicitcluster .maxclusterrank 16 { ret; }": (
        Kernel("atmost", max_cluster=16, explicit_cluster=True)
    ),
    ".visible .entry free() .explicitcluster { ret; }": Kernel("free", explicit_cluster=True),
}
SPECIFIC = {
    f".visible .entry stepping() .maxntid 128 .maxnreg 64 {{ {STEPPING} ret; }}": (
        Kernel("stepping", setmaxnreg=True, threads=(128, 1, 1))
    ),
    # ptxas leaves it out where it does not know the registers that a kernel starts with.
    f".visible .entry left_out() .maxntid 128 {{ {STEPPING} ret; }}": Kernel("left_out", threads=(128, 1, 1)),
}
TCGEN05 = {
    ALLOCATE.format(name="one", group=1): Kernel("one", shared=16, tcgen05=1),
    ALLOCATE.format(name="two", group=2): Kernel("two", shared=16, tcgen05=2),
    """.visible .entry loading(.param .u32 p) { .reg .b32 a, b; ld.param.u32 a, [p];
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {b}, [a]; tcgen05.wait::ld.sync.aligned; ret; }""": Kernel("loading"),
}
COPIES = {
    "to_self": (TILE.format(to="cta"), ()),
    "to_cluster": (TILE.format(to="cluster"), (f"{CALLS}tensor_2d_tile_unicast",)),
    "to_many": (MANY, (f"{CALLS}multicast",)),
    "to_both": (MANY + TILE.format(to="cluster"), (f"{CALLS}multicast", f"{CALLS}tensor_2d_tile_unicast")),
}


def number(target: str) -> int:
    return int(target.rstrip("af"))


def kernels(target: str) -> dict[str, Kernel]:
    """PTX of each kernel that a target takes, and what a cubin says of it."""
    found = dict(PLAIN)
    if number(target) >= 90:
        found |= CLUSTERS
    if target == "90a" or (number(target) >= 100 and target[-1] in "af"):
        found |= SPECIFIC
    if target in ("100a", "100f", "103a"):
        found |= TCGEN05
    if number(target) >= 100:
        software = number(target) // 10 == 12
        for name, (body, calls) in COPIES.items():
            source = TMA.format(name=name, body=body)
            found[source] = Kernel(name, shared=1040, driver_calls=calls if software else ())
    return found


def module(target: str, *parts: str, version: str = "9.0") -> str:
    return "\n".join((f".version {version}", f".target sm_{target}", ".address_size 64", *parts))


def read(data: bytes) -> Cubin:
    return cubin.read(ByteSource.of_bytes(data))


def without_registers(found: Cubin) -> dict[str, Kernel]:
    return {kernel.name: replace(kernel, registers=None) for kernel in found.kernels}


@cache
def built(toolkit: Toolkit, target: str, *options: str) -> bytes:
    return toolkit.cubin(module(target, *kernels(target)), f"sm_{target}", *options)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target(toolkit: Toolkit, target: str) -> None:
    found = read(built(toolkit, target))
    assert (found.number, found.suffix, found.abi) == (number(target), target[len(str(number(target))) :], 8)
    assert (found.noted, found.noted_suffix, found.relabelled) == (found.number, found.suffix, False)
    assert (found.command, found.relocatable) == (f"-arch sm_{target}", False)
    assert found.toolkit is not None and found.toolkit >= (13, 0)
    assert without_registers(found) == {kernel.name: kernel for kernel in kernels(target).values()}


@pytest.mark.parametrize("target", TARGETS)
def test_names_alone(toolkit: Toolkit, target: str) -> None:
    data = built(toolkit, target)
    assert cubin.kernel_names(ByteSource.of_bytes(data)) == tuple(kernel.name for kernel in read(data).kernels)


SHOWN: dict[str, Callable[[Kernel], bool]] = {
    "CTA_PER_CLUSTER": lambda kernel: kernel.cluster is not None,
    "EXPLICIT_CLUSTER": lambda kernel: kernel.explicit_cluster,
    "MAX_CLUSTER_RANK": lambda kernel: kernel.max_cluster is not None,
    "MAX_THREADS": lambda kernel: kernel.threads is not None,
    "REQNTID": lambda kernel: kernel.required_threads is not None,
    "TCGEN05_1CTA_USED": lambda kernel: kernel.tcgen05 == 1,
    "TCGEN05_2CTA_USED": lambda kernel: kernel.tcgen05 == 2,
    "REG_RECONFIG": lambda kernel: kernel.setmaxnreg,
}
USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:\d+ SHARED:(\d+)")
ATTRIBUTE = re.compile(r"Attribute:\tEIATTR_(\w+)\n\tFormat:\t\w+(?:\n\tValue:\t(.*))?")
SECTION = re.compile(r"^\.nv\.info\.(\S+)$")


def attributes(dump: str) -> Iterator[tuple[str, str, str]]:
    """Kernel, attribute and value of each that cuobjdump -elf shows."""
    for part in re.split(r"\n\n(?=\.nv\.)", dump):
        head, _, rest = part.partition("\n")
        named = SECTION.match(head)
        if named:
            yield from ((named[1], *found) for found in ATTRIBUTE.findall(rest))


@pytest.mark.parametrize("target", TARGETS)
def test_what_cuobjdump_says(toolkit: Toolkit, target: str) -> None:
    data = built(toolkit, target)
    ours = {kernel.name: kernel for kernel in read(data).kernels}
    reserved = 1024 if number(target) >= 90 else 0
    usage = USAGE.findall(toolkit.dump(data, "-res-usage"))
    assert {(name, int(registers), max(0, int(shared) - reserved)) for name, registers, shared in usage} == {
        (kernel.name, kernel.registers, kernel.shared) for kernel in ours.values()
    }
    dump = toolkit.dump(data, "-elf")
    assert f"sm={target.rstrip('f')}," in dump
    theirs = set(attributes(dump))
    assert {(name, code) for name, code, _ in theirs if code in SHOWN} == {
        (kernel.name, code) for kernel in ours.values() for code, said in SHOWN.items() if said(kernel)
    }
    for name, code, value in theirs:
        if code in ("CTA_PER_CLUSTER", "MAX_THREADS", "REQNTID"):
            kernel = ours[name]
            shown = {"CTA_PER_CLUSTER": kernel.cluster, "MAX_THREADS": kernel.threads}.get(
                code, kernel.required_threads
            )
            assert shown == tuple(int(part, 16) for part in value.split())
        elif code == "MAX_CLUSTER_RANK":
            assert ours[name].max_cluster == int(value, 16)


@pytest.mark.parametrize(
    ("written", "arch", "number", "suffix"),
    [
        ("80", "sm_90", 90, ""),
        ("80", "sm_121a", 121, "a"),
        ("90", "sm_120", 120, ""),
        ("100f", "sm_103", 103, ""),
        ("100f", "sm_103f", 103, "f"),
        ("120f", "sm_121a", 121, "a"),
    ],
)
def test_written_for_an_earlier_target(toolkit: Toolkit, written: str, arch: str, number: int, suffix: str) -> None:
    """The notes keep the PTX's target too (.note.nv.cuinfo), and it is none that the image was made for."""
    found = read(toolkit.cubin(module(written, *PLAIN), arch))
    assert (found.number, found.suffix, found.noted, found.relabelled) == (number, suffix, number, False)


def test_other_options_beside_the_target(toolkit: Toolkit) -> None:
    found = read(built(toolkit, "120f", "-lineinfo", "--maxrregcount=64", "-O1"))
    assert (found.suffix, found.noted) == ("f", 120)
    assert "-maxrregcount 64" in found.command


LIBRARY = """.visible .func {name}({given}) {{ .reg .b32 a, b, c; .shared .align 128 .b8 s[2000];
    .shared .align 16 .b8 m[16]; mov.u32 a, s; mov.u32 b, m; mov.u32 c, 0; st.shared.b32 [a], c; st.shared.b32 [b], c;
    {body} ret; }}"""
MAIN = """.extern .func far({given});
.func near({given}) {{ call far, ({passed}); ret; }}
.shared .align 16 .b8 own[300];
.visible .entry direct(.param .u64 p) {{ .reg .b64 x; ld.param.u64 x, [p]; call far, ({passed}); ret; }}
.visible .entry by_another(.param .u64 p) {{ .reg .b64 x; ld.param.u64 x, [p]; call near, ({passed}); ret; }}
.visible .entry apart() {{ ret; }}"""


@pytest.mark.parametrize(
    ("target", "body", "said"),
    [
        ("120a", TILE.format(to="cluster"), {"driver_calls": (f"{CALLS}tensor_2d_tile_unicast",)}),
        ("120f", TILE.format(to="cta"), {}),
        ("100a", "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [a], 32;", {"tcgen05": 2}),
        ("90", "", {}),
    ],
    ids=["driver calls", "none", "tensor cores", "plain"],
)
def test_linked(toolkit: Toolkit, target: str, body: str, said: dict[str, object]) -> None:
    """nvlink gives kernels what the functions that they call bring along, and objects do not have it yet."""
    given, passed = (".reg .b64 x", "x")
    main = module(target, MAIN.format(given=given, passed=passed))
    library = module(target, LIBRARY.format(name="far", given=given, body=body))
    objects = [toolkit.cubin(text, f"sm_{target}", "-c") for text in (main, library)]
    before, beside = (read(data) for data in objects)
    assert before.relocatable and beside.relocatable
    assert without_registers(before) == {name: Kernel(name) for name in ("direct", "by_another", "apart")}
    assert beside.kernels == ()
    data = toolkit.linked(f"sm_{target}", *objects)
    linked = read(data)
    assert (linked.relocatable, linked.relabelled, linked.suffix) == (False, False, target.lstrip("0123456789"))
    assert linked.command.startswith(f"-arch sm_{target}")
    calling = Kernel("", shared=2016, **said)  # type: ignore[arg-type]
    assert without_registers(linked) == {
        "direct": replace(calling, name="direct"),
        "by_another": replace(calling, name="by_another"),
        "apart": Kernel("apart"),
    }
    usage = USAGE.findall(toolkit.dump(data, "-res-usage"))
    registers = {name: int(count) for name, count, _ in usage}
    assert all(kernel.registers == registers[kernel.name] for kernel in linked.kernels)


def test_shared_memory_of_an_object(toolkit: Toolkit) -> None:
    """An object does not count yet what the system reserves."""
    found = read(toolkit.cubin(module("120", SHARED.format(name="k", size=4000)), "sm_120", "-c"))
    assert without_registers(found) == {"k": Kernel("k", shared=4000)}


@cache
def older(root: Path) -> Ptxas | str:
    """ptxas of CUDA 12: the older layout for sm_90 and below."""
    folder = Folder(Path(os.environ.get("BWLINT_PTXAS") or root), "nvidia-cuda-nvcc-cu12")
    return folder.ptxas(CUDA_12) or folder.problem


@pytest.mark.parametrize(
    ("written", "arch", "number", "suffix", "abi", "noted"),
    [
        ("75", "sm_75", 75, "", 7, None),
        ("80", "sm_80", 80, "", 7, None),
        ("80", "sm_90", 90, "", 7, None),
        ("90a", "sm_90a", 90, "a", 7, None),
        ("80", "sm_120", 120, "", 8, 120),
        ("100a", "sm_100a", 100, "a", 8, 100),
        ("100f", "sm_100f", 100, "f", 8, 100),
        ("120", "sm_120", 120, "", 8, 120),
        ("120a", "sm_120a", 120, "a", 8, 120),
        ("120f", "sm_121f", 121, "f", 8, 121),
    ],
)
def test_cuda_12(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    written: str,
    arch: str,
    number: int,
    suffix: str,
    abi: int,
    noted: int | None,
) -> None:
    tool = older(tmp_path_factory.getbasetemp() / "ptxas")
    if isinstance(tool, str):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no ptxas {CUDA_12} from PyPI: {tool}")
    source = tmp_path / "module.ptx"
    source.write_text(module(written, *kernels(written), version="8.8"))
    Toolkit(tool.path.parent).run("ptxas", f"-arch={arch}", "module.ptx", "-o", "made.cubin", folder=tmp_path)
    found = read((tmp_path / "made.cubin").read_bytes())
    assert (found.number, found.suffix, found.abi, found.noted) == (number, suffix, abi, noted)
    assert (found.toolkit, found.relabelled) == ((12, 9), False)
    assert {kernel.name: kernel.shared for kernel in found.kernels} == {
        kernel.name: kernel.shared for kernel in kernels(written).values()
    }
    if arch == f"sm_{written}":
        assert without_registers(found) == {kernel.name: kernel for kernel in kernels(written).values()}


def patched(data: bytes, at: int, form: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


def flagged(data: bytes, flags: int) -> bytes:
    return patched(data, 48, "<I", flags)


@pytest.mark.parametrize(
    ("target", "flags", "number", "noted"),
    [
        ("120a", 0x6007902, 121, 120),
        ("100f", 0x6007802, 120, 100),
        ("120", 0x6005A02, 90, 120),
        ("90a", 0x6007802, 120, 90),
    ],
)
def test_relabelled(toolkit: Toolkit, target: str, flags: int, number: int, noted: int) -> None:
    found = read(flagged(built(toolkit, target), flags))
    assert (found.number, found.noted, found.relabelled) == (number, noted, True)
    assert found.suffix == ("a" if target.endswith("a") else "")


def test_relabelled_by_the_suffix(toolkit: Toolkit) -> None:
    """An image for one chip alone, made out to be for all of a generation, and the other way round."""
    exact, plain = built(toolkit, "120a"), built(toolkit, "120")
    place = exact.index(b"\x02\x09\x01\x00")
    assert read(patched(exact, place + 2, "<B", 0)).relabelled
    assert read(flagged(plain, 0x600780A)).relabelled
    assert not read(flagged(exact, 0x600780A)).relabelled


def renamed(data: bytes, *names: bytes) -> bytes:
    """The same with sections of other names: their readers find nothing."""
    for name in names:
        assert name in data
        data = data.replace(name, b".x" + name[2:])
    return data


def test_without_a_command_the_target_of_the_ptx_bounds_it(toolkit: Toolkit) -> None:
    silent = renamed(built(toolkit, "120"), b".note.nv.tkinfo\0")
    found = read(silent)
    assert (found.noted, found.command, found.relabelled) == (None, "", False)
    assert found.toolkit is not None and found.toolkit >= (13, 0)
    assert not read(flagged(silent, 0x6007902)).relabelled
    lowered = read(flagged(silent, 0x6005A02))
    assert (lowered.number, lowered.noted, lowered.relabelled) == (90, 120, True)


def test_without_notes_nothing_is_noted(toolkit: Toolkit) -> None:
    bare = renamed(built(toolkit, "120f"), b".note.nv.tkinfo\0", b".note.nv.cuinfo\0", b".nv.compat\0")
    found = read(bare)
    assert (found.suffix, found.noted, found.toolkit, found.relabelled) == ("", None, None, False)
    assert without_registers(found) == {kernel.name: kernel for kernel in kernels("120f").values()}


def place_of(data: bytes, name: str) -> tuple[int, elf.Section]:
    """Where a section's header stands, and what it says."""
    found = elf.read(ByteSource.of_bytes(data))
    index = next(index for index, section in enumerate(found.sections) if section.name == name)
    return struct.unpack_from("<Q", data, 40)[0] + 64 * index, found.sections[index]


SIZE, INFO, LINK = 32, 44, 40


def test_damage_with_its_reason(toolkit: Toolkit) -> None:
    data = built(toolkit, "120a")
    info, at_info = place_of(data, ".nv.info.to_both")
    table, _ = place_of(data, ".symtab")
    strings, _ = place_of(data, ".strtab")
    parameters, _ = place_of(data, ".nv.constant0.plain")
    extern = data.index(b"\x04\x0f", at_info.offset)
    cases = {
        "no cubin but an ELF file for x86_64": patched(data, 18, "<H", 62),
        "an ABI that bwlint does not know": patched(data, 7, "<B", 0),
        "no ELF file": b"\x50\xed\x55\xba" + data,
        "wanted at offset": patched(data, info + SIZE, "<Q", 1 << 23),
        "bytes of attributes": patched(data, info + SIZE, "<Q", 1 << 40),
        "attributes in '.nv.info.to_both' that end at": patched(data, info + SIZE, "<Q", at_info.size - 2),
        "an attribute of form 0": patched(data, at_info.offset, "<B", 0),
        "an attribute of form 9": patched(data, at_info.offset, "<B", 9),
        "calls symbol 65535 of": patched(data, extern + 4, "<I", 65535),
        "no table of their names": patched(data, table + 4, "<I", 1),
        "wanted at offset ": patched(data, table + 24, "<Q", 1 << 50),
        "parameters of kernel 'plain', but not its code": patched(data, parameters + INFO, "<I", 1 << 30),
        "the program headers": data[:-1],
    }
    for reason, damaged in cases.items():
        with pytest.raises(ReadError, match=reason):
            read(damaged)
    # The names of what is called lie nowhere, and so none is the driver's.
    assert not any(kernel.driver_calls for kernel in read(patched(data, strings + SIZE, "<Q", 0)).kernels)


@pytest.mark.parametrize("target", ["75", "120a"])
def test_cut_anywhere(toolkit: Toolkit, target: str) -> None:
    """The section table stands at the end: a cubin that lacks any byte of it is refused."""
    data = built(toolkit, target)
    found = elf.read(ByteSource.of_bytes(data))
    edges = {0, 16, 64, len(data) - 1, *(section.offset for section in found.sections)}
    edges |= {section.offset + section.size for section in found.sections if section.type != elf.NOBITS}
    for end in sorted(edge + step for edge, step in product(edges, (-1, 0, 1)) if 0 <= edge + step < len(data)):
        with pytest.raises(ReadError):
            read(data[:end])
        names_or_reason(data[:end])


def names_or_reason(data: bytes) -> tuple[str, ...] | str:
    """What the names alone are: fewer places that can contradict each other are read for them."""
    try:
        return cubin.kernel_names(ByteSource.of_bytes(data))
    except ReadError as error:
        return str(error)


VALUES = (0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF)


def lies(data: bytes) -> Iterator[bytes]:
    """Each field of the header and of each section with values that are wrong in it."""
    found = elf.read(ByteSource.of_bytes(data))
    (table,) = struct.unpack_from("<Q", data, 40)
    for at, value in product(range(4, 64), (0, 1, 0x7F, 0xFF)):
        yield patched(data, at, "<B", value)
    for index, field, value in product(range(len(found.sections)), (0, 4, 24, SIZE, LINK, INFO), VALUES):
        yield patched(data, table + 64 * index + field, "<I", value)
    for section in found.sections:
        if section.name.startswith((".nv.info", ".nv.compat", ".note")):
            for at in range(section.offset, section.offset + section.size):
                yield patched(data, at, "<B", 0xFF)


def test_every_lie_has_an_answer(toolkit: Toolkit) -> None:
    data = built(toolkit, "120a")
    start = time.process_time()
    refused = tried = 0
    for damaged in lies(data):
        tried += 1
        try:
            found = read(damaged)
        except ReadError:
            refused += 1
            continue
        assert len(found.kernels) <= len(kernels("120a"))
        names_or_reason(damaged)
    assert 200 < refused < tried
    assert (time.process_time() - start) / tried < 0.05


def test_attributes_are_bounded(toolkit: Toolkit) -> None:
    """Sections that all lie on the same megabytes: what is read is their sum."""
    data = built(toolkit, "120a")
    for name in kernels("120a").values():
        row, _ = place_of(data, f".nv.info.{name.name}")
        data = patched(patched(data, row + 24, "<Q", len(data)), row + SIZE, "<Q", 2 << 20)
    with at_most(1), pytest.raises(ReadError, match="bytes of attributes in a cubin, and at most"):
        read(data + bytes(2 << 20))


def test_cxx(nvcc: Toolkit) -> None:
    """What __cluster_dims__, __launch_bounds__ and __shared__ of C++ become."""
    source = b"""
    namespace ops { template <int N> __global__ void __launch_bounds__(128, 2) scaled(float *p) {
        __shared__ float held[N]; held[threadIdx.x] = *p; __syncthreads(); p[threadIdx.x] = held[N - 1 - threadIdx.x]; }
    template __global__ void scaled<512>(float *); }
    __global__ void __cluster_dims__(4, 1, 1) paired(float *p) { *p = 1; }
    """
    data = nvcc.made("nvcc", {"ops.cu": source}, "-cubin", "-arch=sm_120f", "ops.cu")
    found = read(data)
    assert (found.number, found.suffix, found.relabelled) == (120, "f", False)
    assert without_registers(found) == {
        "_ZN3ops6scaledILi512EEEvPf": Kernel("_ZN3ops6scaledILi512EEEvPf", shared=2048, threads=(128, 1, 1)),
        "_Z6pairedPf": Kernel("_Z6pairedPf", cluster=(4, 1, 1), explicit_cluster=True),
    }
