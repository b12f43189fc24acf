"""Binaries: which containers of device code a file holds, and which images are in them. Headers only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bwlint.chips.spelling import NUMBER
from bwlint.model.images import CUBIN, PTX, Binary, Container, Image
from bwlint.readers.binary import cubin, elf, fatbin, pe
from bwlint.sources.errors import ReadError
from bwlint.sources.stretch import ByteSource

__all__ = ["read", "texts"]

# Blanks alone before a directive: with line ends among them, a search through empty lines would take quadratic time.
_VERSION = re.compile(rb"^[ \t]*\.version\s+(\d{1,2})\.(\d{1,2})", re.M)
PTX_TARGET = re.compile(rf"^[ \t]*\.target\s+sm_({NUMBER})([af]?)(?!\w)".encode(), re.M)
"""Whom a module of PTX says that it is for, by number and suffix."""
_HEAD = 64 * 1024


def read(source: ByteSource) -> Binary:
    """The containers of a file of any form. Raises `ReadError` where the file as a whole makes no sense."""
    start = source.read(0, min(source.size, _HEAD))
    if start.startswith(elf.MAGIC):
        return _elf(source)
    if start.startswith(fatbin.MAGIC):
        return _with_faults("fatbin", tuple(fatbin.limited(fatbin.containers(source))))
    if start.startswith(pe.MAGIC):
        return _pe(source)
    if PTX_TARGET.search(start) and _VERSION.search(start):
        return Binary("ptx", (_ptx(source, start),))
    return _with_faults("bare", tuple(fatbin.limited(fatbin.scan(source))))


def texts(source: ByteSource) -> tuple[ByteSource, ...]:
    """Where texts of the program stand: what is loaded and neither code nor device code; all of other files."""
    if source.read(0, min(source.size, len(elf.MAGIC))) != elf.MAGIC:
        return (source,)
    try:
        sections = elf.read(source).sections
        held = [row for row in sections if row.flags & elf.ALLOCATED and row.type != elf.NOBITS]
        readable = (row for row in held if not row.flags & elf.EXECUTABLE and row.name not in fatbin.PARTS)
        return tuple(source.part(row.offset, row.size) for row in readable) if held else (source,)
    except ReadError:
        return (source,)


def _elf(source: ByteSource) -> Binary:
    broken = elf.cut(source)
    try:
        found = elf.read(source)
    except ReadError as error:
        containers = tuple(fatbin.limited(fatbin.scan(source)))
        if not any(container.images for container in containers):
            raise
        return _with_faults("elf", containers, faults=(broken or str(error),), broken=broken)
    if found.machine == elf.CUDA:
        one = cubin.of_elf(found)
        image = Image(CUBIN, one.number, one.suffix, 0, source.size, source.size)
        return Binary("cubin", (Container(0, (image,)),), cubin=one)
    needed, faults = _needed(partial(elf.needed, found))
    containers = _containers_of(found, source)
    if containers and not found.is_named:
        faults = (*faults, "its sections have no names: containers are found by a search, and what was linked is not")
    # A file of symbols alone says of its segments what the library has.
    broken = broken if containers else ""
    faults = (*([broken] if broken else []), *faults)
    return _with_faults("elf", containers, found.machine_name, needed, faults, broken)


def _pe(source: ByteSource) -> Binary:
    try:
        found = pe.read(source)
    except ReadError as error:
        return _with_faults("pe", tuple(fatbin.scan(source)), faults=(str(error),))
    needed, faults = _needed(partial(pe.needed, found))
    faults = (*([found.cut] if found.cut else []), *faults)
    return _with_faults("pe", _containers_of(found, source), found.machine_name, needed, faults, found.cut)


def _needed(ask: Callable[[], tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The libraries that a file asks for, and why they could not be read."""
    try:
        return ask(), ()
    except ReadError as error:
        return (), (str(error),)


def _containers_of(found: fatbin.Host, source: ByteSource) -> tuple[Container, ...]:
    """Those of the sections for device code; where there is none, whatever looks like a container."""
    sections = [
        section
        for section in found.sections
        if section.name in fatbin.PARTS and section.type != elf.NOBITS and section.size
    ]
    if not sections:
        return tuple(fatbin.limited(fatbin.scan(source)))
    containers = tuple(fatbin.limited(_in_sections(sections, source)))
    if len(containers) == 1:
        # What nvcc leaves behind alone: libcufft keeps its 24,000 containers among its data, and loads them itself.
        others = (each for each in fatbin.scan(source) if each.at != containers[0].at)
        containers = tuple(fatbin.limited((*containers, *others)))
    try:
        return fatbin.linked(found, source, containers)
    except ReadError as error:
        return (*containers, _unread(sections[0], str(error)))


def _in_sections(sections: Sequence[elf.Section], source: ByteSource) -> Iterator[Container]:
    end = 0
    for section in sorted(sections, key=lambda section: section.offset):
        if section.offset < end:
            yield _unread(section, "it lies over another section with device code")
            continue
        try:
            part = source.part(section.offset, section.size)
        except ReadError as error:
            yield _unread(section, str(error))
            continue
        end = section.offset + section.size
        yield from fatbin.containers(part, section.name, section.offset)


def _unread(section: elf.Section, reason: str) -> Container:
    return Container(section.offset, (), section.name, fault=f"{section.name}: {reason}")


def _with_faults(
    form: str,
    containers: tuple[Container, ...],
    machine: str = "",
    needed: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
    broken: str = "",
) -> Binary:
    own = tuple(container.fault for container in containers if container.fault)
    held = tuple(each for each in containers if each.images)
    return Binary(form, held, machine, needed, (*faults, *own), broken=broken)


def _ptx(source: ByteSource, start: bytes) -> Container:
    version, target = _VERSION.search(start), PTX_TARGET.search(start)
    assert version is not None and target is not None
    isa = (int(version[1]), int(version[2]))
    return Container(0, (Image(PTX, int(target[1]), target[2].decode(), 0, source.size, source.size, isa=isa),))
