"""What may hold device code in one file: the file itself, or the members of an archive, archives in it included.

A member is read where it lies if it is not packed, else it is unpacked into memory or into a nameless file. Nothing is
ever written under a name that an archive gives.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bwlint.model.findings import Skipped
from bwlint.sources import ar, disk, tars, zips
from bwlint.sources.errors import ReadError
from bwlint.sources.member import Member, Meter
from bwlint.sources.pypi import MOST_MEMBERS, SourceError, plain
from bwlint.sources.read import special_file, why
from bwlint.sources.stretch import ByteSource

LARGEST_MEMBER = 6 * 1024**3
LARGEST_TOTAL = 24 * 1024**3
MOST_IN_ALL = 1_000_000
DEEPEST = 3
"""Limits: bytes of one member and of all that is unpacked, members of all archives in one, archives in each other."""

SMALL = 1024 * 1024
"""Members below this size, in bytes, stay in memory."""

_SPARE_SPACE = 64 * 1024**2
_LONGEST_NAME = 1024
_MOST_HOPS = 8

_READERS: Mapping[str, Callable[[ByteSource, Meter], Iterator[Member]]] = {
    "zip": zips.members,
    "tar": tars.members,
    "ar": ar.members,
}
_BY_CONTENT: Mapping[str, Callable[[ByteSource], bool]] = {"zip": zips.is_zip, "ar": ar.is_ar, "tar": tars.is_tar}
_BY_SUFFIX = {
    **dict.fromkeys((".whl", ".zip", ".conda", ".egg"), "zip"),
    **dict.fromkeys((".tar", ".tgz", ".tbz2", ".txz", ".tzst"), "tar"),
    **dict.fromkeys((".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"), "tar"),
    ".a": "ar",
}


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file that may hold device code; `path` is for reports."""

    path: str
    source: ByteSource


def entries(
    path: Path, reported: str, scratch: Path, wanted: Callable[[str], bool]
) -> Iterator[ArchiveEntry | Skipped]:
    """The file at `path` itself, or the members of an archive whose names are `wanted`, at any depth up to `DEEPEST`.

    `wanted` is asked about names without their folder; every member of a static library is an object file and is not
    asked about. An entry can be read until the next one is asked for; large ones lie in the folder `scratch` until
    then. Raises SourceError when the file cannot be opened or is an archive that cannot be read at all.
    """
    handle = _opened(path, reported)
    try:
        source = ByteSource.of_file(handle)
        kind = _kind_by_name(path.name) or next((kind for kind, test in _BY_CONTENT.items() if test(source)), None)
        if kind == "ar" and not ar.is_ar(source):
            kind = None
        if kind is None:
            yield ArchiveEntry(reported, source)
            return
        yield from _ArchiveWalk(scratch, wanted).archive(source, kind, reported)
    finally:
        os.close(handle)


class _Exhausted(Exception):
    """The limits for a whole archive are reached; the message says which."""


