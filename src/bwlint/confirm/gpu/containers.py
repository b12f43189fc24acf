"""The device-code containers in the file of a finding, in the form that a driver takes.

They are read by our own readers; a library is never loaded. Of a plain file a container is a stretch, that of a packed
or archived one is copied out.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bwlint.confirm.workbench import Subject
from bwlint.model.findings import Skipped
from bwlint.model.images import Binary, Container
from bwlint.readers import binary as reader
from bwlint.readers.binary import fatbin
from bwlint.sources.archives import entries, is_archive
from bwlint.sources.errors import ReadError
from bwlint.sources.kinds import BINARY, PTX, kind_of
from bwlint.sources.pypi import SourceError
from bwlint.sources.stretch import ByteSource

MOST = 512
"""Containers of one file that are tried."""
MOST_FILES = 128
_MOST_COPIED = 1 << 30
_HEADER = struct.Struct("<4sHHQ")
_BARE = ("cubin", "ptx")


@dataclass(frozen=True, slots=True)
class ContainerPart:
    """One container: what names it, where its bytes lie (as a job's "image"), and those it was linked from."""

    name: str
    at: int
    image: dict[str, Any]
    linked_from: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Lot:
    """The containers of one file. `total` counts those beyond `parts`, too; `faults` say what was not read."""

    path: str
    parts: tuple[ContainerPart, ...]
    total: int
    faults: tuple[str, ...] = ()


def lots(subject: Subject, folder: Path) -> Iterator[Lot]:
    """Each file with device code that a finding is about: one, or members of an archive, or files of a folder. What is
    copied lies in `folder` until the next is asked for."""
    count = 0
    for path, source, plain in _sources(subject, folder):
        if count == MOST_FILES:
            yield Lot(path, (), 0, (f"more than {MOST_FILES} files with device code",))
            return
        if source is None:
            yield Lot(path, (), 0, (plain,))
            continue
        try:
            found = reader.read(source)
        except ReadError as error:
            yield Lot(path, (), 0, (str(error),))
            continue
        copies = _Copies(source, plain, folder)
        try:
            lot = _lot(path, found, copies)
            count += bool(lot.total)
            if lot.total or lot.faults:
                yield lot
        finally:
            copies.remove()


def _lot(path: str, found: Binary, copies: _Copies) -> Lot:
    linked = {at for container in found.containers for at in container.linked_from}
    whole = [container for container in found.containers if container.at not in linked]
    parts: list[ContainerPart] = []
    faults = found.faults
    for container in whole[:MOST]:
        try:
            objects = tuple(copies.image(one, found) for one in found.containers if one.at in container.linked_from)
            name = f"the {found.form}" if found.form in _BARE else f"the container at offset {container.at}"
            parts.append(ContainerPart(name, container.at, copies.image(container, found), objects))
        except (ReadError, OSError) as error:
            # What was made so far may well show that something loads.
            faults = (*faults, str(error))
            break
    return Lot(path, tuple(parts), len(whole), faults)


def _sources(subject: Subject, folder: Path) -> Iterator[tuple[str, ByteSource | None, str]]:
    """Each file with its bytes and, where it lies on disk by itself, its path; or None and why it is not read."""
    real = Path(subject.real)
    if real.is_dir():
        for file in _files(real):
            yield from _opened(file, str(file), folder, "")
        return
    # The member that the path names behind its archive; "" for the archive as a whole, or no archive.
    _, found, member = (subject.claim.path or subject.finding.path).rpartition(f"{real.name}/")
    yield from _opened(real, real.name, folder, member if found else "")


def _opened(path: Path, name: str, folder: Path, member: str) -> Iterator[tuple[str, ByteSource | None, str]]:
    lone = not is_archive(path.name)
    try:
        for entry in entries(path, "", folder, _is_wanted):
            inner = entry.path.lstrip("/")
            if member and inner != member and not inner.startswith(f"{member}/"):
                continue
            shown = f"{name}/{inner}" if inner else name
            if isinstance(entry, Skipped):
                yield shown, None, entry.reason
            elif entry.source.size:
                at_path = str(path) if lone and not inner else ""
                yield shown, entry.source, at_path
    except SourceError as error:
        yield name, None, str(error)


def _is_wanted(name: str) -> bool:
    return kind_of(name) in (BINARY, PTX)


def _files(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            one = Path(path, name)
            if _is_wanted(name) and one.is_file() and not one.is_symlink():
                yield one


@dataclass(slots=True)
class _Copies:
    """Where the bytes of containers lie: in the file itself, or in copies in the scratch folder."""

    source: ByteSource
    plain: str
    folder: Path
    count: int = 0
    left: int = _MOST_COPIED

    def image(self, container: Container, found: Binary) -> dict[str, Any]:
        start, size = (0, self.source.size) if found.form in _BARE else (container.at, self._size(container.at))
        if self.plain:
            return {"image": self.plain, "offset": start, "size": size}
        self.left -= size
        if self.left < 0:
            raise ReadError(f"more than {_MOST_COPIED >> 30} GiB would be copied")
        path = self._path(self.count)
        path.write_bytes(self.source.read(start, size))
        self.count += 1
        return {"image": str(path)}

    def remove(self) -> None:
        for number in range(self.count):
            self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"container-{number}"

    def _size(self, at: int) -> int:
        magic, _, header, body = _HEADER.unpack(self.source.read(at, _HEADER.size))
        if magic != fatbin.MAGIC:
            raise ReadError(f"no container at offset {at}")
        return int(header + body)
