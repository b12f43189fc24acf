"""Small binaries made byte by byte, as nvcc, linkers and pip leave them: for tests that need no toolkit.

    cubin(120, "f", ["k"])            a cubin; kernels are names, or `Kernel`s with attributes
    ptx(80), ptx(120, "a")            the text of a PTX module
    entry(data, 120, "f", "zstd")     one image of a container, header and payload
    container(entry, ...)             a fatbin
    shared_object(container, ...)     a host library (ELF); `relocatable` for one of an -rdc build
    elf([Section(...), ...])          any other ELF file
    pe(container, ...)                a host library of Windows
    SAMPLES                           one file of each kind, by its name
    zipped, wheel, conda, tarred, static_library      archives of {name: bytes}

All of them are bytes. What must be damaged is changed in these: `HEADER`, `SECTION`, ... say where fields lie.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import lz4.block
import zstandard

WHEEL = "made-1.0-py3-none-manylinux_2_28_x86_64.whl"
"""A name for what `wheel` makes; `inspect` reads the platform from it."""

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SEGMENT = struct.Struct("<IIQQQQQQ")
SYMBOL = struct.Struct("<IBBHQQ")
DYNAMIC = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
NOTE = struct.Struct("<III")
WRAPPER = struct.Struct("<IIQQ")
COFF = struct.Struct("<4sHHIIIHH")
PE_SECTION = struct.Struct("<8sIIII16x")
CONTAINER = struct.Struct("<4sHHQ")
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")

PROGBITS, SYMTAB, STRTAB, RELA, DYNAMIC_SECTION, NOTES, NOBITS = 1, 2, 3, 4, 6, 7, 8
INFO, COMPAT = 0x70000000, 0x70000086
REGCOUNT, EXTERNS = 0x2F, 0x0F

_MANY = 0xFF00
"""From so many sections on, their number stands in the first of them."""

_ALLOCATED = 2
_ROWS = {SYMTAB: SYMBOL.size, RELA: RELOCATION.size, DYNAMIC_SECTION: DYNAMIC.size}
_OPTIONS = b"--compile-only  "
_BASE = 0x10000
"""Addresses in a shared object are this far from offsets."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section to make; `memory` is the size of one that takes no room in the file."""

    name: str
    data: bytes = b""
    type: int = PROGBITS
    flags: int = 0
    link: int = 0
    info: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel to make. `attributes` are rows of its .nv.info; `calls` functions that it calls and the driver has."""

    name: str
    shared: int = 0
    registers: int = 24
    attributes: tuple[tuple[int, bytes | int | None], ...] = ()
    calls: tuple[str, ...] = ()


def elf(
    sections: Sequence[Section],
    segments: Sequence[tuple[int, ...]] = (),
    *,
    kind: int = 3,
    machine: int = 62,
    ident: bytes = b"",
    version: int = 1,
    flags: int = 0,
) -> bytes:
    """An ELF file of 64 bits. `ident` is what follows the magic, class, order and version of its first bytes.

    An empty section comes before the given ones and the table of names behind them. `segments` are rows of
    the program header table as `SEGMENT` packs them.
    """
    every = [Section("", type=0), *sections]
    names = b"".join(_encoded(section.name) + b"\0" for section in every)
    every.append(Section(".shstrtab", names + b".shstrtab\0", STRTAB))
    offsets = _offsets(every, len(segments))
    body = bytearray(b"".join(SEGMENT.pack(*row) for row in segments))
    rows, name_at = [], 0
    for section, at in zip(every, offsets, strict=True):
        body += bytes(at - HEADER.size - len(body)) + section.data
        address = _BASE + at if section.flags & _ALLOCATED else 0
        size = section.memory or len(section.data)
        row = (name_at, section.type, section.flags, address, at, size, section.link, section.info, 8)
        rows.append(SECTION.pack(*row, _ROWS.get(section.type, 0)))
        name_at += len(_encoded(section.name)) + 1
    body += bytes(-len(body) % 8)
    count, names_at = len(rows), len(rows) - 1
    if count >= _MANY:
        rows[0] = SECTION.pack(0, 0, 0, 0, 0, count, names_at, 0, 0, 0)
        count, names_at = 0, 0xFFFF
    first = (b"\x7fELF\2\1\1" + ident).ljust(16, b"\0")
    places = (HEADER.size if segments else 0, HEADER.size + len(body))
    counts = (HEADER.size, SEGMENT.size, len(segments), SECTION.size, count, names_at)
    return HEADER.pack(first, kind, machine, version, 0, *places, flags, *counts) + bytes(body) + b"".join(rows)


def cubin(
    number: int,
    suffix: str = "",
    kernels: Sequence[str | Kernel] = ("k",),
    *,
    abi: int = 8,
    toolkit: tuple[int, int] = (13, 0),
    relocatable: bool = False,
    command: str | None = None,
    build: str = "made",
    lines: bytes = b"",
) -> bytes:
    """A cubin as ptxas leaves it: `abi` is 7 or 8, and before CUDA 13 the second has other marks too.

    `command` is what the notes say that ptxas was called with; by default the target of the cubin. `build` is
    that of ptxas. `lines` is a line table: the n-th address in it is that of the n-th kernel.
    """
    made = [Kernel(kernel) if isinstance(kernel, str) else kernel for kernel in kernels]
    calls = list(dict.fromkeys(name for kernel in made for name in kernel.calls))
    names = ["", *(kernel.name for kernel in made), *calls]
    command = f"-arch sm_{number}{suffix} " if command is None else command
    notes = _notes(number, toolkit, command, build) if abi == 8 else []
    compat = b"\2\x09\0\0" if toolkit < (13, 0) or suffix != "a" else b"\2\x09\1\0"
    rows = [_attribute(REGCOUNT, struct.pack("<II", at, kernel.registers)) for at, kernel in enumerate(made, 1)]
    fixed = [
        Section(".strtab", b"\0".join(_encoded(name) for name in names) + b"\0", STRTAB),
        Section(".symtab", b"", SYMTAB, link=1),
        *notes,
        Section(".nv.info", b"".join(rows), INFO, link=2),
        *([Section(".nv.compat", compat + b"\2\2\1\0", COMPAT)] if abi == 8 else []),
    ]
    code = len(fixed) + 1
    symbols = [SYMBOL.pack(0, 0, 0, 0, 0, 0)]
    at = 1
    for index, name in enumerate(names[1:]):
        place = (0x12, 0x10, min(code + 4 * index, 0xFFFF), 0, 128) if index < len(made) else (0x12, 0, 0, 0, 0)
        symbols.append(SYMBOL.pack(at, *place))
        at += len(_encoded(name)) + 1
    fixed[1] = replace(fixed[1], data=b"".join(symbols))
    parts = [
        part
        for index, kernel in enumerate(made)
        for part in _kernel(kernel, code + 4 * index, index + 1, names, number, relocatable)
    ]
    parts += _lines(lines, len(fixed) + len(parts) + 1)
    return elf(
        [*fixed, *parts],
        kind=1 if relocatable else 2,
        machine=190,
        ident=bytes((0x41, 8) if abi == 8 else (0x33, 7)),
        version=1 if abi == 8 else 10 * toolkit[0] + toolkit[1],
        flags=_flags(number, suffix, abi, toolkit),
    )


def _lines(table: bytes, index: int) -> list[Section]:
    """A line table, as the section of that index, and its relocations for the symbols of kernels."""
    places = [match.end() for match in re.finditer(rb"\0\x09\x02(?=\0{8})", table)]
    rows = b"".join(RELOCATION.pack(at, symbol << 32 | 2, 0) for symbol, at in enumerate(places, 1))
    made = [Section(".debug_line", table), Section(".rela.debug_line", rows, RELA, link=2, info=index)]
    return made if table else []


def ptx(number: int, suffix: str = "", kernels: Sequence[str] = ("k",), isa: tuple[int, int] = (8, 7)) -> bytes:
    """A PTX module with empty kernels."""
    head = f"//\n.version {isa[0]}.{isa[1]}\n.target sm_{number}{suffix}\n.address_size 64\n"
    return (head + "".join(f".visible .entry {name}()\n{{\nret;\n}}\n" for name in kernels)).encode()


def entry(data: bytes, number: int, suffix: str = "", packed: str = "", *, kind: int = 0) -> bytes:
    """One image of a container with its header. `packed` is "", lz4 or zstd; a `kind` of 0 is told by the data."""
    kind = kind or (2 if data.startswith(b"\x7fELF") else 1)
    payload = pack(data, packed)
    padded = payload + bytes(-len(payload) % 8)
    flags = 0x11 | {"": 0, "lz4": 0x2000, "zstd": 0x8000}[packed] | {"": 0, "a": 0x100000, "f": 0x200000}[suffix]
    size, full = (len(payload), len(data)) if packed else (0, 0)
    version = (7, 8) if kind == 1 else (8, 1)
    # With PTX go options for its assembler; at `ENTRY.size` it says where they lie, and how many bytes.
    extra = struct.pack("<II", ENTRY.size + 8, len(_OPTIONS)) + _OPTIONS + bytes(8) if kind == 1 else b""
    at, header = (ENTRY.size if extra else 0), ENTRY.size + len(extra)
    fields = (kind, 0x101, header, len(padded), size, at, *version, number, 0, 0, flags, 0, full)
    return ENTRY.pack(*fields) + extra + padded


def container(*entries: bytes) -> bytes:
    """A container of images."""
    body = b"".join(entries)
    return CONTAINER.pack(b"\x50\xed\x55\xba", 1, CONTAINER.size, len(body)) + body


def shared_object(
    *containers: bytes,
    relocatable: Sequence[bytes] = (),
    needed: Sequence[str] = ("libcudart.so.13", "libc.so.6"),
    machine: int = 62,
    relocated: bool = False,
) -> bytes:
    """A host library; where there are `relocatable` containers, the last of the others was linked from them.

    `relocated`: the pointers to containers stand in relocations, as for aarch64.
    """
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in needed)
    sections = [
        Section(".dynstr", strings, STRTAB, _ALLOCATED),
        Section("__nv_relfatbin", b"".join(relocatable), flags=_ALLOCATED),
        Section(".nv_fatbin", b"".join(containers), flags=_ALLOCATED),
        Section(".nvFatBinSegment", bytes(WRAPPER.size * len([*containers, *relocatable])), flags=_ALLOCATED),
        Section(".rela.dyn", bytes(RELOCATION.size * len([*containers, *relocatable]) * relocated), RELA, _ALLOCATED),
        Section(".dynamic", bytes(DYNAMIC.size * (len(needed) + 3)), DYNAMIC_SECTION, _ALLOCATED, link=1),
    ]
    sections = [section for section in sections if section.data]
    at = dict(zip((section.name for section in sections), _offsets([Section(""), *sections], 2)[1:], strict=True))
    pointers = [*_addresses(at.get("__nv_relfatbin", 0), relocatable), *_addresses(at.get(".nv_fatbin", 0), containers)]
    order = _in_order(pointers, len(relocatable))
    first = _BASE + at.get(".nvFatBinSegment", 0) + 8
    filled = {
        ".nvFatBinSegment": _wrappers(pointers, len(relocatable), written=not relocated),
        ".rela.dyn": b"".join(RELOCATION.pack(first + 24 * row, 8, to) for row, to in enumerate(order)),
        ".dynamic": _dynamic(strings, needed, _BASE + at[".dynstr"]),
    }
    sections = [replace(section, data=filled.get(section.name, section.data)) for section in sections]
    end = at[".dynamic"] + len(filled[".dynamic"])
    size = len(filled[".dynamic"])
    segments = [
        (1, 4, 0, _BASE, _BASE, end, end, 0x1000),
        (2, 4, at[".dynamic"], _BASE + at[".dynamic"], 0, size, size, 8),
    ]
    return elf(sections, segments, machine=machine)


def pe(*containers: bytes, relocatable: Sequence[bytes] = (), machine: int = 0x8664) -> bytes:
    """A DLL; where there are `relocatable` containers, the last of the others was linked from them."""
    every = [*relocatable, *containers]
    parts = [(b"__nv_rel", b"".join(relocatable)), (b".nv_fatb", b"".join(containers))]
    parts = [(name, data) for name, data in (*parts, (b".nvFatBi", bytes(WRAPPER.size * len(every)))) if data]
    optional = struct.pack("<H22xQ", 0x20B, _BASE)
    table = 0x80 + COFF.size + len(optional)
    places, at = [], 0x400
    for _, data in parts:
        places.append(at)
        at += len(data) + -len(data) % 0x200
    at_of = dict(zip((name for name, _ in parts), places, strict=True))
    pointers = [*_addresses(at_of.get(b"__nv_rel", 0), relocatable), *_addresses(at_of.get(b".nv_fatb", 0), containers)]
    parts = [(name, _wrappers(pointers, len(relocatable)) if name == b".nvFatBi" else data) for name, data in parts]
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x80)
    head = (
        head.ljust(0x80, b"\0") + COFF.pack(b"PE\0\0", machine, len(parts), 0, 0, 0, len(optional), 0x2022) + optional
    )
    for (name, data), place in zip(parts, places, strict=True):
        head += PE_SECTION.pack(name, len(data), place, len(data) + -len(data) % 0x200, place)
    assert len(head) == table + PE_SECTION.size * len(parts) <= 0x400
    return head.ljust(0x400, b"\0") + b"".join(data + bytes(-len(data) % 0x200) for _, data in parts)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def wheel(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A wheel of the name `WHEEL`."""
    return zipped({**files, "made-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\n"}, method)


