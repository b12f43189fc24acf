"""Chips and sizes in words, for messages."""

from __future__ import annotations

from bwlint.chips import ChipSet


def plain(chips: ChipSet) -> str:
    """A set in words for the middle of a sentence: "12.0" and not "12.0 only"."""
    return str(chips).removesuffix(" only")


def kib(size: int) -> str:
    """Bytes as a person reads them: "196608 bytes (192 KiB)"."""
    return f"{size} bytes ({size / 1024:.4g} KiB)"


def counted(number: int, noun: str) -> str:
    """ "1 container", "3 containers"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
