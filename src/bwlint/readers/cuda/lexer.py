"""C++ text without its comments: one pass of a regular expression, and every offset stays true.

Comments and the insides of string literals are blanked, character for character, so that a search in `code` never
meets prose and every hit has its place in the source. Nothing is an error: what never ends, ends with the file.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from bwlint.model.expr import Span

_OPAQUE = re.compile(
    # Each alternative begins with a plain character: that lets the engine skip to the next candidate.
    r"""
    /(?:/(?:[^\\\n]+|\\.|\\\Z)*|\*.*?(?:\*/|\Z))
  | "(?:
      (?<=R")(?<![A-KM-TV-Za-tv-z0-79_]R")(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)
    | (?:[^"\\\n]+|\\.)*(?:"|(?=\n)|\\?\Z)
    )
  | '(?<![0-9a-fA-F]')(?:[^'\\\n]|\\.){1,12}?'
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK = 256
_NEAR = 2000
"""Characters within which a comment is about something on its line."""
_IN_WORD = re.compile(r"\w")
_SPACED = bytes(byte if byte < 128 and (chr(byte).isalnum() or byte == ord("_")) else 32 for byte in range(256))
"""What is no part of a word, as spaces."""
_NOT_NEWLINE = re.compile(r"[^\n]+")
_TOKEN = re.compile(
    # With the space behind it: one search finds a token and where the next begins.
    r"""(?:
    (?P<id>[A-Za-z_$]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"?)
  | (?P<char>'(?:[^'\\\n]|\\.){1,12}?')
  | (?P<op><<<|>>>|<=>|->\*|\.\.\.|<<=|>>=|::|->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|\#\#|.)
    )(?:\s|\\\n)*""",
    re.VERBOSE | re.DOTALL,
)
_SPACE = re.compile(r"(?:\s|\\\n)*")


class StringLiteral(NamedTuple):
    """A string literal: the offsets of what stands between its quotes, and whether escapes mean themselves."""

    start: int
    end: int
    raw: bool


class Token(NamedTuple):
    """`kind` is id, number, string, char or op; offsets are those of the source."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Code:
    """A source, the same text blanked, its literals and its comments by offset."""

    source: str
    text: str
    literals: tuple[StringLiteral, ...]
    comments: tuple[tuple[int, int], ...]

    @cached_property
    def _lines(self) -> list[int]:
        starts = [0]
        find = self.source.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    @cached_property
    def words(self) -> str:
        """Each word of the source once, comments and strings too: a reader asks here whether to begin."""
        found = _bytes(self.source).translate(_SPACED).split()
        return b"\n".join((b"", *dict.fromkeys(found), b"")).decode()

    def words_with(self, part: re.Pattern[str]) -> set[str]:
        words = self.words
        found = (match.span() for match in part.finditer(words))
        return {words[words.rfind("\n", 0, start) + 1 : words.find("\n", end)] for start, end in found}

    @cached_property
    def _is_ascii(self) -> bool:
        return self.source.isascii()

    @cached_property
    def _marks(self) -> list[int]:
        """The byte at which each block of characters begins."""
        marks, length = [], 0
        for start in range(0, len(self.source) + 1, _BLOCK):
            marks.append(length)
            length += len(_bytes(self.source[start : start + _BLOCK]))
        return marks

    def _byte(self, offset: int) -> int:
        block = offset // _BLOCK
        return self._marks[block] + len(_bytes(self.source[block * _BLOCK : offset]))

    @cached_property
    def _literal_starts(self) -> list[int]:
        return [literal.start for literal in self.literals]

    @cached_property
    def _comment_starts(self) -> list[int]:
        return [start for start, _ in self.comments]

    def line(self, offset: int) -> int:
        return bisect.bisect_right(self._lines, offset)

    def place(self, offset: int) -> tuple[int, int]:
        """Line (1-based) and byte column (0-based)."""
        line = self.line(offset)
        start = self._lines[line - 1]
        if self._is_ascii:
            return line, offset - start
        return line, self._byte(offset) - self._byte(start)

    def offset(self, line: int, column: int) -> int:
        start = self._lines[line - 1]
        if self._is_ascii:
            return start + column
        asked = self._byte(start) + column
        block = bisect.bisect_right(self._marks, asked) - 1
        data = _bytes(self.source[block * _BLOCK : (block + 1) * _BLOCK])[: asked - self._marks[block]]
        return block * _BLOCK + len(data.decode("utf-8", "surrogatepass"))

    def span(self, start: int, end: int) -> Span:
        lines = self._lines
        first = bisect.bisect_right(lines, start)
        if self._is_ascii and (first == len(lines) or end < lines[first]):
            begin = lines[first - 1]
            return Span(first, start - begin, first, end - begin)
        return Span(*self.place(start), *self.place(end))

    def line_start(self, offset: int) -> int:
        return self._lines[self.line(offset) - 1]

    def literal_at(self, quote: int) -> StringLiteral | None:
        """The literal that opens at or after an offset, where nothing but its prefix stands between."""
        index = bisect.bisect_left(self._literal_starts, quote)
        found = self.literals[index] if index < len(self.literals) else None
        return found if found is not None and found.start - quote < 24 else None

    def literals_in(self, start: int, end: int) -> tuple[StringLiteral, ...]:
        low = bisect.bisect_left(self._literal_starts, start)
        high = bisect.bisect_left(self._literal_starts, end)
        return self.literals[low:high]

    def content(self, literal: StringLiteral) -> str:
        return self.source[literal.start : literal.end]

    def comment_near(self, start: int, end: int) -> str:
        """What comments on the lines of a stretch, and alone on those directly above it and what is set for it, say."""
        first, last = self.line(start), self.line(max(start, end - 1))
        low = max(self._lines[max(0, first - 4)], start - _NEAR)
        high = min(self._lines[last] if last < len(self._lines) else len(self.source), end + _NEAR)
        index = bisect.bisect_left(self._comment_starts, low)
        said: list[str] = []
        while index < len(self.comments) and self.comments[index][0] < high:
            begin, stop = self.comments[index]
            own = self.line(begin) >= first or not self.text[self.line_start(begin) : begin].strip()
            if (own and _SET.fullmatch(self.text, stop, self.line_start(start))) or self.line(begin) >= first:
                text = self.source[begin:stop].strip("/* \t\n")
                said.append("" if text.startswith("bwlint:") else text)
            index += 1
        return " ".join(said)


_SET = re.compile(r"\s*(?:[\w:<>*& ]{1,80}=[^;{}]{1,200};\s*){0,2}")
"""What may stand between a comment and what it is about: the numbers that are asked there."""


def clean(source: str) -> Code:
    """Blank comments and the insides of literals. Linear in the length of the source; never raises."""
    pieces: list[str] = []
    literals: list[StringLiteral] = []
    comments: list[tuple[int, int]] = []
    end = 0
    for match in _OPAQUE.finditer(source):
        start, stop = match.span()
        pieces.append(source[end:start])
        end = stop
        first = source[start]
        if first == "/":
            pieces.append(_blank(source[start:stop]))
            comments.append((start, stop))
        elif first == "'":
            pieces.append("'" + " " * (stop - start - 2) + "'")
        else:
            literal = _literal(source, match)
            literals.append(literal)
            last = '"' if literal.end < stop else ""
            pieces.append('"' + _blank(source[start + 1 : stop - len(last)]) + last)
    pieces.append(source[end:])
    return Code(source, "".join(pieces), tuple(literals), tuple(comments))


def _literal(source: str, match: re.Match[str]) -> StringLiteral:
    start, stop = match.span()
    mark = match["mark"]
    if mark is None:
        closed = stop - start > 1 and source[stop - 1] == '"'
        return StringLiteral(start + 1, stop - 1 if closed else stop, False)
    begin = source.index("(", start) + 1
    closed = source.endswith(f'){mark}"', begin, stop)
    return StringLiteral(begin, stop - len(mark) - 2 if closed else stop, True)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _blank(text: str) -> str:
    if "\n" not in text:
        return " " * len(text)
    return _NOT_NEWLINE.sub(lambda run: " " * len(run[0]), text)


def tokens(text: str, start: int = 0, end: int | None = None, limit: int = 4000) -> list[Token]:
    """The tokens of a stretch of blanked text, at most `limit` of them."""
    stop = len(text) if end is None else end
    space = _SPACE.match(text, start, stop)
    matches = _TOKEN.finditer(text, space.end() if space else start, stop)
    return [
        Token(kind, match[kind], *match.span(kind))
        for match in islice(matches, limit)
        if (kind := match.lastgroup) is not None
    ]


def places(text: str, words: Iterable[str]) -> list[int]:
    """Where words stand in a text, in order."""
    found: list[int] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if not _IN_WORD.match(text, at - 1 if at else end, at) and not _IN_WORD.match(text, end):
                found.append(at)
            at = text.find(word, end)
    return sorted(found)


def matching(text: str, opening: int, limit: int | None = None) -> int:
    """The offset of the bracket that closes the one at `opening` in blanked text, or -1."""
    depth = 0
    stop = len(text) if limit is None else min(len(text), opening + limit)
    for match in _BRACKET.finditer(text, opening, stop):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return -1


_BRACKET = re.compile(r"[()\[\]{}]")


_BEHIND_ARGUMENTS = ("::", "(", "{", ")", ";", ",", ">>>")
LONGEST = 400
"""Characters of the arguments of a template in an expression."""
_ANGLE = re.compile(r"[<>,;(){}\[\]]")
_PARTS = re.compile(r"[()\[\]{},]")


def template_end(text: str, opening: int) -> int:
    """Behind the arguments of a template at an opening angle; -1 where it is none."""
    parts = arguments(text, opening, LONGEST)
    end = parts[-1][1] + 1 if parts else -1
    return end if text.startswith(_BEHIND_ARGUMENTS, end) else -1


def arguments(text: str, opening: int, limit: int = 2_000) -> list[tuple[int, int]] | None:
    """The offsets of each argument in the brackets at `opening`, which may be angular; None where they do not end."""
    parts: list[tuple[int, int]] = []
    angular = text[opening] == "<"
    start, depth, at = opening + 1, 0, opening + 1
    stop = min(len(text), opening + limit)
    while (mark := _ANGLE.search(text, at, stop)) is not None:
        at = mark.end()
        if mark[0] in "([{":
            close = matching(text, mark.start(), limit)
            if close < 0:
                return None
            at = close + 1
        elif mark[0] == "," and depth == 0:
            parts.append((start, mark.start()))
            start = at
        elif mark[0] == "<" and angular:
            depth += 1
        elif (mark[0] == ">" and angular and depth == 0) or (mark[0] in ")]}" and not angular):
            parts.append((start, mark.start()))
            return parts if text[parts[0][0] : parts[-1][1]].strip() else []
        elif mark[0] == ">" and angular:
            depth -= 1
        elif mark[0] == ";" or mark[0] in ")]}":
            return None
    return None


def between_commas(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The offsets of the arguments between two brackets."""
    found: list[tuple[int, int]] = []
    depth, begin = 0, start
    for mark in _PARTS.finditer(text, start, end):
        if mark[0] in "([{":
            depth += 1
        elif mark[0] in ")]}":
            depth -= 1
        elif depth == 0:
            found.append((begin, mark.start()))
            begin = mark.end()
    found.append((begin, end))
    return found


def stripped(text: str, start: int, end: int, space: str | None = None) -> tuple[int, int]:
    """A stretch without the space around it."""
    body = text[start:end]
    low = start + len(body) - len(body.lstrip(space))
    return low, max(low, start + len(body.rstrip(space)))
