"""GitHub's ``primaryLocationLineHash``, equal to the one that its upload action computes.

A line's hash is the polynomial, in 37 and modulo 2**64, of the 100 UTF-16 units from its start on, without
spaces and tabs, with line ends as LF, 65535 for the end of the file and zeros behind it; equal hashes
of a file are numbered. The action warns where a tool's value differs from its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

_BLOCK = 100
_FACTOR = 37
_MODULUS = 1 << 64
_END = "\uffff" + "\0" * _BLOCK
_BLANKS = {ord(" "): None, ord("\t"): None}


def joined(lines: Sequence[str]) -> str:
    """The text that has these lines, whether or not they kept their ends."""
    ended = len(lines) < 2 or lines[0].endswith(("\n", "\r"))
    return ("" if ended else "\n").join(lines)


def line_hashes(text: str, wanted: Collection[int]) -> dict[int, str]:
    """The hash of each line of `wanted` (1-based) that `text` has."""
    stream = _units(text.replace("\r\n", "\n").replace("\r", "\n").translate(_BLANKS)) + _END
    last = max(wanted, default=0)
    seen: Counter[str] = Counter()
    found: dict[int, str] = {}
    start = 0
    for line in range(1, last + 1):
        window = stream[start : start + _BLOCK]
        seen[window] += 1
        if line in wanted:
            found[line] = f"{_polynomial(window):x}:{seen[window]}"
        start = stream.find("\n", start) + 1
        if start == 0:
            break
    return found


def _units(text: str) -> str:
    """`text` with each character beyond the BMP as its two surrogates."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, memoryview(raw).cast("H")))


def _polynomial(window: str) -> int:
    value = 0
    for char in window:
        value = (value * _FACTOR + ord(char)) % _MODULUS
    return value
