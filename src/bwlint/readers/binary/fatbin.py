"""Containers of device code, by their headers alone, and the bytes of one image, unpacked where they are packed.

The layout is measured, not documented by NVIDIA.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from bwlint.model.images import CUBIN, LTO, PTX, UNKNOWN, Container, Image
from bwlint.readers import ptx
from bwlint.readers.binary.elf import RELOCATABLE, Elf
from bwlint.readers.binary.pe import Pe
from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

MAGIC = b"\x50\xed\x55\xba"
PARTS = (".nv_fatbin", "__nv_relfatbin")
"""Sections of a host file that hold containers back to back: ready ones, and relocatable ones of -rdc builds."""

Host = Elf | Pe
"""A file with sections for device code."""

_SEGMENT = ".nvFatBinSegment"
_CONTAINER = struct.Struct("<4sHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_WRAPPER = struct.Struct("<IIQQ")
_WRAPPER_MAGIC = 0x466243B1
_LINKED = 2
_POINTER_IN_WRAPPER = 8
_RELA = 4
_RELOCATION = struct.Struct("<QQq")

_KINDS = {1: PTX, 2: CUBIN, 8: LTO}
_PACKED = ((0x2000, "lz4"), (0x8000, "zstd"))
_SUFFIXES = ((0x100000, "a"), (0x200000, "f"))
_VERSION = 1
_ALIGNMENT = 8
_FIRST_LOOK = 64
_CHUNK = 1 << 20
_MOST_CONTAINERS = 32_768
_MOST_IMAGES = 131_072
_MOST_IN_ONE = 128
_MOST_CANDIDATES = 100_000
_MOST_WRAPPERS = 65_536
_MOST_RELOCATIONS = 64 << 20
_MOST_PADDING = 64 << 20
_LARGEST_NUMBER = 999
_ROWS = 1 << 14
LARGEST = 176 * 1024 * 1024
"""Bytes of an image, packed and unpacked together; a larger one is read by its header alone."""


def containers(source: ByteSource, part: str = "", base: int = 0) -> Iterator[Container]:
    """The containers of a stretch that holds nothing else and begins at `base` of its file; a `fault` ends the last."""
    at = 0
    while at < source.size:
        try:
            at = _past_zeros(source, at)
            if at == source.size:
                return
            found, at = _container(source, at)
        except ReadError as error:
            yield Container(base + at, (), part, fault=str(error))
            return
        yield _moved(found, part, base)
        at += -(base + at) % _ALIGNMENT


def scan(source: ByteSource) -> Iterator[Container]:
    """The containers anywhere in a file, found by their first bytes."""
    end = 0
    for count, at in enumerate(_places(source)):
        if count == _MOST_CANDIDATES:
            yield Container(at, (), fault=f"more than {_MOST_CANDIDATES:,} places look as if containers began there")
            return
        if at < end:
            continue
        try:
            found, behind = _container(source, at)
        except ReadError:
            continue  # the four bytes occur in other data too
        if found.images:
            end = behind
            yield found


def limited(found: Iterable[Container]) -> Iterator[Container]:
    """The containers of a file, as many as are read; where there are more, the last one has that as its fault."""
    images = 0
    for count, container in enumerate(found):
        images += len(container.images)
        if count == _MOST_CONTAINERS or images > _MOST_IMAGES:
            limits = f"{_MOST_CONTAINERS:,} containers or {_MOST_IMAGES:,} images"
            yield Container(container.at, (), container.part, fault=f"more than {limits}: the rest is not read")
            return
        yield container


def linked(host: Host, source: ByteSource, found: tuple[Container, ...]) -> tuple[Container, ...]:
    """The containers, each that was linked from relocatable ones (-rdc) with their offsets.

    Which ones, only the running program knows. But each link puts its own wrapper (version 2) right behind the
    wrappers of its objects, or right before them. Objects on the other side of the last link are its own as well, by
    the order in which the host's linker was given them: none is loaded by itself (nvcc 13.0 -dlink).
    """
    if isinstance(host, Elf) and host.type == RELOCATABLE:
        return found
    relocatable = frozenset(each.at for each in found if each.part == PARTS[1])
    wrappers = _wrappers(host, source, needed=bool(relocatable))
    lost = {row.at for row in wrappers} - {each.at for each in found}
    if lost:
        raise ReadError(f"no container at {len(lost)} of {len(wrappers)} places that {_SEGMENT} names")
    if not relocatable:
        return found
    unnamed = {each.at for each in found if each.images} - {row.at for row in wrappers}
    if unnamed:
        raise ReadError(f"{len(unnamed)} containers that {_SEGMENT} does not name")
    origins = _linked_sets(wrappers, relocatable)
    return tuple(replace(each, linked_from=origins.get(each.at, ())) for each in found)


def _past_zeros(source: ByteSource, at: int) -> int:
    """The first offset from `at` on, in steps of the alignment, that does not begin with zeros; raises `ReadError`."""
    step, start = _FIRST_LOOK, at
    while at < source.size:
        if at - start > _MOST_PADDING:
            raise ReadError(f"more than {_MOST_PADDING >> 20} MiB of zeros at offset {start}")
        window = source.read(at, min(step, source.size - at))
        filled = len(window) - len(window.lstrip(b"\0"))
        if filled < len(window):
            return at + filled - filled % _ALIGNMENT
        at, step = at + len(window), _CHUNK
    return source.size


def _container(source: ByteSource, at: int) -> tuple[Container, int]:
    """The container at an offset and where it ends; raises `ReadError` if none begins there."""
    magic, version, header, size = _CONTAINER.unpack(source.read(at, _CONTAINER.size))
    if magic != MAGIC:
        raise ReadError(f"no container of device code at offset {at}")
    if version != _VERSION or header < _CONTAINER.size:
        raise ReadError(f"container at offset {at}: version {version} with a header of {header} bytes is not known")
    end = at + header + size
    if end > source.size:
        raise ReadError(f"container at offset {at} claims {size} bytes, and {source.size - at - header} are there")
    images: list[Image] = []
    place, fault, unknown = at + header, "", ""
    while place < end and not fault:
        try:
            image, behind = _image(source, place, end)
        except ReadError as error:
            fault = str(error)
            break
        if image.kind == UNKNOWN:
            kind = int.from_bytes(source.read(place, 2), "little")
            unknown = unknown or f"image at offset {place} is of an unknown kind: {kind}"
        images.append(image)
        place = behind
        fault = f"more than {_MOST_IN_ONE} images in one container" if len(images) > _MOST_IN_ONE else ""
    return Container(at, tuple(images), fault=unknown or fault), end


def _image(source: ByteSource, at: int, end: int) -> tuple[Image, int]:
    """The image whose header is at an offset, and where the next one begins."""
    if at + _ENTRY.size > end:
        raise ReadError(f"header of an image at offset {at} is cut off")
    raw = source.read(at, _ENTRY.size)
    kind, _, header, size, packed_size, _, minor, major, number, _, _, flags, _, full = _ENTRY.unpack(raw)
    if header < _ENTRY.size or at + header + size > end:
        raise ReadError(f"image at offset {at} claims {header} + {size} bytes, and {end - at} are there")
    if number > _LARGEST_NUMBER:
        raise ReadError(f"image at offset {at} is for sm_{number}, and no chip has such a number")
    packed = next((name for bit, name in _PACKED if flags & bit), "")
    if packed and not 0 < packed_size <= size:
        raise ReadError(f"image at offset {at} claims {packed_size} packed bytes of {size}")
    image = Image(
        _KINDS.get(kind, UNKNOWN),
        number,
        next((suffix for bit, suffix in _SUFFIXES if flags & bit), ""),
        at + header,
        packed_size if packed else size,
        full if packed else size,
        packed,
        (major, minor) if kind == 1 else None,
    )
    return image, at + header + size


def _moved(container: Container, part: str, base: int) -> Container:
    images = tuple(replace(image, at=base + image.at) for image in container.images) if base else container.images
    return replace(container, at=base + container.at, images=images, part=part)


def _places(source: ByteSource) -> Iterator[int]:
    """Offsets at which a container may begin."""
    overlap = len(MAGIC) - 1
    start = source.data_from(0)
    while start < source.size:
        window = source.read(start, min(_CHUNK + overlap, source.size - start))
        found = window.find(MAGIC)
        while found >= 0:
            yield start + found
            found = window.find(MAGIC, found + 1)
        start = source.data_from(start + _CHUNK) if start + _CHUNK < source.size else source.size


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A row of .nvFatBinSegment: `at` is the offset of its container in the file."""

    is_linked: bool
    at: int


