"""C++ calls that report an error or end the program."""

from __future__ import annotations

import re

from bwlint.chips import frameworks

SKIPS = re.compile(rf"\b{frameworks.piece('skips')}\b")
"""What leaves a test without an error."""
NEVER = (
    r"\b(?:assert|\w{0,40}(?:CHECK|ASSERT|assert)\w{0,40})\s*\(\s*(?:\(\s*(?:\"[^\"\n]{0,200}\")?\s*,\s*)?(?:false|0)\b"
)
"""A check that always fails: `assert(false)`, `assert(("a text", false))`."""
FAILS = re.compile(
    rf"{SKIPS.pattern}|"
    rf"\bthrow\b|\b(?:exit|abort|_exit|terminate|__trap)\s*\(|{NEVER}"
    rf"|\b(?:{frameworks.piece('ends')}|__builtin_unreachable|unreachable"
    r"|_{0,2}[tT]hrow(?:_\w{1,40}|[A-Z]\w{0,40}))\s*\("
    rf"|\b(?!{frameworks.piece('awaits')})"
    r"\w{0,40}(?:ERROR|THROW|FATAL|UNREACHABLE|NOT_IMPLEMENTED)\w{0,40}\s*\(|\bLOG\s*\(\s*FATAL|\bstatic_assert\s*\(\s*false"
    r"|\breturn\s+(?:\w+::)*\w{0,40}(?:NotSupported|Unsupported|kInvalid|ErrorInvalid|NOT_SUPPORTED)\w{0,40}"
)
TRAPS = re.compile(r"\basm\s*(?:volatile\s*)?\(\s*\"\s*trap\b")
"""The same in assembly; its text stands in the source, and is blank in the code."""


def fails(text: str, start: int, end: int) -> bool:
    """Whether a statement of blanked text begins with such a thing."""
    return FAILS.match(text, start, end) is not None
