"""ELF as far as inspections need it, with a bound on every count; `ReadError` where a file contradicts itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from struct import Struct
from typing import NamedTuple

from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

MAGIC = b"\x7fELF"
CUDA = 190
RELOCATABLE = 1
PROGRAM_DATA, NOBITS, NOTE, DYNAMIC = 1, 8, 7, 2
_DYNAMIC_SECTION = 6
_NAME_TABLES = (".shstrtab", ".strtab")

_MACHINES = {3: "i386", 21: "ppc64le", 40: "arm", 62: "x86_64", CUDA: "cuda", 183: "aarch64"}
_MACHINES |= {243: "riscv64", 258: "loongarch64"}
_LOAD = 1
_NEEDED, _STRINGS, _STRINGS_SIZE = 1, 5, 10
ALLOCATED, EXECUTABLE = 2, 4
_IN_FIRST_SECTION = 0xFFFF

_MAX_SECTIONS, _MAX_SECTIONS_OF_CUBIN = 131_072, 32_768
_MAX_SEGMENTS = 1024
_MAX_NAMES = 12 << 20
_MAX_DYNAMIC = 65_536
_MAX_NEEDED = 1024
_MAX_STRING = 4096


@dataclass(frozen=True, slots=True)
class _ElfLayout:
    """How the structures of one class lie; `segment_order` says which fields of a segment are wanted, in order."""

    header: Struct
    section: Struct
    segment: Struct
    segment_order: tuple[int, int, int, int, int]
    dynamic: Struct


_LAYOUTS = {
    1: _ElfLayout(Struct("<HHIIIIIHHHHHH"), Struct("<IIIIIIIIII"), Struct("<IIIIIIII"), (0, 1, 2, 4, 5), Struct("<iI")),
    2: _ElfLayout(Struct("<HHIQQQIHHHHHH"), Struct("<IIQQQQIIQQ"), Struct("<IIQQQQQQ"), (0, 2, 3, 5, 6), Struct("<qQ")),
}


@dataclass(frozen=True, slots=True)
class _HeaderTable:
    """Where a table of headers lies: offset, bytes a row, rows."""

    at: int
    size: int
    count: int


@dataclass(frozen=True, slots=True)
class _Header:
    """The file header; `names` is the index of the section with the names of all."""

    layout: _ElfLayout
    said: tuple[int, int, int, int, int, int, int]
    """The fields of `Elf` from `bits` to `flags`."""
    machine: int
    segments: _HeaderTable
    sections: _HeaderTable
    names: int


class Section(NamedTuple):
    """One row of the section table; a cubin has many, and a plain tuple is made fastest. Sizes are as stated."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Segment(NamedTuple):
    """One row of the program header table; `size` is what the file holds of it, `memory` what it takes when loaded."""

    type: int
    offset: int
    address: int
    size: int
    memory: int


class Stretch(NamedTuple):
    """Bytes of the file that lie in memory from an address on."""

    address: int
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Elf:
    """An ELF file's own description. `abi` is EI_ABIVERSION, `type` and `version` are e_type and e_version.

    `stretches` are what is loaded, by ascending address; `names` is the index of the section with the names of all.
    """

    source: ByteSource
    bits: int
    osabi: int
    abi: int
    type: int
    machine: int
    version: int
    flags: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]
    stretches: tuple[Stretch, ...]
    names: int = 0

    @property
    def is_named(self) -> bool:
        """Whether there are sections with names: if there are, the table of names bears its own."""
        return self.names < len(self.sections) and self.sections[self.names].name in _NAME_TABLES

    @property
    def machine_name(self) -> str:
        """x86_64, aarch64, cuda, ...; "" for one that is not known here."""
        return _MACHINES.get(self.machine, "")

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def data(self, section: Section) -> bytes:
        """The bytes of a section; the caller has looked at its size. Raises `ReadError` where the file is shorter."""
        return b"" if section.type == NOBITS else self.source.read(section.offset, section.size)

    def string(self, table: Section, place: int) -> str:
        """A string of a table of them, at most 4096 bytes of it; "" where the table is shorter."""
        return _string(self.source, table.offset, table.size, place)

    def offset_of(self, address: int) -> int | None:
        """Where in the file a virtual address lies, by loaded segments or else sections; None where it does not."""
        after = bisect_right(self.stretches, address, key=lambda stretch: stretch.address)
        if after == 0:
            return None
        start, size, offset = self.stretches[after - 1]
        found = offset + address - start
        return found if address < start + size and found < self.source.size else None


