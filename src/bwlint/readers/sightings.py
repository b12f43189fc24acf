"""Words that speak of a chip, line by line, in any text, whatever a reader makes of it. Nothing is parsed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, cast

from ahocorasick_rs import AhoCorasick, Implementation

from bwlint.data import table
from bwlint.model.ledger import WHATS, Sighting, What

MOST_TEXT = 200
"""Characters of a line that are kept."""
MOST_TOKEN = 80
MOST_LINE = 2_000
"""Characters of a line that anybody wrote by hand."""

_COMMENT = {
    "python": re.compile(r"\s*#"),
    "cuda": re.compile(r"\s*(?://|/?\*|#\s*(?:endif|else)\b)"),
    "build": re.compile(r"\s*(?:#|//)"),
    "ptx": re.compile(r"\s*//"),
}
_QUOTES = (re.compile('"""'), re.compile("'" * 3))
_PYTHON = (re.compile(r"def[ \t]+(\w+)"), re.compile(r"class[ \t]+(\w+)"))
"""Each for itself: with its own first letter an expression is found there, another is tried everywhere."""
_INDENT = re.compile(r"([ \t]*)(?:async[ \t]+)?")
_CPP = re.compile(
    r"(?m)\n(?:(?:struct|class|namespace)[ \t]+(?:\w{1,80}[ \t]+)?(\w+)[^;\n]*$"
    r"|[A-Za-z_][\w:<>,*&~ \t]{0,200}?[ \t*&](~?\w{1,80})[ \t]*\([^;\n]*$|#[ \t]*define[ \t]+(\w+))"
)
_BUILD = re.compile(r"(?i)\n(?:[ \t]*(?:function|macro)[ \t]*\([ \t]*(\w+)|(\w+)[ \t]*\(\)[ \t]*\{|([\w-]+)[ \t]*:)")
_BLANK = re.compile(r"\s+")
_OWN = re.compile(r"(?ms)(?:#|//|/\*)[ \t]*bwlint:.*?(?:\*/|$)|^\[+tool\.bwlint\b.*?(?=^\[+(?!tool\.bwlint\b)|\Z)")
"""Comments and tables for bwlint itself."""
_WORD_BEFORE, _WORD_BEHIND, _PATH_BEFORE = re.compile(r"\w+\Z"), re.compile(r"\w+"), re.compile(r"[\w.]+\Z")


@dataclass(frozen=True, slots=True)
class _Sort:
    """A row of the table: its words, the names around one that make it another, and what stands in its line as well."""

    what: What
    words: re.Pattern[str]
    unless: re.Pattern[str] | None
    beside: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class _Words:
    """`anchors` finds what stands in every line with a word, and by `rows` whose words to look for there."""

    anchors: AhoCorasick
    rows: tuple[int, ...]
    sorts: tuple[_Sort, ...]


@cache
def _words() -> _Words:
    rows = table("sightings")["sighting"]
    anchors = [(anchor, i) for i, row in enumerate(rows) for anchor in row["anchors"]]
    sorts = tuple(
        _Sort(
            cast(What, row["what"]),
            re.compile("|".join(row["words"])),
            _compiled(row, "unless"),
            _compiled(row, "beside"),
        )
        for row in rows
    )
    automaton = AhoCorasick([anchor for anchor, _ in anchors], implementation=Implementation.DFA)
    return _Words(automaton, tuple(i for _, i in anchors), sorts)


