"""Bytes of a file, read where they lie: a gigabyte is not loaded to look at its headers."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field

from bwlint.sources.errors import ReadError


@dataclass(frozen=True, slots=True)
class ByteSource:
    """A stretch of an open file, or of bytes in memory; offsets count from its start."""

    size: int
    handle: int = -1
    data: bytes = field(default=b"", repr=False)
    start: int = 0

    @classmethod
    def of_bytes(cls, data: bytes) -> ByteSource:
        return cls(len(data), data=data)

    @classmethod
    def of_file(cls, handle: int) -> ByteSource:
        """The whole of a file that is open for reading and stays so."""
        return cls(os.fstat(handle).st_size, handle)

    def read(self, at: int, size: int) -> bytes:
        """`size` bytes from `at` on; raises `ReadError` where the source is shorter."""
        if at < 0 or size < 0 or at + size > self.size:
            raise ReadError(f"{size} bytes wanted at offset {at}, and it ends at {self.size}")
        first = self.start + at
        if self.handle < 0:
            return self.data[first : first + size]
        try:
            found = _pread(self.handle, size, first)
        except OSError as error:
            raise ReadError(f"{size} bytes at offset {at} cannot be read: {error.strerror}") from None
        if len(found) != size:
            raise ReadError(f"{size} bytes wanted at offset {at}, and {len(found)} are there")
        return found

    def data_from(self, at: int) -> int:
        """The first offset from `at` on, or the end, that is not in a hole of the file: holes are zeros."""
        if self.handle < 0 or not hasattr(os, "SEEK_DATA"):
            return at
        return min(self.size, _next_data(self.handle, self.start + at, self.start + self.size) - self.start)

    def part(self, at: int, size: int) -> ByteSource:
        """A stretch of it as a source; raises `ReadError` where the source is shorter."""
        if at < 0 or size < 0 or at + size > self.size:
            raise ReadError(f"{size} bytes wanted at offset {at}, and it ends at {self.size}")
        return ByteSource(size, self.handle, self.data, self.start + at)


def _next_data(handle: int, at: int, size: int) -> int:
    try:
        return os.lseek(handle, at, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at


def _seek_and_read(handle: int, size: int, at: int) -> bytes:
    os.lseek(handle, at, os.SEEK_SET)
    return os.read(handle, size)


# Windows has none.
_pread = getattr(os, "pread", _seek_and_read)
