"""Static libraries: ar archives with the long names of GNU, BSD and Microsoft."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bwlint.sources.errors import ReadError
from bwlint.sources.member import Member, Meter
from bwlint.sources.stretch import ByteSource

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"

_HEADER = 60
_END_OF_HEADER = b"`\n"
_LONGEST_NAME = 4096
_MOST_TABLES = 16
_NAMES = "//"
# And symbol tables: GNU and Microsoft (the latter has two of one name), GNU in 64 bits, Windows on ARM64EC.
_GNU_TABLES = frozenset({_NAMES, "/", "/SYM64/", "/<ECSYMBOLS>/"})
_BSD_TABLE = "__.SYMDEF"


def is_ar(source: ByteSource) -> bool:
    """Whether it begins as a static library does, a thin one included."""
    return source.size >= len(MAGIC) and source.read(0, len(MAGIC)) in (MAGIC, THIN_MAGIC)


def members(source: ByteSource, _: Meter) -> Iterator[Member]:
    """The object files of a static library, symbol tables passed over; raises `ReadError`."""
    if source.size < len(MAGIC) or source.read(0, len(MAGIC)) != MAGIC:
        raise ReadError("a thin archive: its members are files of their own" if is_ar(source) else "no ar signature")
    names: ByteSource | None = None
    tables, at = 0, len(MAGIC)
    while at < source.size:
        field, size = _header(source, at)
        data = source.part(at + _HEADER, size)
        # Members begin at even offsets.
        at += _HEADER + size + size % 2
        name, content = (field, data) if field in _GNU_TABLES else _named(field, data, names)
        if name not in _GNU_TABLES and not name.startswith(_BSD_TABLE):
            yield Member(name, content.size, partial(content.part, 0, content.size))
            continue
        names = data if name == _NAMES else names
        tables += 1
        if tables > _MOST_TABLES:
            raise ReadError(f"more than {_MOST_TABLES} tables")


def _header(source: ByteSource, at: int) -> tuple[str, int]:
    """The name field and the size of the member whose header is at `at`."""
    header = source.read(at, _HEADER)
    size = header[48:58].rstrip(b" ")
    if header[58:] != _END_OF_HEADER or not size.isdigit():
        raise ReadError(f"damaged ar header at offset {at}")
    return _text(header[:16]).rstrip(" "), int(size)


def _named(field: str, data: ByteSource, names: ByteSource | None) -> tuple[str, ByteSource]:
    """The name of a member, and its data: BSD puts a long name before it."""
    if field.startswith("#1/") and field[3:].isdecimal():
        length = int(field[3:])
        if length > _LONGEST_NAME:
            raise ReadError(f"a name of {length:,} bytes")
        return _text(data.read(0, length).rstrip(b"\0")), data.part(length, data.size - length)
    if field.startswith("/") and field[1:].isdecimal():
        return _long_name(int(field[1:]), names), data
    return field.removesuffix("/"), data


def _long_name(at: int, names: ByteSource | None) -> str:
    if names is None or at >= names.size:
        raise ReadError("a long name that is not in the table of names")
    start = names.read(at, min(_LONGEST_NAME, names.size - at))
    # GNU ends a name with a slash and a line feed, Microsoft with a zero.
    return _text(start.partition(b"\n")[0].partition(b"\0")[0]).removesuffix("/")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
