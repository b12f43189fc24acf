"""The bytes of one image, unpacked where they are packed."""

from __future__ import annotations

from bwlint.model.images import Image
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
