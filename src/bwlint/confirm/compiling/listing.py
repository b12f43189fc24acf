"""PTX as nvcc -lineinfo writes it: which source line each statement came from, through everything that was inlined.

`.loc 2 30 3, function_name $L__info_string0, inlined_at 1 7 5` says that what follows is line 30 of file 2, inlined at
line 7 of file 1, which an earlier `.loc` may have inlined again. Text between "begin inline asm" and "end inline asm"
is the author's own and may hold anything.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

from bwlint.chips.instructions import parse
from bwlint.confirm.compiling.compiler import beginning, same_file
from bwlint.model.findings import Region
from bwlint.readers.cuda.assembly import ASM
from bwlint.readers.cuda.lexer import clean, matching
from bwlint.readers.ptx import statements

MOST = 64 << 20
"""Characters of PTX that are read."""
_LOC = re.compile(
    r"\.loc\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?!\d)(?:,\s*function_name\s+([$\w]+))?"
    r"(?:.*?inlined_at\s+(\d{1,9} \d{1,9} \d{1,9}))?"
)
_FILE = re.compile(r'\.file\s+(\d{1,9})\s+"([^"]*)"')
_HEADER = re.compile(r"(?:\.(?:visible|weak|extern)\s+)*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_BOUND = re.compile(r"\.(maxntid|reqntid|minnctapersm)\s+((?:\d{1,9}[, ]*){1,3})(?!\d)")
_BYTE = re.compile(r"\.b8\s+(\d{1,3})")
_MISLEADS = re.compile(r"[ \t]*#|(?:ptxas|nvcc|nvlink)\b")
_DEEPEST = 200
_LONGEST_NAME = 20_000

Place = tuple[int, int, int]
"""A number of a file, a line and a column."""


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """A source line, and the mangled name of the function that it is in ("" where only the kernel is known)."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class ListedStatement:
    """A statement of a listing on its lines, with the function around it and the frames from the inside out."""

    head: str
    line: int
    end_line: int
    function: str
    frames: tuple[SourceFrame, ...]


@dataclass(frozen=True, slots=True)
class ListedFunction:
    """A kernel (or what it calls, where `is_kernel` is not set), with its bounds and the place of its body."""

    name: str
    is_kernel: bool
    line: int
    threads: int | None
    blocks: int | None
    frames: tuple[SourceFrame, ...]


@dataclass(frozen=True, slots=True)
class _Loc:
    line: int
    at: Place
    label: str
    parent: int | None


