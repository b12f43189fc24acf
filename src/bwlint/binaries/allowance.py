"""Limits on the time and memory of one inspection, whatever sizes the inspected files claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bwlint.model.images import Container, Cubin, Image
from bwlint.readers.binary.lines import LineAllowance

_MIB = 1024**2
_MEMORY = 176 * _MIB
_FACTS = 128 * _MIB
_WORK = 256 * _MIB
_MOST_WORK = 16 * 1024 * _MIB
_RATIO = 64
_LINES = 2 * _MIB

# Bytes that these take in memory, on average; measured on wheels of up to 16,000 cubins.
_LIBRARY, _UNIT, _IMAGE, _KERNEL, _LETTER = 800, 1200, 250, 500, 2


class Exhausted(Exception):
    """There is no more; the message says of what."""


@dataclass(slots=True)
class Allowance:
    """Bytes that may still be held, of facts and of the image that is just looked into, and still be unpacked. `lines`
    is what the line tables of all images may take."""

    memory: int = _MEMORY
    work: int = _WORK
    lines: LineAllowance = field(default_factory=lambda: LineAllowance(_LINES))

    def grant(self, size: int) -> None:
        """Files of `size` bytes are to be read: their images may unpack to so many times that."""
        self.work = min(self.work + _RATIO * size, _MOST_WORK)

    def unpack(self, image: Image) -> None:
        """An image is to be looked into, and for that unpacked if it is packed; raises `Exhausted`."""
        self._hold(0)
        if not image.packed or image.full_size > self.memory:
            return  # nothing to do, or refused as too large
        self.work -= image.full_size
        if self.work < 0:
            raise Exhausted(f"images that unpack to more than {_RATIO} times the size of all files")

    def hold_library(self, path: str, containers: tuple[Container, ...], texts: tuple[str, ...]) -> None:
        """What a file holds is kept; raises `Exhausted`."""
        images = sum(len(container.images) for container in containers)
        size = _LIBRARY + _UNIT * len(containers) + _IMAGE * images
        self._hold(size + _letters((path, *texts)))

    def hold_cubin(self, cubin: Cubin) -> None:
        """What a cubin says of itself is kept; raises `Exhausted`."""
        self._hold(_letters((cubin.command,)))
        self.hold_names(tuple(kernel.name for kernel in cubin.kernels))
        self._hold(_letters({kernel.source[0] for kernel in cubin.kernels if kernel.source}))

    def hold_names(self, names: tuple[str, ...]) -> None:
        """Names of kernels are kept; raises `Exhausted`."""
        self._hold(_KERNEL * len(names) + _letters(names))

    def _hold(self, size: int) -> None:
        self.memory -= size
        if self.memory < _MEMORY - _FACTS:
            raise Exhausted(f"more than {_FACTS // _MIB} MiB of what files say of themselves")


def _letters(texts: Iterable[str]) -> int:
    """What texts take: one letter that is not ASCII makes all of its text four times as large."""
    return _LETTER * sum(len(text) if text.isascii() else 4 * len(text) for text in texts)
