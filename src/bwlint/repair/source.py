"""A file under repair: its text on disk, and its text so far."""

# Real paths are plain strings throughout, as `walk` gives them.
# ruff: noqa: PTH114, PTH117, PTH120

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bwlint.readers import ReadError
from bwlint.repair.changes import TextChange, changed, combined
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import module_of

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)


@dataclass(frozen=True)
class EditedFile:
    """One file. `data` is its content and `text` what that says, without a byte order mark; `changes` are of `text`."""

    file: SourceFile
    data: bytes
    codec: str
    text: str
    changes: tuple[TextChange, ...] = ()

    @classmethod
    def of(cls, file: SourceFile, text: str, named: Sequence[str] = ()) -> EditedFile | str:
        """The file that was read as `text`; a string says why it cannot be changed. `named` are the arguments."""
        if _leads_through_link(os.path.normpath(file.path), {os.path.normpath(path) for path in named}):
            return "bwlint does not write through a symbolic link"
        data = read_bytes(file.real)
        if isinstance(data, Unread):
            return data.reason
        if decode(data) != text:
            return "changed since it was read"
        codec = _codec(data, text)
        if codec is None:
            return "not the same after a round trip through its encoding"
        return cls(file, data, codec, text)

    @cached_property
    def current(self) -> str:
        """The text after all changes."""
        return changed(self.text, self.changes)

    @cached_property
    def after(self) -> bytes | Unread:
        """The content after all changes, in the encoding that the file has."""
        try:
            return self.current.encode(self.codec, "surrogateescape")
        except UnicodeError:
            return Unread(f"the new text cannot be written in {self.codec}")

    def then(self, changes: Sequence[TextChange]) -> EditedFile:
        """The file after further changes, of `current`; they are in order and get on."""
        return replace(self, changes=combined(self.text, self.changes, changes))

    def fault(self, own: frozenset[str]) -> str | None:
        """Why the file as it would become must not be written; `own` are words of the configuration."""
        data = self.after
        if isinstance(data, Unread):
            return data.reason
        if decode(data) != self.current:
            return "the new text would not be read as it was written"
        if data.count(b"\n") != self.current.count("\n"):
            return f"lines do not end in a line feed in {self.codec}"
        try:
            module_of(self.file.kind, self.file.real, self.file.root, self.current, own)
        except ReadError as error:
            return f"the edited file does not parse: {error}"
        return None


def _leads_through_link(path: str, named: Collection[str]) -> bool:
    """Whether a path is a symbolic link or leads through one: from the working folder on, or else from what is named.
    That the way to a folder which is named in full leads through links is nobody's mistake."""
    while path:
        if os.path.islink(path):
            return True
        above = os.path.dirname(path)
        if above == path or (os.path.isabs(path) and path in named):
            return False
        path = above
    return False


def _codec(data: bytes, text: str) -> str | None:
    """The encoding in which `text` is `data` again: the one declared, else UTF-8 with or without a mark."""
    head = b"\n".join(_NEWLINE.split(data, maxsplit=2)[:2])
    declared: list[bytes] = _COOKIE.findall(head)
    for codec in (*(name.decode() for name in declared), "utf-8", "utf-8-sig"):
        with contextlib.suppress(LookupError, UnicodeError):
            if text.encode(codec, "surrogateescape") == data:
                return codec
    return None
