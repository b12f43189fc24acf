"""ELF headers: files of this machine against pyelftools, made ones byte by byte, damaged ones."""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from effort import at_most
from elftools.elf.elffile import ELFFile

from bwlint.readers.binary import elf
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

HEADER = {64: "<4sBBBBB7xHHIQQQIHHHHHH", 32: "<4sBBBBB7xHHIIIIIHHHHHH"}
SECTION = {64: "<IIQQQQIIQQ", 32: "<IIIIIIIIII"}
SEGMENT = {64: "<IIQQQQQQ", 32: "<IIIIIIII"}
DYNAMIC = {64: "<qQ", 32: "<iI"}
FIELDS = ("sh_addr", "sh_offset", "sh_size", "sh_link", "sh_info", "sh_flags", "sh_entsize")


@dataclass(frozen=True)
class Part:
    """A section to make; `size` and `name_at` are lies where they are given."""

    name: str
    data: bytes = b""
    type: int = 1
    flags: int = 0
    address: int = 0
    size: int | None = None
    name_at: int | None = None


@dataclass(frozen=True)
class Made:
    """A file to make: header, contents, segments, sections; fields of the header are lies where they are given."""

    parts: Sequence[Part] = ()
    segments: Sequence[tuple[int, int, int, int]] = ()
    bits: int = 64
    machine: int = 62
    many: bool = False
    lies: dict[str, int] | None = None

    def build(self) -> bytes:
        parts = [Part("", type=0), *self.parts]
        names = b"".join(part.name.encode() + b"\0" for part in parts) + b".shstrtab\0"
        parts.append(Part(".shstrtab", names, 3))
        head = struct.calcsize(HEADER[self.bits])
        width = struct.calcsize(SEGMENT[self.bits])
        body = b""
        rows: list[tuple[int, ...]] = []
        at = 0
        for part in parts:
            offset = head + width * len(self.segments) + len(body)
            size = len(part.data) if part.size is None else part.size
            if self.many and not rows:
                size = len(parts)
            place = at if part.name_at is None else part.name_at
            link = len(parts) - 1 if self.many and not rows else 0
            rows.append((place, part.type, part.flags, part.address, offset, size, link, 0, 1, 0))
            body += part.data
            at += len(part.name.encode()) + 1
        fields = {
            "phoff": head,
            "shoff": head + width * len(self.segments) + len(body),
            "phentsize": width,
            "phnum": len(self.segments),
            "shentsize": struct.calcsize(SECTION[self.bits]),
            "shnum": 0 if self.many else len(parts),
            "shstrndx": 0xFFFF if self.many else len(parts) - 1,
        } | (self.lies or {})
        first = struct.pack(
            HEADER[self.bits],
            *(b"\x7fELF", self.bits // 32, 1, 1, 0, 0, 2, self.machine, 1, 0),
            *(fields["phoff"], fields["shoff"], 0, head, fields["phentsize"], fields["phnum"]),
            *(fields["shentsize"], fields["shnum"], fields["shstrndx"]),
        )
        packed = [self._segment(*row) for row in self.segments]
        return first + b"".join(packed) + body + b"".join(struct.pack(SECTION[self.bits], *row) for row in rows)

    def _segment(self, kind: int, offset: int, address: int, size: int) -> bytes:
        if self.bits == 64:
            return struct.pack(SEGMENT[64], kind, 0, offset, address, address, size, size, 1)
        return struct.pack(SEGMENT[32], kind, offset, address, address, size, size, 0, 1)


def read(data: bytes) -> elf.Elf:
    return elf.read(ByteSource.of_bytes(data))


def libraries() -> list[str]:
    """Extension modules of this Python and its packages: real files of the host."""
    names = ("_ctypes", "_ssl", "_json", "_decimal", "pyexpat", "yaml._yaml", "libcst.native")
    found = []
    for name in names:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue
        if spec is not None and spec.origin and Path(spec.origin).is_file():
            found.append(spec.origin)
    return [path for path in found if Path(path).read_bytes()[:4] == elf.MAGIC]


@pytest.mark.parametrize("path", libraries())
def test_what_pyelftools_reads(path: str) -> None:
    with Path(path).open("rb") as file:
        theirs: Any = ELFFile(file)  # its types lack what its objects have
        ours = elf.read(ByteSource.of_file(file.fileno()))
        assert [
            (one.name, one.address, one.offset, one.size, one.link, one.info, one.flags, one.entry)
            for one in ours.sections
        ] == [(one.name, *(one[field] for field in FIELDS)) for one in theirs.iter_sections()]
        dynamic = theirs.get_section_by_name(".dynamic")
        assert list(elf.needed(ours)) == [tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
        for segment in theirs.iter_segments():
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]:
                last = segment["p_vaddr"] + segment["p_filesz"] - 1
                assert ours.offset_of(segment["p_vaddr"]) == segment["p_offset"]
                assert ours.offset_of(last) == segment["p_offset"] + segment["p_filesz"] - 1
        table = elf.names_of_sections(ours.source)
        assert all(one.name.encode() + b"\0" in table for one in ours.sections)


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("many", [False, True], ids=["counted in the header", "counted in the first section"])
def test_sections(bits: int, many: bool) -> None:
    made = Made([Part(".text", b"code", flags=6, address=0x1000), Part(".bss", type=8, size=99), Part("été")])
    found = read(replace(made, bits=bits, many=many).build())
    assert [one.name for one in found.sections] == ["", ".text", ".bss", "été", ".shstrtab"]
    assert (found.bits, found.machine_name, found.segments) == (bits, "x86_64", ())
    text, bss = found.section(".text"), found.section(".bss")
    assert text is not None and bss is not None and found.section(".data") is None
    assert (found.data(text), found.data(bss), bss.size) == (b"code", b"", 99)


@pytest.mark.parametrize(
    ("machine", "name"), [(62, "x86_64"), (183, "aarch64"), (190, "cuda"), (21, "ppc64le"), (4711, "")]
)
def test_machines(machine: int, name: str) -> None:
    assert read(Made(machine=machine).build()).machine_name == name


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize(
    ("segments", "address", "offset"),
    [
        ([(1, 0, 0x1000, 40)], 0x1000, 0),
        ([(1, 0, 0x1000, 40)], 0x1027, 39),
        ([(1, 0, 0x1000, 40), (1, 40, 0x2000, 8)], 0x2007, 47),
        ([(1, 0, 0x1000, 40)], 0x1028, None),
        ([(1, 0, 0x1000, 40)], 0xFFF, None),
        ([(1, 0, 0x1000, 40)], 0, None),
        ([(1, 0, 0x1000, 0xFFFFFFF)], 0x100000, None),
        ([(2, 0, 0x1000, 40)], 0x1000, None),
        ([], 0x9000, "code"),
        ([], 0x9003, "code"),
        ([], 0x9004, None),
        ([], 0, None),
    ],
)
def test_addresses(
    bits: int, segments: list[tuple[int, int, int, int]], address: int, offset: int | str | None
) -> None:
    made = Made(
        [Part(".text", b"code", flags=2, address=0x9000), Part(".note", b"note"), Part(".bss", type=8, flags=2)],
        segments,
        bits,
    )
    data = made.build()
    wanted = data.index(b"code") + address - 0x9000 if offset == "code" else offset
    assert read(data).offset_of(address) == wanted


def dynamic(bits: int, *rows: tuple[int, int]) -> bytes:
    return b"".join(struct.pack(DYNAMIC[bits], *row) for row in rows)


STRINGS = b"\0libcudart.so.12\0libc.so.6\0"


def asking(bits: int, *rows: tuple[int, int], at: int = 0x5000) -> bytes:
    """A file with a dynamic segment of these rows; its strings are at address 0x5000."""
    held = dynamic(bits, *rows)
    start = struct.calcsize(HEADER[bits]) + 2 * struct.calcsize(SEGMENT[bits])
    segments = [(1, start, at, len(STRINGS)), (2, start + len(STRINGS), 0, len(held))]
    return Made([Part("strings", STRINGS), Part("dynamic", held)], segments, bits).build()


@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([(1, 1), (1, 17), (5, 0x5000), (10, len(STRINGS)), (0, 0)], ("libcudart.so.12", "libc.so.6")),
        ([(5, 0x5000), (10, len(STRINGS)), (14, 1), (0, 0), (1, 1)], ()),
        ([(1, 1), (5, 0x5000), (10, 4)], ("lib",)),
    ],
    ids=["in order", "none before the end", "table ends early"],
)
def test_needed(bits: int, rows: list[tuple[int, int]], names: tuple[str, ...]) -> None:
    assert elf.needed(read(asking(bits, *rows))) == names


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "without a table"),
        ([(1, 1), (10, 27)], "without a table"),
        ([(1, 1), (5, 0x9999), (10, 27)], "without a table"),
        ([(1, 1), (5, 0x5000)], "without a name"),
        ([(1, 4711), (5, 0x5000), (10, 27)], "without a name"),
        ([(1, 1)] * 2000 + [(5, 0x5000), (10, 27)], "2000 needed libraries"),
    ],
)
def test_needed_of_a_damaged_file(rows: list[tuple[int, int]], reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        elf.needed(read(asking(64, *rows)))


def test_no_dynamic_segment_asks_for_nothing() -> None:
    assert elf.needed(read(Made([Part(".text", b"x" * 16)]).build())) == ()
    with pytest.raises(ReadError, match="that no segment holds"):
        elf.needed(read(Made([Part(".dynamic", b"x" * 16, 6)]).build()))


FILE = Made([Part(".text", b"code"), Part(".data", b"data")], [(1, 0, 0x1000, 40)])


def lying(**fields: int) -> bytes:
    return replace(FILE, lies=fields).build()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin with its magic"),
        (b"\x7fEL", "does not begin with its magic"),
        (b"MZ" + bytes(100), "does not begin with its magic"),
        (b"\x7fELF\x02\x01", "ends after 6 bytes"),
        (b"\x7fELF\x03" + bytes(60), "class 3"),
        (b"\x7fELF\x02\x02" + bytes(60), "not little-endian"),
        (FILE.build()[:63], "the header"),
        (FILE.build()[:-1], "section table"),
        (lying(shoff=1 << 60), "section table"),
        (lying(shnum=60000), "section table"),
        (lying(shentsize=32), "section headers of 32 bytes"),
        (lying(phentsize=0), "program headers of 0 bytes"),
        (lying(phnum=60000), "60000 segments"),
        (lying(phoff=1 << 63, phnum=3), "program headers"),
        (Made([Part("x")], many=True, lies={"shoff": 64 + 4}).build(), "section"),
        (Made([Part(".shstrtab", size=1 << 40)], lies={"shstrndx": 1}).build(), "bytes of section names"),
        (Made([Part(".shstrtab", size=1 << 20)], lies={"shstrndx": 1}).build(), "names of the sections"),
    ],
)
def test_damaged(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        lying(shoff=0),
        lying(shstrndx=0),
        lying(shstrndx=4000),
        Made([Part(".names", type=8, size=1 << 40)], lies={"shstrndx": 1}).build(),
        Made([Part(".text", name_at=1 << 31)]).build(),
        Made([Part(".text", size=1 << 62)]).build(),
    ],
    ids=["no sections", "no names", "names in no section", "names in no bytes", "name beyond the table", "lying size"],
)
def test_odd_and_read(data: bytes) -> None:
    found = read(data)
    assert found.section(".data") is None
    with pytest.raises(ReadError, match="wanted at offset"):
        for section in found.sections:
            found.data(section)
        found.source.read(found.source.size, 1)


