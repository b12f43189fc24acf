"""Edits on text and on bytes, the writing of a file, and the diff of it."""

from __future__ import annotations

import contextlib
import difflib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bwlint.findings import Edit
from bwlint.sources.read import Text, Unread, decode

_NO_NEWLINE = "\\ No newline at end of file\n"
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def apply(source: str, edits: Iterable[Edit]) -> str:
    """`source` after edits of one file. Of two that overlap the first wins, the other has to wait."""
    pieces: list[str] = []
    position = 0
    for start, end, text in _in_order(Text(source), edits):
        pieces += [source[position:start], text]
        position = end
    return "".join([*pieces, source[position:]])


def _in_order(text: Text, edits: Iterable[Edit]) -> Iterator[tuple[int, int, str]]:
    places = {
        (
            text.offset(edit.region.line, edit.region.column),
            text.offset(edit.region.end_line, edit.region.end_column),
            edit.text,
        )
        for edit in edits
    }
    last = -1
    for start, end, new in sorted(places):
        # two insertions at one place, or one at the end of a replacement, have no order of their own
        if start < last or start == end == last:
            continue
        yield start, end, new
        last = end


def apply_bytes(data: bytes, edits: Iterable[Edit]) -> bytes | Unread:
    """The same on the content of a Python file: its encoding and byte order mark stay as they are."""
    source = decode(data)
    if isinstance(source, Unread):
        return source
    codec = _codec(data, source)
    if codec is None:
        return Unread("not the same after a round trip through its encoding")
    try:
        return apply(source, edits).encode(codec)
    except UnicodeError:
        return Unread(f"the new text cannot be written in {codec}")


def _codec(data: bytes, source: str) -> str | None:
    """The encoding in which `source` is `data` again: the one declared, else UTF-8 with or without a mark."""
    head = b"\n".join(_NEWLINE.split(data, maxsplit=2)[:2])
    declared: list[bytes] = _COOKIE.findall(head)
    for codec in (*(name.decode() for name in declared), "utf-8", "utf-8-sig"):
        with contextlib.suppress(LookupError, UnicodeError):
            if source.encode(codec) == data:
                return codec
    return None


def write(path: str, data: bytes) -> None:
    """Replace the content of a file at once, permissions kept. Raises `OSError`, also for a symbolic link."""
    target = Path(path)
    if target.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link is not written through", path)
    handle, name = tempfile.mkstemp(prefix=".bwlint-", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def diff(path: str, before: str, after: str) -> str:
    """A unified diff that `git apply` takes, "" if nothing differs.

    The texts stand as in the file: with the byte order mark, if there is one, and with their line ends.
    """
    lines = difflib.unified_diff(_lines(before), _lines(after), _name("a", path), _name("b", path), n=3)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as git has them: a line feed ends them and nothing else does."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]


def _name(side: str, path: str) -> str:
    name = f"{side}/{path.replace(os.sep, '/').lstrip('/')}"
    if any(character in _ESCAPES or not character.isprintable() for character in name):
        return '"' + "".join(_escaped(character) for character in name) + '"'
    # a tab ends a name with a space in it
    return f"{name}\t" if " " in name else name


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
