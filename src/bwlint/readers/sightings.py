"""Words that speak of a chip, line by line, in any text: what is to be accounted for, whatever a reader makes of it.

Text in, sightings out. Nothing is parsed: the function around a line is told from indentation and from lines at the
margin, a comment from how it begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, cast

from ahocorasick_rs import AhoCorasick

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
_QUOTES = re.compile(r"\"\"\"|'''")
_PYTHON = re.compile(r"(?m)^([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_CPP = re.compile(
    r"(?m)^(?:(?:struct|class|namespace)[ \t]+(?:\w{1,80}[ \t]+)?(\w+)[^;\n]*$"
    r"|[A-Za-z_][\w:<>,*&~ \t]{0,200}?[ \t*&](~?\w{1,80})[ \t]*\([^;\n]*$|#[ \t]*define[ \t]+(\w+))"
)
_BUILD = re.compile(r"(?mi)^[ \t]*(?:function|macro)[ \t]*\([ \t]*(\w+)|^(\w+)[ \t]*\(\)[ \t]*\{|^([\w-]+)[ \t]*:")
_BLANK = re.compile(r"\s+")
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
    return _Words(AhoCorasick([anchor for anchor, _ in anchors]), tuple(i for _, i in anchors), sorts)


def _compiled(row: dict[str, Any], key: str) -> re.Pattern[str] | None:
    return re.compile(row[key]) if key in row else None


def sightings(kind: str, source: str) -> tuple[Sighting, ...]:
    """The lines of a text of a kind (`sources.kinds`) that speak of a chip, in order."""
    by_line = _by_line(source)
    if not by_line:
        return ()
    lines = source.split("\n")
    prose, around = _prose(kind, source, lines), _around(kind, source)
    found = []
    for number, words in by_line.items():
        text = lines[number - 1]
        if len(text) > MOST_LINE:
            text = text[:MOST_LINE]
        tokens = tuple(dict.fromkeys(token for _, token in words))
        what = min((what for what, _ in words), key=WHATS.index)
        line = _BLANK.sub(" ", text).strip()[:MOST_TEXT]
        found.append(Sighting(number, what, tokens, line, around(number), prose(number)))
    return tuple(found)


def _by_line(source: str) -> dict[int, list[tuple[What, str]]]:
    lower = source.lower()
    if len(lower) != len(source):  # some letters become two
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in source)
    if not lower.isascii():  # lone surrogates are no text for others
        lower = lower.encode("utf-8", "replace").decode("utf-8")
    words = _words()
    hits = words.anchors.find_matches_as_indexes(lower, overlapping=True)
    if not hits:
        return {}
    ends = [-1, *(end - 1 for end in accumulate(len(line) + 1 for line in source.split("\n")))]
    looks: dict[int, set[int]] = {}
    for anchor, start, _ in hits:
        looks.setdefault(bisect_right(ends, start - 1) if start else 1, set()).add(words.rows[anchor])
    found: dict[int, list[tuple[What, str]]] = {}
    for line, rows in sorted(looks.items()):
        start = ends[line - 1] + 1
        stop = min(ends[line], start + MOST_LINE)
        for row in sorted(rows):
            sort = words.sorts[row]
            if sort.beside and not sort.beside.search(lower, start, stop):
                continue
            for match in sort.words.finditer(lower, start, stop):
                at, end = match.span()
                if sort.unless and sort.unless.search(_whole(lower, at, at, _PATH_BEFORE)):
                    continue
                if not _is_inside_a_word(source, at):
                    token = match[0] if sort.what == "asked" else _whole(source, at, end)
                    found.setdefault(line, []).append((sort.what, token[:MOST_TOKEN]))
    return found


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


class _Around:
    """The name of what begins last above a line and holds it."""

    def __init__(self, starts: list[int], names: list[str], indents: list[int], indent_of: list[str] | None) -> None:
        self._starts, self._names, self._indents, self._lines = starts, names, indents, indent_of

    def __call__(self, line: int) -> str:
        at = bisect_right(self._starts, line) - 1
        if at < 0:
            return ""
        if self._lines is None:
            return self._names[at]
        return self._python(line, at)

    def _python(self, line: int, at: int) -> str:
        assert self._lines is not None
        text = self._lines[line - 1].expandtabs()
        indent = len(text) - len(text.lstrip())
        own = self._starts[at] == line
        names: list[str] = []
        level = indent + 1 if own else indent
        for i in range(at, max(-1, at - 400), -1):
            if self._indents[i] < level:
                names.append(self._names[i])
                level = self._indents[i]
            if level == 0:
                break
        return ".".join(reversed(names))


def _around(kind: str, source: str) -> _Around:
    pattern = {"python": _PYTHON, "cuda": _CPP}.get(kind, _BUILD)
    starts, names, indents = [], [], []
    line, last = 1, 0
    for match in pattern.finditer(source):
        line += source.count("\n", last, match.start())
        last = match.start()
        starts.append(line)
        if kind == "python":
            names.append(match[2])
            indents.append(len(match[1].expandtabs()))
        else:
            names.append(next((name for name in match.groups() if name), ""))
            indents.append(0)
    return _Around(starts, names, indents, source.split("\n") if kind == "python" else None)


def _prose(kind: str, source: str, lines: list[str]) -> _Prose:
    return _Prose(_COMMENT.get(kind, _COMMENT["build"]), lines, _quoted(source) if kind == "python" else ())


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
    for match in _QUOTES.finditer(source):
        line += source.count("\n", last, match.start())
        last = match.start()
        if not mark:
            opened, mark = line, match[0]
        elif match[0] == mark:
            found.append((opened, line))
            mark = ""
    return tuple(found)