def test_names_that_overlap_are_bounded() -> None:
    """Each section's name is the rest of one long string: 8 MiB of file, and gigabytes of names."""
    long = b"a" * (7 << 20) + b"\0"
    parts = [Part(f"{number}"[:0], name_at=number) for number in range(2000)]
    data = Made([Part(".names", long, 3), *parts], lies={"shstrndx": 1}).build()
    with at_most(2), pytest.raises(ReadError, match="overlap"):
        read(data)


def test_sections_are_bounded() -> None:
    first = struct.pack(SECTION[64], 0, 0, 0, 0, 0, 1 << 40, 0, 0, 0, 0)
    data = Made(lies={"shnum": 0, "shoff": 64}).build()[:64] + first + bytes(1000)
    with pytest.raises(ReadError, match="at most 131072"):
        read(data)


def test_every_length_of_a_file() -> None:
    """A file cut anywhere is refused, and never more than that."""
    data = asking(64, (1, 1), (5, 0x5000), (10, len(STRINGS)), (0, 0))
    for end in range(len(data)):
        with pytest.raises(ReadError):
            read(data[:end])


def test_every_byte_of_the_headers() -> None:
    """Whatever a byte says, the answer is an ELF file or a reason."""
    data = asking(64, (1, 1), (5, 0x5000), (10, len(STRINGS)), (0, 0))
    tried: list[Callable[[ByteSource], object]] = [lambda source: elf.needed(elf.read(source)), elf.names_of_sections]
    for at in range(len(data)):
        for value in (0, 1, 0x7F, 0xFF):
            source = ByteSource.of_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            for one in tried:
                try:
                    one(source)
                except ReadError:
                    continue
