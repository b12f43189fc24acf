"""Conditions of the preprocessor, and texts, laid out anew as clang-format does, where an edit made a line too long.

That is done only where the old text comes out as it stood: then the tree is formatted so, and this knows how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bwlint.readers.cuda.lexer import matching

_DIRECTIVE = re.compile(r"(?P<head>[ \t]*#[ \t]*(?:el)?if )(?P<test>.*)", re.S)
_CONTINUED = re.compile(r"^[ \t]*#[ \t]*(?:el)?if (?:[^\n\\]|\\.|\\\n)*", re.M)
_TEXT = re.compile(r'(?P<indent>[ \t]*)"(?:[^"\\]|\\.)*"[);,]*')
_GROUP = re.compile(r"!*\(")
_INDENT = 4
"""How far clang-format indents what goes on in another line."""


@dataclass(frozen=True, slots=True)
class CppStyle:
    """What a `.clang-format` says: characters in a line, and whether backslashes stand as far left as they can."""

    limit: int
    left: bool


def directives(source: str) -> Iterator[tuple[int, int]]:
    """The first and the last line (from 1) of each condition of the preprocessor."""
    for match in _CONTINUED.finditer(source):
        first = source.count("\n", 0, match.start()) + 1
        yield first, first + match[0].count("\n")


def broken(old: str, new: str, style: CppStyle) -> str | None:
    """A line that stood as `old`, with the text that it ends in broken at a blank, where an edit made it too long."""
    match = _TEXT.fullmatch(new)
    at = new.rfind(" ", 0, style.limit - 1) + 1  # with a quotation mark behind it
    if match is None or len(old) > style.limit or len(new) <= style.limit or at <= match.end("indent"):
        return None
    return f'{new[:at]}"\n{match["indent"]}"{new[at:]}'


def relaid(old: str, new: str, style: CppStyle) -> str | None:
    """The new text of a directive that stood as `old`; None to leave it as it is."""
    before, after = _laid(old, style), _laid(new, style)
    return after if before == old and after != new else None


def _laid(text: str, style: CppStyle) -> str | None:
    match = _DIRECTIVE.fullmatch(re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", text))
    if match is None or "//" in text or "/*" in text or "\r" in text:
        return None
    whole = match["head"] + match["test"]
    if len(whole) <= style.limit:
        return whole
    lines = _chain(match["test"], match["head"], _INDENT, "", style.limit)
    if lines is None or not _fits(lines, style.limit):
        return None
    column = max(map(len, lines[:-1])) + 1 if style.left else style.limit - 1
    return "\n".join([*(f"{line:<{column}}\\" for line in lines[:-1]), lines[-1]])


def _chain(test: str, head: str, indent: int, tail: str, limit: int) -> list[str] | None:
    """A chain of operands behind `head`, each where it has room, in front of `tail`; None where two kinds are mixed."""
    signs, operands = _parted(test)
    if len({*signs}) > 1:
        return None
    lines, line, is_broken = list[str](), "", False
    for operand, sign in zip(operands, [*(f" {one}" for one in signs), tail], strict=True):
        below = _within(" " * indent, operand, sign, limit) if line else None
        here = _within(f"{line} " if line else head, operand, sign, limit) if not is_broken else None
        ways = [way for way in (below and [line, *below], here) if way and _fits(way, limit)]
        if not ways:
            return None
        whole = min(ways, key=len)  # of two the one that breaks further out
        lines, line = [*lines, *whole[:-1]], whole[-1]
        is_broken = operand not in line  # nothing follows a bracket of several lines
    return [*lines, line]


def _within(start: str, operand: str, sign: str, limit: int) -> list[str] | None:
    """An operand behind `start`: in one line, else what is in its brackets as a chain."""
    line, group = f"{start}{operand}{sign}", _GROUP.match(operand)
    if _fits([line], limit) or group is None:
        return [line]
    head = f"{start}{group[0]}"
    return _chain(operand[group.end() : -1], head, len(head), f"){sign}", limit)


def _fits(lines: Sequence[str], limit: int) -> bool:
    """Whether lines have room for a backslash behind each."""
    return all(len(line) <= limit - 2 for line in lines)


def _parted(test: str) -> tuple[Sequence[str], Sequence[str]]:
    """The signs between the operands of a condition outside of brackets, and the operands."""
    places = list(_signs(test))
    ends = [0, *(at + 2 for at, _ in places)]
    starts = [*(at for at, _ in places), len(test)]
    return [sign for _, sign in places], [test[end:start].strip() for end, start in zip(ends, starts, strict=True)]


def _signs(test: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(test):
        if test[at] == "(":
            at = max(at, matching(test, at))
        elif test[at : at + 2] in ("&&", "||"):
            yield at, test[at : at + 2]
            at += 1
        at += 1
