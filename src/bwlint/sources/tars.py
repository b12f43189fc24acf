"""Tar archives, packed or not, read as a stream.

`tarfile` parses the headers; what stands between them is read here, because `tarfile` takes a damaged header for the
end of the archive, loads extended headers of any size and keeps every member in memory.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from tarfile import TarInfo

from bwlint.sources.errors import ReadError
from bwlint.sources.member import Member, Meter, chunks_of
from bwlint.sources.packed import packing_of, unpacked
from bwlint.sources.stretch import ByteSource

_BLOCK = tarfile.BLOCKSIZE
_LARGEST_EXTENSION = 1024 * 1024
_MOST_EXTENSIONS = 16
_MAGIC_AT, _MAGIC = 257, b"ustar"
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_LONG = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)
# Where an old GNU sparse header, and each block that continues it, says that a further block follows.
_SPARSE_GOES_ON, _SPARSE_GOES_ON_AGAIN = 482, 504
_MOST_SPARSE_BLOCKS = 4096


def is_tar(source: ByteSource) -> bool:
    """Whether it may be one: by its first header, or because it is packed as a whole."""
    end = _MAGIC_AT + len(_MAGIC)
    return bool(packing_of(source)) or (
        source.size >= _BLOCK and source.read(_MAGIC_AT, end - _MAGIC_AT).startswith(_MAGIC)
    )


def members(source: ByteSource, meter: Meter) -> Iterator[Member]:
    """The members of a tar archive, folders with a slash; raises `ReadError` where it is damaged or cut short."""
    packing = packing_of(source)
    stream = _Stream(unpacked(source, packing, meter)) if packing else _Stream(chunks_of(source), source)
    while not stream.ended():
        found = _next_header(stream)
        if found is None:
            # What follows is padding; the checksums of a packed stream stand at its end.
            if packing:
                stream.drain()
            return
        header, said = found
        size = (header.size if said.size is None else said.size) if _has_data(header) else 0
        start, end = stream.at, stream.at + _padded(size)
        yield _member(header, said, size, stream, None if packing else source.part(start, size))
        stream.skip(end - stream.at)
    raise ReadError("it ends without the mark of its end and may be cut short")


class _Stream:
    """Chunks taken apart by count; `at` is how many bytes were. `source` is what they are of, if not packed."""

    def __init__(self, chunks: Iterator[bytes], source: ByteSource | None = None) -> None:
        self._chunks = chunks
        self._source = source
        self._held = b""
        self._from = 0
        self._fault: ReadError | None = None
        self.at = 0

    def ended(self) -> bool:
        """Whether nothing is left; reads on where that is not known yet."""
        while self._from == len(self._held):
            held = self._next_chunk()
            if held is None:
                return True
            self._held, self._from = held, 0
        return False

    def _next_chunk(self) -> bytes | None:
        if self._fault is not None:
            raise self._fault
        try:
            return next(self._chunks, None)
        except ReadError as error:
            # From now on the chunks would look as if they had reached their end.
            self._fault = error
            raise

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes; raises `ReadError` when there are fewer."""
        while size:
            if self.ended():
                raise ReadError("it is cut short")
            piece = self._held[self._from : self._from + size]
            self._from += len(piece)
            self.at += len(piece)
            size -= len(piece)
            yield piece

    def take(self, size: int) -> bytes:
        return b"".join(self.pieces(size))

    def take_extension(self, size: int) -> bytes:
        """The data of an extended header, less what fills its last block."""
        if size > _LARGEST_EXTENSION:
            raise ReadError(f"an extended header of {size:,} bytes")
        return self.take(_padded(size))[:size]

    def skip(self, size: int) -> None:
        if self._source is not None and size > len(self._held) - self._from:
            # What is passed over need not be read: a member may have terabytes, and take no room on the disk.
            self.at += size
            if self.at > self._source.size:
                raise ReadError("it is cut short")
            self._chunks = chunks_of(self._source.part(self.at, self._source.size - self.at))
            self._held, self._from = b"", 0
            return
        for _ in self.pieces(size):
            pass

    def drain(self) -> None:
        for _ in self._chunks:
            pass


