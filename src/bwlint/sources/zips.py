"""Zip archives: `zipfile` reads the directory, and members are unpacked here in bounded memory, or in place."""

from __future__ import annotations

import stat
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bwlint.sources.errors import ReadError
from bwlint.sources.member import Member, Meter, SourceReader, chunks_of
from bwlint.sources.packed import unpacked
from bwlint.sources.pypi import HIGHEST_RATIO, MOST_MEMBERS, RATIO_COUNTS_FROM
from bwlint.sources.stretch import ByteSource

if TYPE_CHECKING:
    from zipfile import ZipInfo

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")

_LARGEST_DIRECTORY = 32 * 1024**2
_DIRECTORY_ENTRY = b"PK\x01\x02"
_LOCAL = struct.Struct("<4s22xHH")
_STORED = 0
_PACKINGS = {8: "deflate", 12: "bzip2", 93: "zstd"}
_ENCRYPTED, _STRONGLY_ENCRYPTED, _UTF8 = 0x1, 0x40, 0x800


def is_zip(source: ByteSource) -> bool:
    """Whether it begins as a zip archive does. (Some begin with a program.)"""
    return source.size >= 4 and source.read(0, 4) in MAGICS


def members(source: ByteSource, meter: Meter) -> Iterator[Member]:
    """The members of a zip archive by its directory, folders passed over; raises `ReadError`."""
    infos, end = _directory(source)
    starts = sorted(info.header_offset for info in infos)
    for info in infos:
        # `filename` ends at the first zero.
        name = info.orig_filename
        if name.endswith("/"):
            continue
        after = bisect_right(starts, info.header_offset)
        room = (starts[after] if after < len(starts) else end) - info.header_offset
        refusal = _refusal(info, room, alone=after < 2 or starts[after - 2] != info.header_offset)
        yield Member(name, info.file_size, partial(_content, source, info, room, meter), refusal=refusal)


class _DirectoryReader(SourceReader):
    """What `zipfile` reads a directory from: it would load one of any size, with any number of members."""

    def read(self, size: int = -1) -> bytes:
        data = super().read(size)
        if data.count(_DIRECTORY_ENTRY) > MOST_MEMBERS:
            raise ReadError(f"more than {MOST_MEMBERS:,} members")
        return data


def _directory(source: ByteSource) -> tuple[Sequence[ZipInfo], int]:
    """The members, and where the directory begins."""
    import zipfile

    try:
        with zipfile.ZipFile(_DirectoryReader(source, _LARGEST_DIRECTORY)) as archive:
            return archive.infolist(), archive.start_dir
    except ReadError:
        raise
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OverflowError) as error:
        raise ReadError(str(error) or type(error).__name__) from None


def _refusal(info: ZipInfo, room: int, *, alone: bool) -> str:
    """Why a member is not unpacked, by what the directory says of it."""
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "member that is a symlink" if stat.S_ISLNK(mode) else "member that is not a regular file"
    if info.flag_bits & (_ENCRYPTED | _STRONGLY_ENCRYPTED):
        return "encrypted member"
    if info.compress_type != _STORED and info.compress_type not in _PACKINGS:
        return f"member packed by method {info.compress_type}, which is not read"
    if not alone or _LOCAL.size + info.compress_size > room:
        return "member that overlaps another one"
    if info.file_size > RATIO_COUNTS_FROM and info.file_size > HIGHEST_RATIO * info.compress_size:
        return f"member compressed more than 1 to {HIGHEST_RATIO}"
    return ""


def _content(source: ByteSource, info: ZipInfo, room: int, meter: Meter) -> ByteSource | Iterator[bytes]:
    packed = _place(source, info, room)
    if info.compress_type != _STORED:
        return _checked(unpacked(packed, _PACKINGS[info.compress_type], meter), info)
    for chunk in _checked(chunks_of(packed), info):
        meter(len(chunk))
    return packed


def _place(source: ByteSource, info: ZipInfo, room: int) -> ByteSource:
    """Where the packed bytes of a member lie, by its own header."""
    magic, name_size, extra_size = _LOCAL.unpack(source.read(info.header_offset, _LOCAL.size))
    header = _LOCAL.size + name_size + extra_size
    if magic != MAGICS[0] or header + info.compress_size > room:
        raise ReadError("its own header does not agree with the directory")
    name = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437", "surrogateescape")
    if source.read(info.header_offset + _LOCAL.size, name_size) != name:
        raise ReadError("its own header has another name than the directory")
    return source.part(info.header_offset + header, info.compress_size)


def _checked(chunks: Iterator[bytes], info: ZipInfo) -> Iterator[bytes]:
    """The same chunks; raises `ReadError` where they are not what the directory promises."""
    left, checksum = info.file_size, 0
    for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise ReadError("larger than it says")
        checksum = zlib.crc32(chunk, checksum)
        yield chunk
    if left:
        raise ReadError("shorter than it says")
    if checksum != info.CRC:
        raise ReadError("its checksum is wrong")
