"""CMake's command language: text in, commands with their arguments and offsets out. It never fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMAND = re.compile(r"(?<!\w)[A-Za-z_]\w*[ \t]*\(|#")
_BRACKET = re.compile(r"\[(=*)\[")
_ARGUMENT = re.compile(
    r"[ \t\r\n;]+"
    r"|(?P<comment>#)"
    r"|(?P<paren>[()])"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)(?:"|\\?\Z)'
    r'|(?P<unquoted>(?:[^\s()#"\\;]|\\.|(?<=[^\s()#"\\;])"[^"\n]*")+)'
    r"|.",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its text without escapes, its place with quotes; `pasted`: the place of what was put in."""

    text: str
    start: int
    end: int
    quoted: bool = False
    pasted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """`name` in lower case. Parentheses inside the arguments are arguments of their own."""

    name: str
    arguments: tuple[Argument, ...]
    start: int
    end: int

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(argument.text for argument in self.arguments)


def commands(source: str) -> Iterator[Command]:
    """The commands of a file, in order. What is left open ends with the file."""
    place = 0
    while match := _COMMAND.search(source, place):
        if match[0] == "#":
            place = _after_comment(source, match.start())
            continue
        arguments, place = _arguments(source, match.end())
        yield Command(match[0][:-1].strip().lower(), tuple(arguments), match.start(), place)


def _arguments(source: str, place: int) -> tuple[list[Argument], int]:
    """The arguments from behind the opening parenthesis, and the place after the closing one."""
    found: list[Argument] = []
    depth = 0
    while place < len(source):
        bracket = _BRACKET.match(source, place)
        if bracket:
            argument, place = _bracketed(source, bracket)
            found.append(argument)
            continue
        match = _ARGUMENT.match(source, place)
        assert match is not None, "the last alternative takes any character"
        place = match.end()
        if match["comment"]:
            place = _after_comment(source, match.start())
        elif match["paren"]:
            if match["paren"] == ")" and depth == 0:
                return found, place
            depth += 1 if match["paren"] == "(" else -1
            found.append(Argument(match["paren"], match.start(), place))
        elif match["quoted"] is not None:
            text = _ESCAPE.sub(_unescaped, match["quoted"])
            found.append(Argument(text, match.start(), place, quoted=True))
        elif match["unquoted"]:
            found.append(Argument(_ESCAPE.sub(_unescaped, match["unquoted"]), match.start(), place))
    return found, place


def _bracketed(source: str, opening: re.Match[str]) -> tuple[Argument, int]:
    closing = f"]{opening[1]}]"
    end = source.find(closing, opening.end())
    text = source[opening.end() : end if end >= 0 else len(source)]
    place = end + len(closing) if end >= 0 else len(source)
    return Argument(text, opening.start(), place, quoted=True), place


def _after_comment(source: str, place: int) -> int:
    bracket = _BRACKET.match(source, place + 1)
    if bracket:
        return _bracketed(source, bracket)[1]
    end = source.find("\n", place)
    return end + 1 if end >= 0 else len(source)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped in ("\n", "\r\n"):
        return ""
    return {"n": "\n", "t": "\t", "r": "\r"}.get(escaped, escaped)
