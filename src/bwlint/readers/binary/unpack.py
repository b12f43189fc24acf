"""The bytes of one image, unpacked where they are packed."""

from __future__ import annotations

import re
from math import prod

from bwlint.model.images import Image
from bwlint.readers import ptx
from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

LARGEST = 176 * 1024 * 1024
"""Bytes of an image, packed and unpacked together; a larger one is read by its header alone."""


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