@dataclass(slots=True)
class Listing:
    """What one text of PTX holds. Lines count from 1."""

    lines: list[str]
    _files: dict[int, str] = field(default_factory=dict)
    _locs: list[_Loc] = field(default_factory=list)
    _headers: list[tuple[int, str, bool]] = field(default_factory=list)
    _bounds: dict[int, dict[str, int]] = field(default_factory=dict)
    _blocks: list[tuple[int, int]] = field(default_factory=list)
    _labels: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Listing:
        found = cls(text.split("\n"))
        found._scan()
        return found

    @property
    def misleads(self) -> bool:
        """Whether what ptxas says of it cannot be relied on: a line directive moves the places of messages, and text
        that is quoted in one can look like another."""
        return any(_MISLEADS.match(line) for line in self.lines)

    def functions(self) -> Iterator[ListedFunction]:
        """The functions that have a body here."""
        for index, (line, name, is_kernel) in enumerate(self._headers):
            stop = self._headers[index + 1][0] if index + 1 < len(self._headers) else len(self.lines) + 1
            first = bisect.bisect_right(self._locs, line, key=attrgetter("line"))
            inside = first < len(self._locs) and self._locs[first].line < stop
            bounds = self._bounds.get(line, {})
            threads = bounds.get("maxntid", bounds.get("reqntid"))
            frames = self._frames(first) if inside else ()
            yield ListedFunction(name, is_kernel, line, threads, bounds.get("minnctapersm"), frames)

    def statements(self, word: str = "", inline: bool = False) -> Iterator[ListedStatement]:
        """Those whose head begins with a word; only those of inline assembly where that is asked for."""
        if not inline and word:
            yield from self._plain(word)
        for start, end in self._blocks:
            text = "\n".join(self.lines[start : end - 1])
            if word not in text:
                continue
            for said, begin, stop in statements(text):
                head = parse(said).head
                if head.startswith(word):
                    first = start + 1 + text.count("\n", 0, begin)
                    yield self._statement(head, first, first + text.count("\n", begin, stop))

    def written(self, first: int, last: int) -> Iterator[ListedStatement]:
        """The statements on some lines of a file that somebody wrote by hand."""
        text = "\n".join(self.lines[first - 1 : last])
        for said, begin, stop in statements(text):
            line = first + text.count("\n", 0, begin)
            yield self._statement(parse(said).head, line, line + text.count("\n", begin, stop))

    def frames_at(self, line: int) -> tuple[SourceFrame, ...]:
        index = bisect.bisect_right(self._locs, line, key=attrgetter("line")) - 1
        header = self._header(line)
        # What stands before the first .loc of a function belongs to none of the function before it.
        return self._frames(index) if index >= 0 and header and self._locs[index].line > header[0] else ()

    def function_at(self, line: int) -> str:
        header = self._header(line)
        return header[1] if header else ""

    def names(self, wanted: Callable[[str], bool]) -> bool:
        """Whether the name of a function that is here, inlined or not, is wanted."""
        return any(wanted(name) for _, name, _ in self._headers) or any(map(wanted, map(self._name, self._labels)))

    def _plain(self, word: str) -> Iterator[ListedStatement]:
        for number, line in enumerate(self.lines, 1):
            if word in line and not self._is_inline(number) and (head := parse(line.strip()).head).startswith(word):
                yield self._statement(head, number, number)

    def _is_inline(self, line: int) -> bool:
        index = bisect.bisect_right(self._blocks, (line, 0)) - 1
        return index >= 0 and self._blocks[index][0] < line < self._blocks[index][1]

    def _statement(self, head: str, line: int, end_line: int) -> ListedStatement:
        return ListedStatement(head, line, end_line, self.function_at(line), self.frames_at(line))

    def _header(self, line: int) -> tuple[int, str, bool] | None:
        index = bisect.bisect_right(self._headers, line, key=lambda header: header[0]) - 1
        return self._headers[index] if index >= 0 else None

    def _frames(self, index: int) -> tuple[SourceFrame, ...]:
        found: list[SourceFrame] = []
        at: int | None = index
        while at is not None and len(found) < _DEEPEST:
            loc = self._locs[at]
            path = self._files.get(loc.at[0], "")
            found.append(SourceFrame(path, loc.at[1], self._name(loc.label) if loc.label else ""))
            at = loc.parent
        return tuple(found)

    def _name(self, label: str) -> str:
        """A string of the listing's end, which has one directive for each letter."""
        at = self._labels.get(label)
        if at is None:
            return ""
        letters = bytearray()
        for line in self.lines[at : at + _LONGEST_NAME]:
            byte = _BYTE.match(line.lstrip())
            if byte is None or byte[1] == "0":
                break
            letters.append(int(byte[1]) & 0xFF)
        return letters.decode("utf-8", "replace")

    def _scan(self) -> None:
        latest: dict[Place, int] = {}
        opened = 0
        for number, line in enumerate(self.lines, 1):
            text = line.strip()
            if opened:
                if text == "// end inline asm":
                    self._blocks.append((opened, number))
                    opened = 0
            elif text == "// begin inline asm":
                opened = number
            elif text.startswith("."):
                self._directive(text, number, latest)
            elif text.startswith("$L__info_string") and text.endswith(":"):
                self._labels[text[:-1]] = number

    def _directive(self, text: str, number: int, latest: dict[Place, int]) -> None:
        if text.startswith(".loc"):
            self._add_loc(text, number, latest)
        elif text.startswith(".file"):
            if named := _FILE.match(text):
                self._files[int(named[1])] = named[2]
        elif bound := _BOUND.match(text):
            if self._headers:
                value = 1
                for part in bound[2].split(","):
                    value *= int(part) if part.strip() else 1
                self._bounds.setdefault(self._headers[-1][0], {})[bound[1]] = value
        elif (header := _HEADER.match(text)) and not text.endswith(";"):
            self._headers.append((number, header[2], header[1] == "entry"))
            latest.clear()

    def _add_loc(self, text: str, number: int, latest: dict[Place, int]) -> None:
        found = _LOC.match(text)
        if found is None:
            return
        at = (int(found[1]), int(found[2]), int(found[3]))
        outer = tuple(map(int, found[5].split())) if found[5] else None
        parent = latest.get((outer[0], outer[1], outer[2])) if outer else None
        latest[at] = len(self._locs)
        self._locs.append(_Loc(number, at, found[4] or "", parent))


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
    data = beginning(path, MOST_SOURCE + 1)
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
