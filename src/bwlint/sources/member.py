"""One member of an archive, as the reader of its format hands it out."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1024 * 1024
"""The largest piece of a file that is in memory at once, in bytes."""

Meter = Callable[[int], None]
"""Called for every stretch of unpacked bytes; raises when there were too many."""


@dataclass(frozen=True, slots=True)
class Member:
    """`size` is what the archive says, in bytes.

    `content` gives where its bytes lie as they are, or unpacks them in chunks: exactly `size` of them, once, and
    before the next member is asked for. Both raise `ReadError`. `link` is the path that a link leads to, from the
    top of the archive; `refusal` says why the member must not be read.
    """

    name: str
    size: int
    content: Callable[[], ByteSource | Iterator[bytes]]
    link: str = ""
    refusal: str = ""


class SourceReader(io.RawIOBase):
    """A source as a file for the standard library; `largest` bytes are read at once at most, or `ReadError`."""

    def __init__(self, source: ByteSource, largest: int = CHUNK) -> None:
        self._source = source
        self._largest = largest
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.size}[whence]
        if start + offset < 0:
            # What `zipfile` expects of a file: it looks for records in archives that are too small for them.
            raise OSError(errno.EINVAL, "a place before the start of the file")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._source.size - self._at)
        size = left if size < 0 else min(size, left)
        if size > self._largest:
            raise ReadError(f"{size:,} bytes in one piece where at most {self._largest:,} are expected")
        data = self._source.read(self._at, size)
        self._at += len(data)
        return data


def chunks_of(source: ByteSource) -> Iterator[bytes]:
    """All of a source, a chunk at a time."""
    for at in range(0, source.size, CHUNK):
        yield source.read(at, min(CHUNK, source.size - at))