def read(source: ByteSource) -> Elf:
    header = _header(source)
    table, names = _numbered(source, header)
    sections = _sections(source, header.layout, table, names)
    segments = _segments(source, header.layout, header.segments)
    return Elf(source, *header.said, sections, segments, _stretches(sections, segments), names)


def cut(source: ByteSource) -> str:
    """That a file ends before what a loader maps of it does; "" where it does not. Its sections may lie beyond."""
    header = _header(source)
    rows = _segments(source, header.layout, header.segments)
    end = max((row.offset + row.size for row in rows if row.type == _LOAD), default=0)
    return (
        "" if end <= source.size else f"the file is cut off: {end} bytes of it are loaded, and {source.size} are there"
    )


def names_of_sections(source: ByteSource) -> bytes:
    """The table of all section names, each ended by a zero byte, without a look at the sections."""
    header = _header(source)
    table, index = _numbered(source, header)
    if not 0 < index < table.count:
        return b""
    layout = header.layout.section
    row = layout.unpack(_stretch(source, table.at + index * layout.size, layout.size, "section table"))
    return _names(source, row)


def needed(elf: Elf) -> tuple[str, ...]:
    """The names of the shared libraries that a file asks the loader for (DT_NEEDED), in order."""
    dynamic = next((row for row in elf.segments if row.type == DYNAMIC), None)
    if dynamic is None:
        if any(section.type == _DYNAMIC_SECTION for section in elf.sections):
            raise ReadError("a dynamic section that no segment holds")
        return ()
    layout = _LAYOUTS[elf.bits // 32].dynamic
    if dynamic.size > _MAX_DYNAMIC * layout.size:
        raise ReadError(f"a dynamic section of {dynamic.size} bytes")
    data = _stretch(elf.source, dynamic.offset, dynamic.size - dynamic.size % layout.size, "dynamic section")
    rows = list(takewhile(lambda row: row[0] != 0, layout.iter_unpack(data)))
    places = [value for tag, value in rows if tag == _NEEDED]
    strings = {tag: value for tag, value in reversed(rows) if tag in (_STRINGS, _STRINGS_SIZE)}
    if not places and _STRINGS in strings:
        return ()
    if len(places) > _MAX_NEEDED:
        raise ReadError(f"{len(places)} needed libraries")
    start = elf.offset_of(strings.get(_STRINGS, 0))
    if start is None or elf.source.read(start, 1) != b"\0":
        raise ReadError("a dynamic section without a table of names")
    names = tuple(_string(elf.source, start, strings.get(_STRINGS_SIZE, 0), place) for place in places)
    if "" in names:
        raise ReadError("a needed library without a name")
    return names


def _header(source: ByteSource) -> _Header:
    ident = source.read(0, min(16, source.size))
    if not ident.startswith(MAGIC):
        raise ReadError("no ELF file: it does not begin with its magic")
    if len(ident) < 16:
        raise ReadError(f"an ELF file that ends after {len(ident)} bytes")
    layout = _LAYOUTS.get(ident[4])
    if layout is None:
        raise ReadError(f"an ELF file of class {ident[4]}, which is neither 32 nor 64 bit")
    if ident[5] != 1:
        raise ReadError("an ELF file that is not little-endian")
    fields = layout.header.unpack(_stretch(source, 16, layout.header.size, "header"))
    kind, machine, version, _, segments_at, sections_at, flags = fields[:7]
    segment_size, segment_count, section_size, section_count, names = fields[8:]
    if segments_at and segment_count and segment_size != layout.segment.size:
        raise ReadError(f"program headers of {segment_size} bytes instead of {layout.segment.size}")
    if sections_at and section_size != layout.section.size:
        raise ReadError(f"section headers of {section_size} bytes instead of {layout.section.size}")
    return _Header(
        layout,
        (32 * ident[4], ident[7], ident[8], kind, machine, version, flags),
        machine,
        _HeaderTable(segments_at, segment_size, segment_count if segments_at else 0),
        _HeaderTable(sections_at, section_size, section_count),
        names,
    )


def _numbered(source: ByteSource, header: _Header) -> tuple[_HeaderTable, int]:
    """The section table with its true number of rows, and the index of the section of names."""
    table, names = header.sections, header.names
    if table.at == 0:
        return _HeaderTable(0, table.size, 0), 0
    if table.count == 0 or names == _IN_FIRST_SECTION:
        # More than 65,279 sections: their number is the first one's size, the names' index its link.
        first = header.layout.section.unpack(_stretch(source, table.at, table.size, "section table"))
        table = _HeaderTable(table.at, table.size, table.count or first[5])
        names = first[6] if names == _IN_FIRST_SECTION else names
    # A cubin may lie in memory, unpacked.
    most = _MAX_SECTIONS_OF_CUBIN if header.machine == CUDA else _MAX_SECTIONS
    if table.count > most:
        raise LimitError(f"{table.count} sections, and at most {most} are read")
    return table, names


def _sections(source: ByteSource, layout: _ElfLayout, table: _HeaderTable, names: int) -> tuple[Section, ...]:
    if table.count == 0:
        return ()
    rows = list(layout.section.iter_unpack(_stretch(source, table.at, table.size * table.count, "section table")))
    text = _names(source, rows[names]) if 0 < names < len(rows) else b""
    named = _named(text, [row[0] for row in rows])
    return tuple([Section(name, *row[1:]) for name, row in zip(named, rows, strict=True)])


def _names(source: ByteSource, row: Sequence[int]) -> bytes:
    _, kind, _, _, at, size, *_ = row
    if kind == NOBITS:
        return b""
    if size > _MAX_NAMES:
        raise LimitError(f"{size} bytes of section names, and at most {_MAX_NAMES} are read")
    return _stretch(source, at, size, "names of the sections")


def _named(text: bytes, places: Sequence[int]) -> list[str]:
    """The names that start at these places of a string table; "" where it is shorter."""
    found: dict[int, str] = {}
    left = _MAX_NAMES
    for place in places:
        if place in found:
            continue
        end = text.find(b"\0", place)
        name = text[place : end if end >= 0 else len(text)]
        # Other characters than ASCII may take four bytes each in memory.
        left -= len(name) if name.isascii() else 4 * len(name)
        if left < 0:
            raise LimitError(f"section names that overlap to more than {_MAX_NAMES} bytes")
        found[place] = name.decode("utf-8", "replace")
    return [found[place] for place in places]


def _segments(source: ByteSource, layout: _ElfLayout, table: _HeaderTable) -> tuple[Segment, ...]:
    if table.count == 0:
        return ()
    if table.count > _MAX_SEGMENTS:
        raise LimitError(f"{table.count} segments, and at most {_MAX_SEGMENTS} are read")
    rows = layout.segment.iter_unpack(_stretch(source, table.at, table.size * table.count, "program headers"))
    kind, offset, address, held, memory = layout.segment_order
    return tuple([Segment(row[kind], row[offset], row[address], row[held], row[memory]) for row in rows])


def _stretches(sections: Sequence[Section], segments: Sequence[Segment]) -> tuple[Stretch, ...]:
    """What is loaded: segments, or the sections of a file without them."""
    loaded = [Stretch(row.address, row.size, row.offset) for row in segments if row.type == _LOAD and row.size]
    rows = loaded or [
        Stretch(row.address, row.size, row.offset)
        for row in sections
        if row.flags & ALLOCATED and row.type != NOBITS and row.address and row.size
    ]
    return tuple(sorted(rows))


def _stretch(source: ByteSource, at: int, size: int, what: str) -> bytes:
    if at + size > source.size:
        raise ReadError(f"the {what} of an ELF file should end at {at + size}, and the file ends at {source.size}")
    return source.read(at, size)


def _string(source: ByteSource, start: int, size: int, place: int) -> str:
    at = start + place
    if place >= size or at >= source.size:
        return ""
    held = source.read(at, min(_MAX_STRING, size - place, source.size - at))
    return held.partition(b"\0")[0].decode("utf-8", "replace")
