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
from bwlint.report.patches import Block, blocks, hunks, lines_of
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.walk import SourceFile
from bwlint.world.collect import module_of

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
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

    @cached_property
    def lines(self) -> list[bytes]:
        return lines_of(self.data)

    @property
    def blocks(self) -> list[Block]:
        """What the changes do to the lines, in order; those of one line are one block."""
        after = self.after
        if isinstance(after, Unread):
            return []
        changes = ((change.start, change.end, change.text) for change in self.changes)
        return list(blocks(self.lines, lines_of(after), self.text, changes))

    def diff(self, name: str, found: Sequence[Block], index: str = "") -> bytes:
        """A unified diff of blocks of the file with the path `name`, b"" without any. Its first line makes git take
        paths from the top of its tree, wherever the user stands. `index` is a line to follow it."""
        if not found:
            return b""
        before, after = _quoted("a", name), _quoted("b", name)
        # a tab ends a name with a space in it
        rows = [f"diff --git {before} {after}", *([index] if index else [])]
        rows += [f"{mark} {side}" + "\t" * (" " in side) for mark, side in (("---", before), ("+++", after))]
        head = "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")
        return b"".join((head, *hunks(self.lines, found)))

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
    """Whether a path is a link or leads through one, from the working folder on, or else from what is named."""
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


def _quoted(side: str, path: str) -> str:
    """The path of a file as a diff names it."""
    name = f"{side}/{path.replace(os.sep, '/')}"
    if any(character in _ESCAPES or not character.isprintable() for character in name):
        return '"' + "".join(_escaped(character) for character in name) + '"'
    return name


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
