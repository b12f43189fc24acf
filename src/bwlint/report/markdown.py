"""Markdown as GitHub and GitLab read it: text that stands for itself, code, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bwlint.model.escape import visible

# Code stays code; an underscore within a word is no mark.
_MARKS = re.compile(r"`[^`|]+`|[\\`*\[\]<>|~&#!$@]|(?<![^\W_])_|_(?![^\W_])")


def plain(text: str) -> str:
    """Text that stands for itself, in a table too."""
    return _MARKS.sub(lambda mark: mark[0] if len(mark[0]) > 1 else f"\\{mark[0]}", visible(text))


def code(text: str) -> str:
    """Text as code, in a table too: there a bar ends a cell even within code."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    room = " " if len(fence) > 1 else ""
    return f"{fence}{room}{visible(text)}{room}{fence}".replace("|", "\\|")


def table(*rows: Sequence[str]) -> Iterator[str]:
    """The lines of a table whose first row is its head, and an empty one."""
    head, *rest = rows
    for row in (head, ["---"] * len(head), *rest):
        yield f"| {' | '.join(row)} |"
    yield ""
