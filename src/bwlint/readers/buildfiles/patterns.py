"""CMake's regular expressions, matched in time that grows with pattern times text (Thompson's construction).

The language is small: ``^ $ . [ ] [^ ] - * + ? | ( )`` and a backslash before a character that stands for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_LONGEST_PATTERN = 1000
_DEEPEST = 50


class BadRegex(ValueError):
    """A pattern that CMake would refuse, or one beyond any sense."""


@dataclass(slots=True)
class _State:
    """`wants` is a set of characters (negated or not), "^", "$", or None for a free step to all of `next`."""

    wants: tuple[bool, frozenset[str]] | str | None
    next: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Fragment:
    """A part of the machine: where it begins, and the free state at which it ends."""

    start: int
    end: int


def compiled(pattern: str) -> Regex | None:
    """A compiled pattern; None where CMake would refuse it."""
    try:
        return Regex(pattern)
    except BadRegex:
        return None


class Regex:
    """A compiled pattern; raises BadRegex."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _LONGEST_PATTERN:
            raise BadRegex("too long")
        self._text = pattern
        self._at = 0
        self._states: list[_State] = []
        whole = self._alternatives(0)
        if self._at != len(pattern):
            raise BadRegex(f"unexpected {pattern[self._at]!r}")
        self._start, self._accept = whole.start, whole.end

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        current: set[int] = set()
        for place in range(len(text) + 1):
            current.add(self._start)
            current = self._closed(current, place == 0, place == len(text))
            if self._accept in current:
                return True
            if place < len(text):
                current = {follower for state in current for follower in self._step(state, text[place])}
        return False

    def find(self, text: str, start: int) -> tuple[int, int] | None:
        """The first place from `start` on where it matches, as far as it does."""
        for first in range(start, len(text) + 1):
            current, end = {self._start}, -1
            for place in range(first, len(text) + 1):
                current = self._closed(current, place == 0, place == len(text))
                end = place if self._accept in current else end
                character = text[place : place + 1]
                current = {follower for state in current if character for follower in self._step(state, character)}
            if end >= 0:
                return first, end
        return None

    def replaced(self, new: str, text: str) -> str:
        """The text with `new` for whatever it matches."""
        found, place = "", 0
        while (match := self.find(text, place)) and match[1] > match[0]:
            found, place = found + text[place : match[0]] + new, match[1]
        return found + text[place:]

    def _step(self, number: int, character: str) -> list[int]:
        state = self._states[number]
        if not isinstance(state.wants, tuple):
            return []
        negated, characters = state.wants
        return state.next if (character in characters) != negated else []

    def _closed(self, states: set[int], at_start: bool, at_end: bool) -> set[int]:
        found = set(states)
        todo = list(states)
        while todo:
            state = self._states[todo.pop()]
            free = state.wants is None or (state.wants == "^" and at_start) or (state.wants == "$" and at_end)
            for follower in state.next if free else ():
                if follower not in found:
                    found.add(follower)
                    todo.append(follower)
        return found

    def _new(self, wants: tuple[bool, frozenset[str]] | str | None = None) -> int:
        self._states.append(_State(wants))
        return len(self._states) - 1

    def _join(self, one: int, other: int) -> None:
        self._states[one].next.append(other)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _alternatives(self, depth: int) -> _Fragment:
        if depth > _DEEPEST:
            raise BadRegex("nested too deep")
        start, end = self._new(), self._new()
        while True:
            branch = self._sequence(depth)
            self._join(start, branch.start)
            self._join(branch.end, end)
            if self._peek() != "|":
                return _Fragment(start, end)
            self._at += 1

    def _sequence(self, depth: int) -> _Fragment:
        start = end = self._new()
        while self._peek() and self._peek() not in "|)":
            piece = self._repeated(depth)
            self._join(end, piece.start)
            end = piece.end
        return _Fragment(start, end)

    def _repeated(self, depth: int) -> _Fragment:
        piece = self._atom(depth)
        while (sign := self._peek()) and sign in "*+?":
            self._at += 1
            start, end = self._new(), self._new()
            self._join(start, piece.start)
            self._join(piece.end, end)
            if sign in "*+":
                self._join(piece.end, piece.start)
            if sign in "*?":
                self._join(start, end)
            piece = _Fragment(start, end)
        return piece

    def _atom(self, depth: int) -> _Fragment:
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
        wants: tuple[bool, frozenset[str]] | str
        if sign in "^$":
            wants = sign
        elif sign == ".":
            wants = (True, frozenset())
        elif sign == "[":
            wants = self._bracket()
        else:
            wants = (False, frozenset(self._escaped() if sign == "\\" else sign))
        start, end = self._new(wants), self._new()
        self._join(start, end)
        return _Fragment(start, end)

    def _escaped(self) -> str:
        found = self._peek()
        if not found:
            raise BadRegex("trailing backslash")
        self._at += 1
        return found

    def _bracket(self) -> tuple[bool, frozenset[str]]:
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
        return negated, frozenset(found)