def _compiled(row: dict[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(row[key]) if key in row else None


def sightings(kind: str, source: str) -> tuple[Sighting, ...]:
    """The lines of a text of a kind (`sources.kinds`) that speak of a chip, in order."""
    if "bwlint" in source:
        source = _OWN.sub(lambda own: "\n" * own[0].count("\n"), source)
    found = [(number, said) for number, line in _anchored(source) if (said := _said(line)) is not None]
    if not found:
        return ()
    lines = source.split("\n")
    quoted = _quoted(source) if kind == "python" else ()
    prose, around = _Prose(_COMMENT.get(kind, _COMMENT["build"]), lines, quoted), _around(kind, source, lines)
    return tuple(
        Sighting(number, what, tokens, line, around(number), prose(number)) for number, (what, tokens, line) in found
    )


def _anchored(source: str) -> Iterator[tuple[int, str]]:
    """The lines with an anchor, each with its number, as far as they are looked at."""
    number, counted, stop = 1, 0, -1
    for _, start, _ in _words().anchors.find_matches_as_indexes(_lowered(source)):
        if start < stop:
            continue
        number, counted = number + source.count("\n", counted, start), start
        begin, stop = source.rfind("\n", 0, start) + 1, source.find("\n", start)
        stop = len(source) if stop < 0 else stop
        yield number, source[begin : min(stop, begin + MOST_LINE + MOST_TOKEN)]


def _lowered(text: str) -> str:
    """A text in small letters, with each at its place."""
    lower = text.lower()
    if len(lower) != len(text):  # some letters become two
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    if not lower.isascii():  # lone surrogates are no text for others
        lower = lower.encode("utf-8", "replace").decode("utf-8")
    return lower


@lru_cache(4_096)  # half of the lines stand in several places
def _said(line: str) -> tuple[What, tuple[str, ...], str] | None:
    """What a line speaks of, its words that do, and the line as it is kept; None where it speaks of no chip."""
    found = list(_found(line, _lowered(line)))
    if not found:
        return None
    what = min((what for what, _ in found), key=WHATS.index)
    text = _BLANK.sub(" ", line[:MOST_LINE]).strip()[:MOST_TEXT]
    return what, tuple(dict.fromkeys(token for _, token in found)), text


def _found(line: str, lower: str) -> Iterator[tuple[What, str]]:
    words = _words()
    for row in sorted({words.rows[hit[0]] for hit in words.anchors.find_matches_as_indexes(lower, overlapping=True)}):
        sort = words.sorts[row]
        if sort.beside and not sort.beside.search(lower, 0, MOST_LINE):
            continue
        for match in sort.words.finditer(lower, 0, MOST_LINE):
            at, end = match.span()
            if sort.unless and sort.unless.search(_whole(lower, at, at, _PATH_BEFORE)):
                continue
            if not _is_inside_a_word(line, at):
                yield sort.what, (match[0] if sort.what == "asked" else _whole(line, at, end))[:MOST_TOKEN]


def _is_inside_a_word(source: str, start: int) -> bool:
    """Whether letters stand in front that belong to the same word: `prism90`, not `KernelSm90`."""
    if start == 0:
        return False
    before, first = source[start - 1], source[start]
    return before.isalpha() and first.isalpha() and (before.islower() == first.islower()) and before.islower()


def _whole(source: str, start: int, end: int, names: re.Pattern[str] = _WORD_BEFORE) -> str:
    """The identifier around a word, as far as it is kept; `names` is what may stand in front of it."""
    first, last = max(0, start - MOST_TOKEN), end + MOST_TOKEN
    before, behind = names.search(source[first:start]), _WORD_BEHIND.match(source[end:last])
    return f"{before[0] if before else ''}{source[start:end]}{behind[0] if behind else ''}"[:MOST_TOKEN]


@dataclass(frozen=True, slots=True)
class _Around:
    """The names of what begins at some lines, to tell what holds a line; Python's holds what is further in."""

    starts: list[int]
    names: list[str]
    indents: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Of Python alone."""

    def __call__(self, line: int) -> str:
        at = bisect_right(self.starts, line) - 1
        if at < 0:
            return ""
        if not self.lines:
            return self.names[at]
        text = self.lines[line - 1].expandtabs()
        level = len(text) - len(text.lstrip()) + (self.starts[at] == line)
        names: list[str] = []
        for i in range(at, max(-1, at - 400), -1):
            if self.indents[i] < level:
                names.append(self.names[i])
                level = self.indents[i]
            if level == 0:
                break
        return ".".join(reversed(names))


def _around(kind: str, source: str, lines: list[str]) -> _Around:
    if kind == "python":
        return _around_in_python(source, lines)
    text = f"\n{source}"
    starts, names = [], []
    line = last = 0
    for match in (_CPP if kind == "cuda" else _BUILD).finditer(text):
        line, last = line + text.count("\n", last, match.start() + 1), match.start() + 1
        starts.append(line)
        names.append(next((name for name in match.groups() if name), ""))
    return _Around(starts, names)


def _around_in_python(source: str, lines: list[str]) -> _Around:
    found = _Around([], [], [], lines)
    line, last = 1, 0
    for start, name in sorted((match.start(), match[1]) for word in _PYTHON for match in word.finditer(source)):
        before = _INDENT.fullmatch(source, source.rfind("\n", 0, start) + 1, start)
        if before:
            line, last = line + source.count("\n", last, start), start
            found.starts.append(line)
            found.names.append(name)
            found.indents.append(len(before[1].expandtabs()))
    return found


class _Prose:
    def __init__(self, comment: re.Pattern[str], lines: list[str], quoted: tuple[tuple[int, int], ...]) -> None:
        self._comment, self._lines = comment, lines
        self._quoted = quoted
        self._starts = [start for start, _ in quoted]

    def __call__(self, line: int) -> bool:
        if self._comment.match(self._lines[line - 1]):
            return True
        at = bisect_right(self._starts, line) - 1
        return at >= 0 and line <= self._quoted[at][1]


def _quoted(source: str) -> tuple[tuple[int, int], ...]:
    """The lines of texts in three quotes."""
    found: list[tuple[int, int]] = []
    opened, mark, line, last = 0, "", 1, 0
    for start, quotes in sorted((match.start(), match[0]) for marks in _QUOTES for match in marks.finditer(source)):
        line, last = line + source.count("\n", last, start), start
        if not mark:
            opened, mark = line, quotes
        elif quotes == mark:
            found.append((opened, line))
            mark = ""
    return tuple(found)