def tarred(files: Mapping[str, bytes], packing: str = "") -> bytes:
    """A tar archive; `packing` is "", gz, bz2, xz or zstd."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return pack(buffer.getvalue(), packing)


def conda(files: Mapping[str, bytes]) -> bytes:
    return zipped({"metadata.json": b"{}", "pkg-made-1.0-0.tar.zst": tarred(files, "zstd")}, zipfile.ZIP_STORED)


def static_library(files: Mapping[str, bytes]) -> bytes:
    """An ar archive with names as GNU writes them, of at most 15 bytes."""
    members = [
        f"{name}/".ljust(16).encode() + b"0           0     0     644     %-10d`\n" % len(data) + data
        for name, data in files.items()
    ]
    return b"!<arch>\n" + b"".join(member + b"\n" * (len(member) % 2) for member in members)


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _offsets(sections: Sequence[Section], segments: int) -> list[int]:
    """Where the data of each section lies."""
    found, at = [], HEADER.size + SEGMENT.size * segments
    for section in sections:
        at += -at % 16
        found.append(at)
        at += len(section.data)
    return found


def _flags(number: int, suffix: str, abi: int, toolkit: tuple[int, int]) -> int:
    if abi == 7:
        return number << 16 | 0x500 | number | (0x800 if suffix == "a" else 0)
    return 0x6000002 | number << 8 | (8 if suffix == "a" and toolkit < (13, 0) else 0)


def _notes(number: int, toolkit: tuple[int, int], command: str, build: str) -> list[Section]:
    """The command and release of ptxas, and the target of its PTX."""
    release = b"Cuda compilation tools, release %d.%d, V%d.%d.0\0" % (*toolkit, *toolkit)
    strings = b"\0ptxas\0" + release + _encoded(f"Build {build}\0")
    places = (2, 0, 1, 7, 7 + len(release), len(strings))
    tools = struct.pack("<6I", *places) + strings + _encoded(command) + b"\0"
    tools += bytes(-len(tools) % 4)
    target = struct.pack("<HHI", 2, number, 10 * toolkit[0] + toolkit[1])
    older = struct.pack("<HHII", 1, number, 1, 1)
    target, name = (target, ".note.nv.cuinfo") if toolkit >= (13, 0) else (older, ".note.nv.cuver")
    return [
        Section(".note.nv.tkinfo", NOTE.pack(12, len(tools), 2000) + b"NVIDIA Corp\0" + tools, NOTES),
        Section(name, NOTE.pack(12, len(target), 1000) + b"NVIDIA Corp\0" + target, NOTES),
    ]


def _attribute(code: int, value: bytes | int | None) -> bytes:
    if isinstance(value, bytes):
        return struct.pack("<BBH", 4, code, len(value)) + value
    return struct.pack("<BBH", 1 if value is None else 3, code, value or 0)


def _kernel(
    kernel: Kernel, code: int, symbol: int, names: Sequence[str], number: int, relocatable: bool
) -> Iterator[Section]:
    """Four sections: code, attributes, shared memory and parameters. Most cubins have them in another order."""
    externs = b"".join(struct.pack("<I", names.index(name)) for name in kernel.calls)
    rows = [*kernel.attributes, *([(EXTERNS, externs)] if externs else [])]
    reserved = 1024 if number >= 90 and not relocatable else 0
    yield Section(f".text.{kernel.name}", bytes(128), flags=6, link=2, info=kernel.registers << 24 | symbol)
    yield Section(
        f".nv.info.{kernel.name}", b"".join(_attribute(*row) for row in rows) + _attribute(0x36, 0), INFO, info=code
    )
    yield Section(f".nv.shared.{kernel.name}", type=NOBITS, flags=3, info=code, memory=kernel.shared + reserved)
    yield Section(f".nv.constant0.{kernel.name}", bytes(16), flags=2, info=code)


def _addresses(at: int, containers: Sequence[bytes]) -> Iterator[int]:
    for each in containers:
        yield _BASE + at
        at += len(each)


def _in_order(pointers: Sequence[int], relocatable: int) -> list[int]:
    """Each set of relocatable containers, which come first here, is followed by what it was linked into."""
    return [*pointers[relocatable:-1], *pointers[:relocatable], *pointers[-1:]]


def _wrappers(pointers: Sequence[int], relocatable: int, *, written: bool = True) -> bytes:
    order = _in_order(pointers, relocatable)
    versions = [1] * (len(order) - 1) + [2 if relocatable else 1]
    rows = zip(versions, order, strict=True)
    return b"".join(WRAPPER.pack(0x466243B1, version, to if written else 0, 0) for version, to in rows)


def _dynamic(strings: bytes, needed: Sequence[str], at: int) -> bytes:
    rows = [(1, strings.index(name.encode() + b"\0")) for name in needed]
    return b"".join(DYNAMIC.pack(*row) for row in [*rows, (5, at), (10, len(strings)), (0, 0)])


def pack(data: bytes, packing: str) -> bytes:
    """Bytes packed as "", lz4 (a block), zstd, gz, bz2 or xz."""
    return _PACK[packing](data)


def _lz4(data: bytes) -> bytes:
    return bytes(lz4.block.compress(data, store_size=False))


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


_PACK: Mapping[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "lz4": _lz4,
    "zstd": _zstd,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


# Samples: one file of each kind that is read

_TRIPLE = struct.pack("<III", 2, 1, 1)
_KERNELS = (
    Kernel(
        "_Z4gemmPf", 4096, 96, ((0x3D, _TRIPLE), (0x05, _TRIPLE), (0x54, None)), ("__cuda_syscall_cp_async_bulk_x",)
    ),
    Kernel("plain"),
)
CUBIN = cubin(120, "f", _KERNELS)
_OLDER = cubin(90, "a", _KERNELS, abi=7, toolkit=(12, 4))
READY = (
    container(entry(CUBIN, 120, "f"), entry(ptx(80), 80, packed="lz4"), entry(cubin(100), 100, packed="lz4")),
    container(entry(_OLDER, 90, "a", "zstd"), entry(cubin(120), 120, packed="zstd")),
)
OBJECTS = tuple(
    container(entry(cubin(90, kernels=(name,), relocatable=True), 90), entry(ptx(80, kernels=(name,)), 80))
    for name in ("one", "two")
)
SAMPLES: Mapping[str, bytes] = {
    "new.cubin": CUBIN,
    "old.cubin": _OLDER,
    "some.fatbin": b"".join(READY),
    "plain.so": shared_object(*READY),
    "rdc.so": shared_object(*READY, relocatable=OBJECTS),
    "moved.so": shared_object(*READY, relocatable=OBJECTS, relocated=True),
    "some.dll": pe(*READY, relocatable=OBJECTS),
    "some.ptx": ptx(120, "a", ("one", "two")),
}
"""By a name that goes with the kind."""
ARCHIVES: Mapping[str, bytes] = {
    WHEEL: wheel({"made/a.so": SAMPLES["rdc.so"], "made/b.cubin": CUBIN}),
    "stored.whl": wheel({"made/a.so": SAMPLES["plain.so"], "c.zip": zipped({"c.cubin": CUBIN})}, zipfile.ZIP_STORED),
    "some.conda": conda({"lib/a.so": SAMPLES["plain.so"]}),
    "some.tar": tarred({"a.so": SAMPLES["plain.so"], "b.cubin": CUBIN}),
    "some.tar.gz": tarred({"a.cubin": CUBIN}, "gz"),
    "some.tar.xz": tarred({"a.cubin": CUBIN}, "xz"),
    "some.a": static_library({"a.o": shared_object(READY[0]), "b.o": CUBIN}),
}
"""By a name that goes with the kind."""
