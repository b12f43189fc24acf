"""CMake's regular expressions, matched without going back: each part tells all places where it may end.

The language is small: ``^ $ . [ ] [^ ] - * + ? | ( )`` and a backslash before a character that stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

_LONGEST_PATTERN = 1000
_DEEPEST = 50

_Places = frozenset[int]
_Part = Callable[[str, _Places], _Places]
"""The places of a text where a part of a pattern may end that begins at one of some places."""


class BadRegex(ValueError):
    """A pattern that CMake would refuse, or one beyond any sense."""


def compiled(pattern: str) -> Regex | None:
    """A compiled pattern; None where CMake would refuse it."""
    try:
        return Regex(pattern)
    except BadRegex:
        return None


class Regex:
    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LONGEST_PATTERN:
            raise BadRegex("too long")
        self._text = pattern
        self._at = 0
        self._ends = self._alternatives(0)
        if self._at != len(pattern):
            raise BadRegex(f"unexpected {pattern[self._at]!r}")

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        return bool(self._ends(text, frozenset(range(len(text) + 1))))

    def find(self, text: str, start: int) -> tuple[int, int] | None:
        """The first place from `start` on where it matches, as far as it does."""
        found = ((first, self._ends(text, frozenset({first}))) for first in range(start, len(text) + 1))
        return next(((first, max(ends)) for first, ends in found if ends), None)

    def replaced(self, new: str, text: str) -> str:
        """The text with `new` for whatever it matches."""
        found, place = "", 0
        while (match := self.find(text, place)) and match[1] > match[0]:
            found, place = found + text[place : match[0]] + new, match[1]
        return found + text[place:]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _alternatives(self, depth: int) -> _Part:
        if depth > _DEEPEST:
            raise BadRegex("nested too deep")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence(depth))
        return lambda text, places: _NOWHERE.union(*(branch(text, places) for branch in branches))

    def _sequence(self, depth: int) -> _Part:
        parts: list[_Part] = []
        while self._peek() and self._peek() not in "|)":
            parts.append(self._repeated(depth))
        return lambda text, places: reduce(lambda reached, part: part(text, reached), parts, places)

    def _repeated(self, depth: int) -> _Part:
        part = self._atom(depth)
        while (sign := self._peek()) and sign in "*+?":
            self._at += 1
            part = _REPEATED[sign](part)
        return part

    def _atom(self, depth: int) -> _Part:
        sign = self._peek()
        self._at += 1
        if sign == "(":
            inner = self._alternatives(depth + 1)
            if self._peek() != ")":
                raise BadRegex("unmatched (")
            self._at += 1
            return inner
        if sign in "*+?":
            raise BadRegex(f"nothing before {sign}")
        if sign == "^":
            return lambda text, places: places & {0}
        if sign == "$":
            return lambda text, places: places & {len(text)}
        if sign == ".":
            return _one_of(frozenset(), negated=True)
        if sign == "[":
            return self._bracket()
        return _one_of(frozenset(self._escaped() if sign == "\\" else sign))

    def _escaped(self) -> str:
        found = self._peek()
        if not found:
            raise BadRegex("trailing backslash")
        self._at += 1
        return found

    def _bracket(self) -> _Part:
        negated = self._peek() == "^"
        self._at += negated
        close = self._text.find("]", self._at + 1)
        if close < 0:
            raise BadRegex("unmatched [")
        body, self._at = self._text[self._at : close], close + 1
        found: set[str] = set()
        place = 0
        while place < len(body):
            if body[place + 1 : place + 2] == "-" and place + 2 < len(body):
                first, last = ord(body[place]), ord(body[place + 2])
                found |= {chr(code) for code in range(first, min(last, first + 255) + 1)}
                place += 3
            else:
                found.add(body[place])
                place += 1
        return _one_of(frozenset(found), negated=negated)


def _one_of(characters: frozenset[str], *, negated: bool = False) -> _Part:
    def ends(text: str, places: _Places) -> _Places:
        return frozenset(at + 1 for at in places if at < len(text) and (text[at] in characters) != negated)

    return ends


def _once_or_more(part: _Part) -> _Part:
    @lru_cache(maxsize=8)  # one in another asks twice for the same at every level
    def ends(text: str, places: _Places) -> _Places:
        found, new = set[int](), places
        while new := part(text, new) - found:
            found |= new
        return frozenset(found)

    return ends


_NOWHERE: _Places = frozenset()
_REPEATED: dict[str, Callable[[_Part], _Part]] = {
    "+": _once_or_more,
    "?": lambda part: lambda text, places: places | part(text, places),
    "*": lambda part: _REPEATED["?"](_once_or_more(part)),
}