def _linked_sets(wrappers: Sequence[_Wrapper], relocatable: frozenset[int]) -> dict[int, tuple[int, ...]]:
    """For the offset of each linked container those of what it was linked from."""
    rows = [row for row in wrappers if row.is_linked or row.at in relocatable]
    if rows and rows[0].is_linked:
        rows.reverse()
    sets: dict[int, tuple[int, ...]] = {}
    waiting: list[int] = []
    for row in rows:
        if not row.is_linked:
            waiting.append(row.at)
            continue
        sets[row.at] = tuple(sorted(waiting))
        waiting = []
    if sets and waiting:
        last = next(reversed(sets))
        sets[last] = tuple(sorted((*sets[last], *waiting)))
    return sets


def _wrappers(host: Host, source: ByteSource, *, needed: bool) -> list[_Wrapper]:
    """All wrappers of a file. Where they are not needed, those that take a look at relocations are left out."""
    section = host.section(_SEGMENT)
    if section is None or not section.size:
        if needed:
            raise ReadError(f"relocatable containers and no {_SEGMENT}")
        return []
    count = section.size // _WRAPPER.size
    if count > _MOST_WRAPPERS:
        raise ReadError(f"{count} containers in {_SEGMENT}, and at most {_MOST_WRAPPERS} are read")
    rows = list(_WRAPPER.iter_unpack(source.read(section.offset, count * _WRAPPER.size)))
    addresses = [pointer for _, _, pointer, _ in rows]
    if not any(addresses):
        if not needed:
            return []
        addresses = _relocated(host, source, section.address, count)
    found = []
    for row, address in zip(rows, addresses, strict=True):
        if not any(row):
            continue  # padding
        at = host.offset_of(address)
        if row[0] != _WRAPPER_MAGIC or at is None:
            raise ReadError(f"a row of {_SEGMENT} that leads to no container")
        found.append(_Wrapper(row[1] == _LINKED, at))
    return found


