"""Text that names an exact or family target, and what the lines around it define."""

from __future__ import annotations

import re
from collections.abc import Iterator

_EXACT_NAME = re.compile(r"(?<![0-9.])(?<!0x)(?:[0-9]{1,2}\.?[0-9]a|[0-9]{2,3}f)(?![0-9a-z])", re.I)
_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_DEFINES = re.compile(
    r"[ \t]*(?!(?:if|for|while|switch|elif|with|catch|return)\b)(?:#[ \t]*define[ \t]+(\w+)"
    r"|(?:[\w:<>*&,.\[\] ]{0,80}?[ *&.])?(\w+)(?:\[\w*\])?[ \t]*"
    r"(?:(?::[^=\n\"']{1,60})?=(?!=)|\([^;\"'\n]{0,200}\)[^;\"'=\n]{0,60}(?:[{:]|$)))"
)
"""What a line of Python or C++ defines: a macro, a variable, a function."""
_FARTHEST = 1 << 20
_MOST_LINES = 400


def in_literals(text: str) -> Iterator[tuple[int, str]]:
    """Where string literals name a target with a suffix. A sentence names none."""
    for literal in _LITERAL.finditer(text):
        if " " not in literal[0] or "=" in literal[0] or "-arch" in literal[0]:
            yield from ((literal.start() + at, name) for at, name in exact_names(literal[0]))


def exact_names(text: str) -> Iterator[tuple[int, str]]:
    """Where a text names a target with a suffix: sm_120a, 12.0a, fp4_sm120a.cubin."""
    for match in _EXACT_NAME.finditer(text):
        yield match.start(), match[0].replace(".", "").lower()


def owners(source: str, at: int) -> set[str]:
    """What the line of an index defines, and each line above it that stands further to the left."""
    found, left = set[str](), _FARTHEST
    for line in reversed(source[:at].split("\n")[-_MOST_LINES:]):
        depth = len(line) - len(line.lstrip())
        if line.strip(" \t{") and depth < left:
            left, defined = depth, _DEFINES.match(line)
            found |= {defined[1] or defined[2]} if defined else set()
    return found
