"""Bytes of one file, their text, and the columns of that text; limits on reading: a file over them is skipped with the
reason.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import signal
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from bwlint.model.findings import Region
from bwlint.sources import disk
from bwlint.sources.errors import NestedTooDeep, ReadError

LIMIT = 8 * 1024 * 1024
"""The largest file that is read, in bytes."""

_NEWLINE = re.compile(r"\r\n|\r|\n")
_NEWLINE_BYTES = re.compile(rb"\r\n|\r|\n")
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#|$)")
# `punycode` and `idna` need time that grows with the square of the input; nobody writes source in them.
_REFUSED = frozenset({"punycode", "idna", "undefined"})
WIDE = "encoded as UTF-16 or UTF-32"
_NO_TEXT = (
    (b"version https://git-lfs.github.com/spec/", "a pointer of Git LFS, not the file itself"),
    (b"\0GITCRYPT\0", "encrypted by git-crypt"),
)
_HEAD = 8000
"""Bytes in which a NUL says that a file is no text, as for git."""
_WIDE = re.compile(rb"[^\0]\0[^\0]\0|\0[^\0]\0[^\0]|[^\0]\0{3}|\0{3}[^\0]")
_SPECIAL = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
MOST_NESTED = 200
"""Brackets in brackets of a configuration file: the parsers of Python's library follow some 400."""
SECONDS = 120
"""Of a processor's time: a hundred times what the slowest file of any tree that was read takes."""

_BRACKET = re.compile(rb"[][{}]")


@dataclass(frozen=True, slots=True)
class Unread:
    """Why something could not be read, in words that follow the path of the file."""

    reason: str


_GIVEN: ContextVar[Mapping[str, bytes]] = ContextVar("_GIVEN", default=MappingProxyType({}))


@contextmanager
def given(files: Mapping[str, bytes]) -> Iterator[None]:
    """Until it ends, these bytes are the content of files at these real paths: stdin, edits not yet written."""
    token = _GIVEN.set({**_GIVEN.get(), **files})
    try:
        yield
    finally:
        _GIVEN.reset(token)


def is_given(real: str) -> bool:
    """Whether something else counts as the content of a file than what is on disk."""
    return real in _GIVEN.get()


def read_bytes(real: str, limit: int = LIMIT) -> bytes | Unread:
    """The content of the regular file at `real`, at most `limit` bytes. Never raises and never blocks."""
    data = _GIVEN.get().get(real)
    if data is not None:
        return data if len(data) <= limit else Unread(_too_large(limit))
    return read_from_disk(real, limit)


def read_from_disk(real: str, limit: int = LIMIT) -> bytes | Unread:
    """The same, whatever is given."""
    try:
        # A FIFO would block in open() until somebody writes; it may have taken the place of a file by now.
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        disk.was_refused(real, error)
        return Unread(why(error))
    try:
        return _read_open(real, handle, limit)
    except OSError as error:
        return Unread(why(error))
    finally:
        os.close(handle)


def is_wide(data: bytes) -> bool:
    """Whether text has units of two or four bytes, by its byte order mark or by its first two characters."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    return marked or _WIDE.match(data) is not None


def no_text(data: bytes) -> str:
    """Why the content of a source file is none, "" where it may be."""
    for start, reason in _NO_TEXT:
        if data.startswith(start):
            return reason
    return "not text: it has NUL bytes" if data.find(b"\0", 0, _HEAD) >= 0 else ""


def text_of(data: bytes | Unread) -> str | None:
    """What was read as text; None where it cannot be read."""
    source = data if isinstance(data, Unread) else decode(data)
    return None if isinstance(source, Unread) else source


def decode(data: bytes) -> str | Unread:
    """Source as text: by its BOM, its PEP 263 cookie, or as UTF-8. The BOM is not part of the text.

    A byte that is no UTF-8 becomes a lone surrogate, as in names of files, so that the text can be made bytes again:
    a comment in Latin-1 hides no kernel.
    """
    if is_wide(data):
        return Unread(WIDE)
    cookie = _cookie(data)
    if data.startswith(codecs.BOM_UTF8):
        return _decode_after_bom(data[len(codecs.BOM_UTF8) :], cookie)
    if cookie is None:
        if b"\0" in data:  # no text that somebody typed in Latin-1
            return _decode(data, "utf-8", "and no encoding is declared")
        return data.decode("utf-8", "surrogateescape")
    try:
        codec = codecs.lookup(cookie).name
    except (LookupError, ValueError):
        return Unread(f"unknown encoding declared: {cookie}")
    if codec in _REFUSED:
        return Unread(f"encoding not read: {cookie}")
    return _decode(data, codec, "which is the encoding declared")


def special_file(mode: int) -> str | None:
    """What an `st_mode` says when it is not a regular file ("a FIFO", ...), or None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    return next((words for test, words in _SPECIAL if test(mode)), "not a regular file")


def why(error: OSError | ValueError) -> str:
    """The reason of a failed system call in words, without the path."""
    if not isinstance(error, OSError):
        return "not a file name"
    if error.errno == errno.ELOOP:
        return "symlink loop"
    return (error.strerror or str(error)).lower()


def replaced(source: str, places: Iterable[tuple[int, int, str]]) -> str:
    """`source` with other texts between pairs of indexes, which come in order."""
    pieces: list[str] = []
    position = 0
    for start, end, text in places:
        pieces += [source[position:start], text]
        position = end
    return "".join([*pieces, source[position:]])


