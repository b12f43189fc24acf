"""Text from scanned files made fit for a terminal."""

from __future__ import annotations

import re

# Controls (C0, DEL, C1), marks that change the direction of text, separators that some terminals break
# lines at, lone surrogates (they cannot be written as UTF-8) and the invisible tag characters.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)

SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str) -> str:
    """`text` on one line, with every character that a terminal would obey or hide written as an escape."""
    return HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if char in SHORT:
        return SHORT[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
