"""Packed bytes unpacked a chunk at a time, in bounded memory and with a bound on bytes out per byte in."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Protocol, cast

from bwlint.sources.errors import ReadError
from bwlint.sources.member import CHUNK, Meter, SourceReader
from bwlint.sources.pypi import HIGHEST_RATIO
from bwlint.sources.stretch import ByteSource

# A stream may begin with a large empty file: the ratio counts from here on.
RATIO_COUNTS_FROM = 64 * 1024**2
# `zstd -22`, which conda uses, takes 128 MiB; `xz -9` takes 65.
_LARGEST_WINDOW = 128 * 1024**2
_PIECE = 256 * 1024

_MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))


def packing_of(source: ByteSource) -> str:
    """How a file is packed as a whole, by its first bytes: gzip, bzip2, xz, zstd or "" ."""
    start = source.read(0, min(6, source.size))
    return next((name for magic, name in _MAGIC if start.startswith(magic)), "")


def unpacked(source: ByteSource, packing: str, meter: Meter) -> Iterator[bytes]:
    """The bytes that `source` holds packed as `packing`: one of `packing_of`, or deflate.

    Streams behind each other count as one, as for gzip and xz themselves. Raises `ReadError` for what is
    damaged, cut short, or packed closer than anything real.
    """
    reader = SourceReader(source)
    given = 0
    try:
        for chunk in _UNPACKERS[packing](reader):
            given += len(chunk)
            meter(len(chunk))
            if given > RATIO_COUNTS_FROM + HIGHEST_RATIO * reader.tell():
                raise ReadError(f"packed more than 1 to {HIGHEST_RATIO}")
            yield chunk
    except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError) as error:
        raise ReadError(f"damaged {packing} data: {error}") from None
    except MemoryError:
        raise ReadError(f"{packing} data that needs more memory than available") from None


class _Worker(Protocol):
    """What bz2 and lzma have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflater:
    """zlib in the manner of bz2 and lzma."""

    def __init__(self, window: int) -> None:
        self._worker = zlib.decompressobj(window)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._worker.eof

    @property
    def unused_data(self) -> bytes:
        return self._worker.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        chunk = self._worker.decompress(self._worker.unconsumed_tail + data, max_length)
        # A full chunk may leave output behind though all input is taken in.
        self.needs_input = len(chunk) < max_length
        return chunk


def _streams(reader: SourceReader, make: Callable[[], _Worker]) -> Iterator[bytes]:
    held = reader.read(_PIECE)
    while held:
        worker = make()
        while not worker.eof:
            if worker.needs_input and not held:
                held = reader.read(_PIECE)
                if not held:
                    raise ReadError("it is cut short")
            chunk = worker.decompress(held, CHUNK)
            held = b""
            if chunk:
                yield chunk
        held = worker.unused_data.lstrip(b"\0")
        # Zeros between and after streams are padding.
        while not held and (more := reader.read(_PIECE)):
            held = more.lstrip(b"\0")


def _zstd(reader: SourceReader) -> Iterator[bytes]:
    from zstandard import ZstdDecompressor, ZstdError

    worker = ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    # Its types ask for more of a file than it uses.
    file = cast("IO[bytes]", reader)
    try:
        with worker.stream_reader(file, read_size=_PIECE, read_across_frames=True, closefd=False) as stream:
            while chunk := stream.read(CHUNK):
                yield chunk
    except ZstdError as error:
        raise ReadError(f"damaged zstd data: {error}") from None


_UNPACKERS: dict[str, Callable[[SourceReader], Iterator[bytes]]] = {
    "gzip": lambda reader: _streams(reader, lambda: _Inflater(zlib.MAX_WBITS | 16)),
    "bzip2": lambda reader: _streams(reader, bz2.BZ2Decompressor),
    "xz": lambda reader: _streams(reader, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_LARGEST_WINDOW)),
    "zstd": _zstd,
    "deflate": lambda reader: _streams(reader, lambda: _Inflater(-zlib.MAX_WBITS)),
}