def _relocated(host: Host, source: ByteSource, table: int, count: int) -> list[int]:
    """The addresses that the loader writes into the wrappers, where the linker has left zeros in their place."""
    addresses = [0] * count
    tables = [section for section in host.sections if section.type == _RELA]
    if sum(section.size for section in tables) > _MOST_RELOCATIONS:
        raise ReadError(f"more than {_MOST_RELOCATIONS >> 20} MiB of relocations")
    for section in tables:
        for start in range(section.offset, section.offset + section.size, _RELOCATION.size * _ROWS):
            size = min(_RELOCATION.size * _ROWS, section.offset + section.size - start)
            for place, _, addend in _RELOCATION.iter_unpack(source.read(start, size - size % _RELOCATION.size)):
                row, rest = divmod(place - table, _WRAPPER.size)
                if 0 <= row < count and rest == _POINTER_IN_WRAPPER:
                    addresses[row] = addend
    return addresses


def content(source: ByteSource, image: Image, most: int = LARGEST) -> ByteSource:
    """An image as a source of its own; raises `ReadError`, and `LimitError` where it takes more than `most` bytes."""
    if not image.packed:
        return source.part(image.at, image.size)
    # lz4 unpacks to a place of its own, and copies.
    if image.size + image.full_size * (2 if image.packed == "lz4" else 1) > most:
        raise LimitError(f"image of {image.full_size} bytes is not unpacked: there is memory for {most} bytes")
    data = source.read(image.at, image.size)
    unpacked = _lz4(data, image.full_size) if image.packed == "lz4" else _zstd(data, image.full_size)
    if len(unpacked) != image.full_size:
        raise ReadError(f"image of {image.full_size} bytes unpacks to {len(unpacked)}")
    return ByteSource.of_bytes(unpacked)


def _lz4(data: bytes, size: int) -> bytes:
    import lz4.block

    try:
        return bytes(lz4.block.decompress(data, uncompressed_size=size))
    except (lz4.block.LZ4BlockError, ValueError, OverflowError, MemoryError) as error:
        raise ReadError(f"image of {len(data)} bytes does not unpack: {error}") from None


def _zstd(data: bytes, size: int) -> bytes:
    import zstandard

    try:
        # The frame tells a size of its own, which zstandard would believe.
        if zstandard.get_frame_parameters(data).content_size not in (zstandard.CONTENTSIZE_UNKNOWN, size):
            raise ReadError(f"image of {size} bytes holds a frame of another size")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except (zstandard.ZstdError, ValueError, OverflowError, MemoryError) as error:
        raise ReadError(f"image of {len(data)} bytes does not unpack: {error}") from None


_HIDDEN = re.compile(rb'"[^"\n]*"|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)')
_ARRAY = re.compile(rb"\.shared\s[^;\[{}]{0,120}?\.[a-z](\d{1,3})\s{1,8}[\w$%]{1,4096}((?:\s?\[\s?\d{1,12}\s?\]){1,8})")
_EXTENT = re.compile(rb"\d+")


def check_ptx(source: ByteSource, most: int) -> None:
    """Raises `ReadError` for what is no whole PTX, and `LimitError` where it takes more than `most` bytes of memory."""
    if source.size > most:
        raise LimitError(f"PTX of {source.size} bytes is not looked into: there is memory for {most} bytes")
    text = source.read(0, source.size)
    if b".target" not in text:
        raise ReadError("it names no target")
    if text.count(b"{") != text.count(b"}"):
        clean = _HIDDEN.sub(b"", text)
        if clean.count(b"{") > clean.count(b"}"):
            raise ReadError("it ends within a block")


def static_shared(source: ByteSource, most: int) -> dict[str, int]:
    """The kernels that take more than `most` bytes of static shared memory, each with its bytes."""
    text = source.read(0, source.size)
    # Most modules have less in all of their arrays together, and are not parsed.
    if sum(_size(match) for match in _ARRAY.finditer(text)) <= most:
        return {}
    operations, _ = ptx.facts(text.decode("utf-8", "replace"))
    found = {one.name: one.amounts[0].args[0] for one in operations if one.kind == "static-shared"}
    return {name: size for name, size in found.items() if size > most}


def _size(match: re.Match[bytes]) -> int:
    """Bytes of an array; one of vectors may be four times as large."""
    return prod(map(int, _EXTENT.findall(match[2]))) * int(match[1]) // 8 * (4 if b".v" in match[0] else 1)