@dataclass(frozen=True, slots=True)
class _Said:
    """What the headers before a member's own say of it."""

    name: str = ""
    link: str = ""
    size: int | None = None
    sparse: bool = False

    def and_also(self, kind: bytes, data: bytes) -> _Said:
        """The same with one more header of the type `kind`; raises `ReadError`."""
        if kind == tarfile.GNUTYPE_LONGNAME:
            return replace(self, name=_text(data.partition(b"\0")[0]))
        if kind == tarfile.GNUTYPE_LONGLINK:
            return replace(self, link=_text(data.partition(b"\0")[0]))
        said = self
        for key, value in _pax_records(data):
            said = said._with_record(key, value)
        return said

    def _with_record(self, key: str, value: str) -> _Said:
        if key == "path":
            # A sparse member has its real name elsewhere.
            return self if self.sparse else replace(self, name=value)
        if key == "linkpath":
            return replace(self, link=value)
        if key == "size":
            if not (value.isascii() and value.isdigit() and len(value) < 20):
                raise ReadError("an extended header with a size that is no number")
            return replace(self, size=int(value))
        if key.startswith("GNU.sparse."):
            return replace(self, sparse=True, name=value if key == "GNU.sparse.name" else self.name)
        return self


def _pax_records(data: bytes) -> Iterator[tuple[str, str]]:
    """Keys and values of an extended header: each record is its length, a space, key, "=", value, line feed."""
    at = 0
    while at < len(data):
        digits = data[at : at + 20].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        record = data[at : at + length]
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        if not equals or len(record) < length or not record.endswith(b"\n"):
            raise ReadError("a damaged extended header")
        yield _text(key), _text(value)
        at += length


def _next_header(stream: _Stream) -> tuple[TarInfo, _Said] | None:
    """The header of the next member with what the headers before it say, None at the mark of the end."""
    said = _Said()
    for _ in range(_MOST_EXTENSIONS):
        block = stream.take(_BLOCK)
        if not any(block):
            return None
        header = _header(block, stream.at - _BLOCK)
        if header.type in _PAX or header.type in _LONG:
            said = said.and_also(header.type, stream.take_extension(header.size))
        elif header.type == tarfile.XGLTYPE:
            stream.skip(_padded(header.size))
        else:
            _pass_sparse_map(stream, block, header)
            return header, said
    raise ReadError(f"more than {_MOST_EXTENSIONS} extended headers in a row")


def _header(block: bytes, at: int) -> TarInfo:
    try:
        header = TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError) as error:
        raise ReadError(f"damaged tar header at offset {at}: {error}") from None
    if header.size < 0:
        raise ReadError(f"damaged tar header at offset {at}: a negative size")
    return header


def _pass_sparse_map(stream: _Stream, block: bytes, header: TarInfo) -> None:
    if header.type != tarfile.GNUTYPE_SPARSE or not block[_SPARSE_GOES_ON]:
        return
    for _ in range(_MOST_SPARSE_BLOCKS):
        if not stream.take(_BLOCK)[_SPARSE_GOES_ON_AGAIN]:
            return
    raise ReadError(f"more than {_MOST_SPARSE_BLOCKS} blocks that say where a sparse member has data")


def _has_data(header: TarInfo) -> bool:
    """Whether data follows the header: links, folders and devices may say a size and have none."""
    return header.isreg() or header.type not in tarfile.SUPPORTED_TYPES


def _member(header: TarInfo, said: _Said, size: int, stream: _Stream, place: ByteSource | None) -> Member:
    name = _plain(said.name or header.name) + ("/" if header.type == tarfile.DIRTYPE else "")
    link = said.link or header.linkname
    if header.type == tarfile.SYMTYPE:
        link = posixpath.join(posixpath.dirname(name), link)
    return Member(
        name,
        size,
        partial(_content, stream, size, place),
        link=posixpath.normpath(link) if header.type in _LINKS else "",
        refusal=_refusal(header, said),
    )


def _content(stream: _Stream, size: int, place: ByteSource | None) -> ByteSource | Iterator[bytes]:
    return place if place is not None else stream.pieces(size)


def _refusal(header: TarInfo, said: _Said) -> str:
    if header.type == tarfile.GNUTYPE_SPARSE or said.sparse:
        return "sparse member"
    if header.type in _LINKS or header.isreg():
        return ""
    return "member that is not a regular file"


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _plain(name: str) -> str:
    """`tar c .` begins every name with a dot."""
    return name.removeprefix("./")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
