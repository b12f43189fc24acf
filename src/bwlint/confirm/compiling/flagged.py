"""Find a flagged source line in the compiler's output for its file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bwlint.confirm.compiling.listing import SourceFrame
from bwlint.confirm.compiling.paths import is_file, same_file
from bwlint.model.findings import Region
from bwlint.readers.cuda.assembly import ASM
from bwlint.readers.cuda.lexer import clean, matching

MOST_SOURCE = 8 << 20


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file, the last one included."""

    path: str
    first: int
    last: int

    def hold(self, frames: Iterable[SourceFrame]) -> bool:
        """Whether one of these source lines is among them."""
        return any(self.first <= frame.line <= self.last and same_file(frame.path, self.path) for frame in frames)


def flagged(path: str, at: Region) -> Lines:
    """The lines of a place, with all of the asm statement around it: a compiler names the line on which that begins."""
    first, last = at.line, at.end_line if at.end_column > 1 else max(at.line, at.end_line - 1)
    for begin, end in _assembly(path):
        if begin <= first <= end:
            return Lines(path, begin, max(end, last))
    return Lines(path, first, last)


@lru_cache(maxsize=16)
def text_of(path: str) -> str:
    """The text of a source, "" where it is too long or no plain file, or cannot be read."""
    if not is_file(path):
        return ""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_SOURCE + 1)
    except OSError:
        return ""
    return "" if len(data) > MOST_SOURCE else data.decode("utf-8", "replace").replace("\r\n", "\n")


@lru_cache(maxsize=16)
def _assembly(path: str) -> tuple[tuple[int, int], ...]:
    """The first and last lines of the asm statements of a file."""
    blanked = clean(text_of(path)).text
    found = []
    line, seen = 1, 0
    for match in ASM.finditer(blanked):
        end = matching(blanked, match.end() - 1, 100_000)
        line += blanked.count("\n", seen, match.start())
        seen = match.start()
        found.append((line, line + blanked.count("\n", match.start(), max(end, match.end()))))
    return tuple(found)