class SourceText:
    """Decoded source as lines with columns.

    Lines end where Python ends them: at line feed, carriage return and the two together, so a form feed,
    U+0085 or U+2028 is part of its line (`str.splitlines` would count more). Lines and columns are 1-based; a
    column counts UTF-16 code units.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def lines(self) -> list[str]:
        """Every line without its end; one more than there are line ends."""
        return (_NEWLINE.split if "\r" in self.source else lambda source: source.split("\n"))(self.source)

    @cached_property
    def ended_lines(self) -> list[str]:
        """The same with their ends: joined, they are the source."""
        if "\r" not in self.source:
            *ended, last = self.lines
            return [*(f"{line}\n" for line in ended), last]
        ends = [*_NEWLINE.findall(self.source), ""]
        return [line + end for line, end in zip(self.lines, ends, strict=True)]

    def line(self, number: int) -> str:
        """Line `number`, "" beyond the last one."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def column(self, line: int, byte: int) -> int:
        """The column of the 0-based UTF-8 offset `byte` in `line`, as in `ast`'s ``col_offset``."""
        text = self.line(line)
        if text.isascii():
            return byte + 1
        return _utf16(_begun(text.encode("utf-8", "surrogatepass")[:byte], "utf-8")) + 1

    def column_of_character(self, line: int, index: int) -> int:
        """The column of the 0-based code point `index` in `line`, as in tokenize and libcst."""
        text = self.line(line)
        return index + 1 if text.isascii() else _utf16(text[:index]) + 1

    def region(self, line: int, byte: int, end_line: int, end_byte: int) -> Region:
        """The region between two places given as `ast` gives them."""
        return Region(line, self.column(line, byte), end_line, self.column(end_line, end_byte))

    def offset(self, line: int, column: int) -> int:
        """Where in `source` a line and column stand, as an index of code points."""
        text = self.line(line)
        start = self._starts[line - 1]
        if text.isascii():
            return start + column - 1
        before = text.encode("utf-16-le", "surrogatepass")[: 2 * (column - 1)]
        return start + len(_begun(before, "utf-16-le"))

    def bounds(self, region: Region) -> tuple[int, int]:
        """Where in `source` a region begins and ends."""
        return self.offset(region.line, region.column), self.offset(region.end_line, region.end_column)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.source))]


def _begun(data: bytes, codec: str) -> str:
    """Text up to a place, without a character that is cut in two there."""
    try:
        return data.decode(codec, "surrogatepass")
    except UnicodeDecodeError as error:
        return data[: error.start].decode(codec, "surrogatepass")


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _read_open(real: str, handle: int, limit: int) -> bytes | Unread:
    status = os.fstat(handle)
    special = special_file(status.st_mode)
    if special or status.st_size > limit:
        disk.was_read(real, status, None)
    if special:
        return Unread(f"not a regular file: {special}")
    if status.st_size > limit:
        return Unread(_too_large(limit))
    with open(handle, "rb", closefd=False) as file:
        # One byte more than allowed tells whether the file grew since.
        data = file.read(limit + 1)
    disk.was_read(real, status, data)
    return data if len(data) <= limit else Unread(_too_large(limit))


def _too_large(limit: int) -> str:
    return f"larger than {limit // (1024 * 1024)} MiB"


def _cookie(data: bytes) -> str | None:
    first, *rest = re.split(rb"\r\n|\r|\n", data.removeprefix(codecs.BOM_UTF8), maxsplit=2)[:2]
    match = _COOKIE.match(first)
    if match is None and rest and _BLANK_OR_COMMENT.match(first):
        match = _COOKIE.match(rest[0])
    return match.group(1).decode("ascii") if match else None


def _decode_after_bom(data: bytes, cookie: str | None) -> str | Unread:
    if cookie and cookie.lower().replace("_", "-") not in ("utf-8", "utf8", "utf-8-sig"):
        return Unread(f"a UTF-8 byte order mark, but the encoding declared is {cookie}")
    return _decode(data, "utf-8", "which its byte order mark says")


def _decode(data: bytes, codec: str, so: str) -> str | Unread:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        line = len(_NEWLINE_BYTES.findall(data, 0, error.start)) + 1
        return Unread(f"not {codec} {so}: byte 0x{data[error.start]:02x} at offset {error.start} (line {line})")
    except LookupError:
        return Unread(f"not an encoding of text: {codec}")
    except ValueError:
        return Unread(f"not {codec} {so}")


class _TooSlow(BaseException):
    """Nothing on its way may take it for a fault of the file."""


@contextmanager
def bounded(seconds: float = SECONDS) -> Iterator[None]:
    """Read one file within its limits.

    Raises `ReadError` where that takes more memory or stack than there is, or more than `seconds`; there is no limit
    on time in a thread, nor where the system has no such timer. A limit around this one goes on behind it.
    """
    has_timer = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGVTALRM, _stop) if has_timer else None
    around, _ = signal.setitimer(signal.ITIMER_VIRTUAL, seconds) if has_timer else (0.0, 0.0)
    try:
        yield
    except _TooSlow:
        disk.rests_on_more()
        raise ReadError(f"takes more than {seconds:g} seconds to read") from None
    except MemoryError:
        disk.rests_on_more()
        raise ReadError("needs more memory than available") from None
    except RecursionError:
        raise NestedTooDeep("nested too deep to analyse") from None
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_VIRTUAL, around)
            signal.signal(signal.SIGVTALRM, before)


def is_nested_too_deep(data: bytes) -> bool:
    """Whether brackets stand in more brackets than a parser follows; those in strings count too."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(data) if data.count(b"[") + data.count(b"{") > MOST_NESTED else ():
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest > MOST_NESTED


def _stop(*_: object) -> None:
    raise _TooSlow