class _ArchiveWalk:
    def __init__(self, scratch: Path, wanted: Callable[[str], bool]) -> None:
        self._scratch = scratch
        self._wanted = wanted
        self._bytes_left = LARGEST_TOTAL
        self._members_left = MOST_IN_ALL

    def archive(self, source: ByteSource, kind: str, path: str) -> Iterator[ArchiveEntry | Skipped]:
        """Everything in the archive; raises SourceError when not even its first member can be made out."""
        try:
            yield from self._inside(source, kind, path, 1)
        except _Exhausted as error:
            yield Skipped(path, f"archive not read to its end: {error}")

    def _inside(self, source: ByteSource, kind: str, path: str, depth: int) -> Iterator[ArchiveEntry | Skipped]:
        names: set[str] = set()
        links: dict[str, str] = {}
        count = 0
        try:
            for member in _READERS[kind](source, self._unpacked):
                count += 1
                self._count(count)
                name = member.name
                if not self._is_wanted(name, kind):
                    continue
                if member.link:
                    links[name] = member.link
                    continue
                # In a static library two objects may well have one name.
                if name in names and kind != "ar":
                    yield Skipped(_below(path, name), "member named twice")
                    continue
                names.add(name)
                yield from self._member(member, _below(path, name), depth)
        except ReadError as error:
            if depth == 1 and not count:
                raise SourceError(f"{plain(path)}: not a readable {kind} archive: {plain(str(error))}") from None
            yield Skipped(path, f"archive not read{' to its end' if count else ''}: {error}")
        yield from _lost_links(path, names, links)

    def _member(self, member: Member, path: str, depth: int) -> Iterator[ArchiveEntry | Skipped]:
        kind = _kind_by_name(posixpath.basename(member.name))
        refusal = _name_refusal(member.name) or member.refusal or _refusal(member, kind, depth)
        if refusal:
            yield Skipped(path, refusal)
            return
        with ExitStack() as stack:
            try:
                source = self._spooled(member, stack)
            except ReadError as error:
                yield Skipped(path, f"member not unpacked: {error}")
                return
            if kind == "ar" and not ar.is_ar(source):
                kind = None
            if kind is None:
                yield ArchiveEntry(path, source)
            else:
                yield from self._inside(source, kind, path, depth + 1)

    def _is_wanted(self, name: str, kind: str) -> bool:
        name = posixpath.basename(name)
        return kind == "ar" or self._wanted(name) or _kind_by_name(name) is not None

    def _spooled(self, member: Member, stack: ExitStack) -> ByteSource:
        """The bytes of a member, in a file that `stack` closes where they are many; raises `ReadError`."""
        content = member.content()
        if isinstance(content, ByteSource):
            return content
        if member.size < SMALL:
            return ByteSource.of_bytes(b"".join(content))
        try:
            free = shutil.disk_usage(self._scratch).free
            if member.size + _SPARE_SPACE > free:
                raise ReadError(f"no space: {_mib(member.size)} to unpack and {_mib(free)} free in {self._scratch}")
            file = stack.enter_context(tempfile.TemporaryFile(dir=self._scratch))  # noqa: SIM115
            for chunk in content:
                file.write(chunk)
            file.flush()
        except OSError as error:
            raise ReadError(why(error)) from None
        return ByteSource.of_file(file.fileno())

    def _unpacked(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise _Exhausted(f"more than {LARGEST_TOTAL // 1024**3} GiB unpacked")

    def _count(self, count: int) -> None:
        self._members_left -= 1
        if self._members_left < 0:
            raise _Exhausted(f"more than {MOST_IN_ALL:,} members in all")
        if count > MOST_MEMBERS:
            raise ReadError(f"more than {MOST_MEMBERS:,} members")


def _opened(path: Path, reported: str) -> int:
    try:
        # A FIFO would block until somebody writes.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        disk.was_refused(str(path), error)
        raise SourceError(f"{plain(reported)}: {why(error)}") from None
    status = os.fstat(handle)
    disk.was_read(str(path), status, None)
    special = special_file(status.st_mode)
    if special:
        os.close(handle)
        raise SourceError(f"{plain(reported)}: not a regular file: {special}")
    return handle


def is_archive(name: str) -> bool:
    """Whether a file of this name is opened for its members; a static library is a binary of its own."""
    return _kind_by_name(name) not in (None, "ar")


def _kind_by_name(name: str) -> str | None:
    name = name.lower()
    return next((kind for suffix, kind in _BY_SUFFIX.items() if name.endswith(suffix)), None)


def _below(path: str, name: str) -> str:
    """Where a member is reported. Bytes that are no text become question marks."""
    name = name.encode("utf-8", "replace").decode()
    return f"{path}/{name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + '...'}"


def _name_refusal(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        return f"member with a name of {len(name):,} characters"
    if not name.isprintable() or "\\" in name:
        return "member with an unusual character in its name"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "member with a path that leads out of the archive"
    return ""


def _refusal(member: Member, kind: str | None, depth: int) -> str:
    if member.size > LARGEST_MEMBER:
        return f"member larger than {LARGEST_MEMBER // 1024**3} GiB"
    if kind is not None and depth == DEEPEST:
        return f"archive nested {DEEPEST} deep, deeper than bwlint reads"
    return ""


def _lost_links(path: str, names: Set[str], links: Mapping[str, str]) -> Iterator[Skipped]:
    """Links to what was not among the members that were looked at. The others lead to a file that was."""
    for name, target in links.items():
        for _ in range(_MOST_HOPS):
            target = links.get(target, target)
        if target not in names:
            yield Skipped(_below(path, name), "link to a member that is not read")


def _mib(size: int) -> str:
    return f"{size // 1024**2:,} MiB"
