"""PTX of a container as far as a driver's compiler refuses it: text that is cut off, and static shared memory."""

from __future__ import annotations

import re
from math import prod

from bwlint.readers import ptx
from bwlint.sources.errors import LimitError, ReadError
from bwlint.sources.stretch import ByteSource

_HIDDEN = re.compile(rb'"[^"\n]*"|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)')
_ARRAY = re.compile(rb"\.shared\s[^;\[{}]{0,120}?\.[a-z](\d{1,3})\s{1,8}[\w$%]{1,4096}((?:\s?\[\s?\d{1,12}\s?\]){1,8})")
_EXTENT = re.compile(rb"\d+")


def check(source: ByteSource, most: int) -> None:
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
