"""What the preprocessor makes of the strings of inline assembly: literals side by side, macros, their arguments."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bwlint.readers.cuda.lexer import Code, matching

MAX_DEPTH = 5
MAX_ARGUMENTS = 2000
MAX_TEXT = 500_000
"""Characters of one file that are put together: a macro may name others over and over."""
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:\(([^()]*)\))?")
NAME = r"[A-Za-z_]\w*(?:\s*##\s*\w+)*"
_PIECE = re.compile(rf'"|#\s*[A-Za-z_]\w*|{NAME}|[()]')
_BRACKETS = re.compile(r"[()\[\]{},]")
_SPACE = re.compile(r"(?:\s|\\\n)*")
UNKNOWN = " "
"""Stands for what is not known: no modifier goes on behind it."""


@dataclass(frozen=True, slots=True)
class MacroText:
    """One `#define`: where its body stands. `params` is None for a macro that takes no brackets."""

    name: str
    params: tuple[str, ...] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MacroArgument:
    """What is given for a parameter: as it is written, and the string that it is pasted as."""

    raw: str
    text: str


Given = Mapping[str, MacroArgument]


class Pasting:
    """The macros of a file, by the text of their bodies."""

    def __init__(self, code: Code, directives: tuple[tuple[int, int], ...]) -> None:
        self._code = code
        self._left = MAX_TEXT
        self._every: list[MacroText] = []
        self._by_name: dict[str, list[MacroText]] = {}
        for start, end in directives:
            if found := _DEFINE.match(code.text, start, end):
                listed = found[2]
                params = None if listed is None else tuple(word.strip() for word in listed.split(","))
                self._every.append(MacroText(found[1], params, found.end(), end))
                self._by_name.setdefault(found[1], []).append(self._every[-1])

    def around(self, offset: int) -> MacroText | None:
        """The macro in whose body an offset stands."""
        index = bisect.bisect_right(self._every, offset, key=lambda one: one.start) - 1
        return self._every[index] if index >= 0 and offset < self._every[index].end else None

    def word(self, name: str, end: int, given: Given, depth: int = 0) -> tuple[str, int]:
        """The string that a name stands for, and where the source goes on behind it and its brackets."""
        if "##" in name:
            parts = [part.strip() for part in name.split("##")]
            name = "".join(given[part].raw if part in given else part for part in parts)
            given = {}
        if name in given:
            return given[name].text, end
        found = self._by_name.get(name, [])
        close = self._closing(end)
        after = end if close < 0 or (found and found[0].params is None) else close + 1
        if len(found) != 1 or depth >= MAX_DEPTH:
            return UNKNOWN, after
        inner = self.arguments(found[0], end, given, depth)
        return self.text(found[0].start, found[0].end, inner, depth + 1), after

    def text(self, start: int, end: int, given: Given, depth: int = 0) -> str:
        """The string that a stretch of the source is."""
        code, parts, at = self._code, [], start
        while self._left > 0 and (match := _PIECE.search(code.text, at, end)) is not None:
            at = match.end()
            self._left -= 1
            if match[0] == '"':
                literal = code.literal_at(match.start())
                if literal is None:
                    break
                parts.append(code.content(literal))
                self._left -= len(parts[-1])
                at = literal.end + 1
            elif match[0][0] == "#":
                argument = given.get(match[0][1:].strip())
                parts.append(UNKNOWN if argument is None else argument.raw)
            elif match[0] not in "()":
                text, at = self.word(match[0], at, given, depth)
                parts.append(text)
        return "".join(parts)

    def arguments(self, definition: MacroText, end: int, given: Given, depth: int = 0) -> dict[str, MacroArgument]:
        """What is given to a macro whose name ends at an offset."""
        close = self._closing(end)
        if not definition.params or close < 0:
            return {}
        opening = self._code.text.index("(", end)
        spans = self._split(opening + 1, close)
        found = [self._argument(start, stop, given, depth) for start, stop in spans]
        return dict(zip(definition.params, found, strict=False))

    def _argument(self, start: int, end: int, given: Given, depth: int) -> MacroArgument:
        raw = self._code.source[start:end].strip()
        raw = given[raw].raw if raw in given else raw
        return MacroArgument(self._value(raw) if depth else raw, self.text(start, end, given, depth))

    def _value(self, raw: str) -> str:
        """What a macro without brackets is called by: what is handed on is put in first."""
        found = self._by_name.get(raw, [])
        if len(found) != 1 or found[0].params is not None:
            return raw
        return self._code.source[found[0].start : found[0].end].strip()

    def _closing(self, end: int) -> int:
        """Where the bracket closes that opens right behind a name, or -1."""
        text = self._code.text
        space = _SPACE.match(text, end)
        at = space.end() if space else end
        return matching(text, at, MAX_ARGUMENTS) if text.startswith("(", at) else -1

    def _split(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        depth, begin = 0, start
        for mark in _BRACKETS.finditer(self._code.text, start, end):
            if mark[0] != ",":
                depth += 1 if mark[0] in "([{" else -1
            elif depth == 0:
                yield begin, mark.start()
                begin = mark.end()
        yield begin, end
