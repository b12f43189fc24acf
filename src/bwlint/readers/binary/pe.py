"""PE as far as inspections need it: the machine, the sections with device code, and where addresses lie."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from bwlint.readers.binary.elf import PROGRAM_DATA, Section
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

MAGIC = b"MZ"

_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64", 0x14C: "i386"}
_SIGNATURE = b"PE\0\0"
_WIDE = 0x20B
_COFF = Struct("<4sHHIIIHH")
_SECTION = Struct("<8sIIII16x")
_BASE_AT = 24
_IMPORTS_AT = 120
_IMPORT = Struct("<IIIII")
_MOST_NEEDED = 1024
_LONGEST_NAME = 256
_MOST_SECTIONS = 96
# A name has eight bytes there; these are what the linker leaves of nvcc's.
_NAMES = {b".nv_fatb": ".nv_fatbin", b"__nv_rel": "__nv_relfatbin", b".nvFatBi": ".nvFatBinSegment"}


@dataclass(frozen=True, slots=True)
class Pe:
    """The headers of a PE file; `sections` bear the names that they have in ELF files, addresses include the base.

    `imports` is the address of the table of needed libraries, 0 where there is none, `base` that of the file.
    """

    source: ByteSource
    machine_name: str
    sections: tuple[Section, ...]
    imports: int
    base: int

    @property
    def cut(self) -> str:
        """That the file ends before one of its sections does; "" where it does not."""
        end = max((row.offset + row.size for row in self.sections if row.offset), default=0)
        size = self.source.size
        return "" if end <= size else f"the file is cut off: {end} bytes of it are loaded, and {size} are there"

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def offset_of(self, address: int) -> int | None:
        """Where in the file the byte of a virtual address lies; None where the file does not hold it."""
        for section in self.sections:
            if section.address <= address < section.address + section.size:
                return section.offset + address - section.address
        return None


def read(source: ByteSource) -> Pe:
    """The headers of a PE file; raises `ReadError` where it is none."""
    start = int.from_bytes(source.read(0x3C, 4), "little")
    signature, machine, count, _, _, _, optional, _ = _COFF.unpack(source.read(start, _COFF.size))
    if signature != _SIGNATURE:
        raise ReadError("no PE file: its signature is missing")
    if count > _MOST_SECTIONS:
        raise ReadError(f"{count} sections in a PE file, and at most {_MOST_SECTIONS} are read")
    head = source.read(start + _COFF.size, optional)
    wide = int.from_bytes(head[:2], "little") == _WIDE
    base = int.from_bytes(head[_BASE_AT : _BASE_AT + 8], "little") if wide else 0
    table = source.read(start + _COFF.size + optional, count * _SECTION.size)
    sections = tuple(_section(base, *row) for row in _SECTION.iter_unpack(table))
    place = int.from_bytes(head[_IMPORTS_AT : _IMPORTS_AT + 4], "little") if wide else 0
    return Pe(source, _MACHINES.get(machine, ""), sections, base + place if place else 0, base)


def needed(pe: Pe) -> tuple[str, ...]:
    """The names of the libraries that a file asks the loader for, in order; raises `ReadError`."""
    at = pe.offset_of(pe.imports)
    names: list[str] = []
    while at is not None and len(names) < _MOST_NEEDED:
        _, _, _, name, _ = _IMPORT.unpack(pe.source.read(at, _IMPORT.size))
        if not name:
            break
        names.append(_text(pe, pe.base + name))
        at += _IMPORT.size
    return tuple(names)


def _text(pe: Pe, address: int) -> str:
    at = pe.offset_of(address)
    if at is None:
        raise ReadError(f"the name of a needed library at {address:#x}, which no section holds")
    held = pe.source.read(at, min(_LONGEST_NAME, pe.source.size - at))
    return held.partition(b"\0")[0].decode("ascii", "replace")


def _section(base: int, name: bytes, size: int, address: int, held: int, offset: int) -> Section:
    # What is held is padded to the file's alignment; what is stated may be larger than it.
    text = _NAMES.get(name) or name.rstrip(b"\0").decode("ascii", "replace")
    return Section(text, PROGRAM_DATA, 0, base + address, offset, min(size, held), 0, 0, 0, 0)
