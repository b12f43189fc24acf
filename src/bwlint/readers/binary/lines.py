"""Where kernels stand in their source: the line tables of cubins (nvcc -lineinfo or -G), read with pyelftools.

Each function has a sequence of .debug_line that begins with its address; a relocation on that address names it, in
relocatable and in linked cubins alike. Its first row is the line on which nvdisasm -g has the function begin. Nothing
else is read of a sequence, so what a table costs is bounded by its header and by the number of kernels. What has no
relocation names no function, and nothing is guessed for it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from struct import Struct, unpack_from
from typing import Any

from bwlint.model.images import Place
from bwlint.readers.binary.elf import Elf
from bwlint.sources.errors import LimitError, ReadError

TABLE = ".debug_line"
_RELA, _REL, _SYMBOLS = 4, 9, 2
_WITH_ADDEND = Struct("<QQq")
_SYMBOL = Struct("<IBBHQQ")
_UNDEFINED, _RESERVED = 0, 0xFF00
_SET_ADDRESS = b"\0\x09\x02"
_VERSIONS = range(2, 5)
_MAX_TABLE = 32 << 20
_MAX_RELOCATIONS = 4 << 20
_MAX_HEADER = 128 << 10
_MAX_PATH = 4096
_ROW = 24
"""Bytes in which the first row of a sequence comes: some operations of a few bytes each, then the row."""
_BEHIND = 32
_ENDLESS = re.compile(rb"[\x80-\xff]{65}")
"""A number of more bytes than any has: to read it takes the square of its length."""


@dataclass(slots=True)
class LineAllowance:
    """Bytes of line tables that may still be decoded: pyelftools takes some 10 microseconds for each."""

    left: int = 256 << 10

    def take(self, size: int) -> None:
        """Raises LimitError where that is too much."""
        self.left -= size
        if self.left < 0:
            raise LimitError("more line tables than are read")


def places(elf: Elf, kernels: Mapping[int, str], allowance: LineAllowance) -> tuple[dict[str, Place], str]:
    """Where kernels (by the section of their code) stand, by name; and why that of others could not be read, or ""."""
    found: dict[str, Place] = {}
    index = next((at for at, section in enumerate(elf.sections) if section.name == TABLE), None)
    if index is None or not kernels:
        return found, ""
    try:
        for name, place in _Lines.of(elf, index, allowance).of_kernels(kernels, index):
            found.setdefault(name, place)
    except ReadError as error:
        return found, str(error)
    return found, ""


@dataclass(frozen=True, slots=True)
class _Lines:
    """One table, in one program for each compiled source."""

    elf: Elf
    data: bytes
    allowance: LineAllowance
    headers: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, elf: Elf, index: int, allowance: LineAllowance) -> _Lines:
        section = elf.sections[index]
        if elf.bits != 64:
            raise LimitError("a line table in a cubin of 32 bits")
        if section.size > _MAX_TABLE:
            raise LimitError(f"a line table of {section.size} bytes, and at most {_MAX_TABLE} are read")
        return cls(elf, elf.data(section), allowance)

    def of_kernels(self, kernels: Mapping[int, str], index: int) -> Iterator[tuple[str, Place]]:
        """Kernels whose sequence begins at the begin of their code."""
        programs = _programs(self.data)
        start, end = 0, 0
        left = set(kernels)
        for at, code in sorted(self._relocated(index)):
            if code not in left:
                continue
            left.remove(code)
            while at >= end:
                try:
                    start, end = next(programs)
                except StopIteration:
                    raise ReadError("a line table that ends before its relocations do") from None
            yield kernels[code], self._first(start, end, at)

    def _relocated(self, index: int) -> Iterator[tuple[int, int]]:
        """Offsets of addresses in the table, each with the section of code of which it is the begin."""
        for section in self.elf.sections:
            if section.info == index and section.type == _REL:
                raise LimitError("relocations of a line table without addends")
            if section.info != index or section.type != _RELA or section.link >= len(self.elf.sections):
                continue
            symbols = self.elf.sections[section.link]
            if symbols.type != _SYMBOLS:
                raise ReadError("relocations of a line table that have no symbols")
            if section.size > _MAX_RELOCATIONS or symbols.size > _MAX_TABLE:
                raise LimitError("more relocations of a line table than are read")
            table, rows = self.elf.data(symbols), self.elf.data(section)
            for at, info, addend in _WITH_ADDEND.iter_unpack(
                rows[: len(rows) // _WITH_ADDEND.size * _WITH_ADDEND.size]
            ):
                symbol = (info >> 32) * _SYMBOL.size
                if symbol + _SYMBOL.size > len(table):
                    raise ReadError(f"a relocation of a line table for symbol {info >> 32}, which is not there")
                _, _, _, code, value, _ = _SYMBOL.unpack_from(table, symbol)
                if _UNDEFINED < code < _RESERVED and value + addend == 0:
                    yield at, code

    def _first(self, start: int, end: int, address: int) -> Place:
        """The place of the first row of the sequence that begins with an address; it lies in this program."""
        from elftools.dwarf.lineprogram import LineProgram

        at = address - len(_SET_ADDRESS)
        if at < start or address + 8 > end or self.data[at:address] != _SET_ADDRESS:
            raise ReadError("a relocation of a line table where no address is")
        header = self._header(start, end)
        size = min(end - at, _ROW)
        self.allowance.take(size)
        # What begins in the last bytes may go on behind them.
        stream = io.BytesIO(self.data[at : at + size + _BEHIND] + bytes(_BEHIND))
        with _Failures():
            program = LineProgram(header, stream, _structs(), 0, size)
            row = next((entry.state for entry in program.get_entries() if entry.state is not None), None)
            if row is None or row.end_sequence or row.line < 1:
                raise ReadError("a line table without a row for a kernel")
            return _path(header, row.file), row.line

    def _header(self, start: int, end: int) -> Any:
        """What a program says of its files. One is kept, as kernels come in its order: they may be large."""
        if start not in self.headers:
            self.headers.clear()
            self.headers[start] = self._parse(start, end)
        return self.headers[start]

    def _parse(self, start: int, end: int) -> Any:
        from elftools.common.utils import struct_parse

        version, size = unpack_from("<HI", self.data, start + 4)
        if version not in _VERSIONS:
            raise LimitError(f"a line table of DWARF {version}, and 2 to 4 are read")
        if size > min(end - start - 10, _MAX_HEADER):
            raise LimitError(f"a header of {size} bytes in a line table")
        part = self.data[start : start + 10 + size]
        if _ENDLESS.search(part):
            raise LimitError("numbers without end in a line table")
        self.allowance.take(len(part))
        with _Failures():
            return struct_parse(_structs().Dwarf_lineprog_header, io.BytesIO(part), 0)


def _programs(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each program of a table begins and ends. Those of 64-bit DWARF are not read."""
    at = 0
    while at + 10 <= len(data):
        (size,) = unpack_from("<I", data, at)
        end = at + 4 + size
        if size < 6 or end > len(data):
            raise ReadError(f"a line table that is cut off: a part of it should end at {end} of {len(data)} bytes")
        yield at, end
        at = end


def _path(header: Any, number: int) -> str:
    """The path of a file of the header, by its number, with its folder."""
    names = header["file_entry"]
    if not 1 <= number <= len(names):
        raise ReadError(f"a line of file {number} of {len(names)}")
    entry, folders = names[number - 1], header["include_directory"]
    name, folder = _text(entry.name), entry.dir_index
    if folder == 0 or name.startswith("/"):
        return name[:_MAX_PATH]
    if folder > len(folders):
        raise ReadError(f"a file in folder {folder} of {len(folders)}")
    return f"{_text(folders[folder - 1])}/{name}"[:_MAX_PATH]


def _text(name: Any) -> str:
    return bytes(name).decode("utf-8", "replace")


@cache
def _structs() -> Any:
    """How DWARF lies in a cubin, made once."""
    from elftools.dwarf.structs import DWARFStructs

    return DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)


class _Failures:
    """Turns what pyelftools raises on bytes that are no DWARF into ReadError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (ReadError, MemoryError)):
            raise ReadError(f"a line table that pyelftools does not read: {type(error).__name__}") from None
