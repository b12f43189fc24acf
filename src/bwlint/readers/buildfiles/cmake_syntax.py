"""CMake's command language: text in, commands with their arguments and offsets out. It never fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

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


_REFERENCE = re.compile(r"\$\{(\w+)\}")
_IN_A_FLAG = re.compile(r"(?:(?:compute|sm)_|-arch[= ])\$\{(\w+)\}")
_LOOP_WORDS = frozenset({"IN", "LISTS", "ITEMS"})
MAX_ITEMS = 50
_LONGEST = 100_000
"""Characters that references may put into one text, and members of a command: each may double what it refers to."""

Bound = Mapping[str, Sequence[Argument]]
"""What the parameters of a function, or the variable of a loop, stand for."""


@dataclass(frozen=True, slots=True)
class CmakeFunction:
    """A function of the project, or a macro."""

    parameters: tuple[str, ...]
    body: Sequence[Command]

    def bound(self, given: Sequence[Argument]) -> dict[str, Sequence[Argument]]:
        """What its variables stand for in a call."""
        named: dict[str, Sequence[Argument]] = {
            name: (argument,) for name, argument in zip(self.parameters, given, strict=False)
        }
        return {**named, "ARGN": given[len(self.parameters) :], "ARGV": given}


def expanded(text: str, held: Callable[[str], str | None], references: re.Pattern[str] = _REFERENCE) -> str:
    """A text with what its references stand for; one stays that is not known, or for which there is no room left."""
    left = _LONGEST

    def value(match: re.Match[str]) -> str:
        nonlocal left
        made = held(match[1]) if left else None
        if made is None or len(made) > left:
            return match[0]
        left -= len(made)
        return made

    return references.sub(value, text) if "$" in text else text


def run(command: Command, bound: Bound) -> Command:
    """A command with what its variables stand for."""
    if not any(name in bound for argument in command.arguments for name in _REFERENCE.findall(argument.text)):
        return command
    arguments = (one for argument in command.arguments for one in _replaced(argument, bound))
    return replace(command, arguments=tuple(islice(arguments, _LONGEST)))


def _replaced(argument: Argument, bound: Bound) -> Sequence[Argument]:
    whole = _REFERENCE.fullmatch(argument.text)
    values = bound.get(whole[1]) if whole else None
    if values is not None and not argument.quoted:
        return values
    if values:
        text = ";".join(value.text for value in values)
        return [Argument(text, values[0].start, values[-1].end, quoted=True)]
    names = [name for name in _REFERENCE.findall(argument.text) if bound.get(name)]
    if not names:
        return [argument]
    text = expanded(argument.text, lambda name: ";".join(one.text for one in bound.get(name, ())) or None)
    first = bound[names[0]]
    return [replace(argument, text=text, start=first[0].start, end=first[-1].end, pasted=True)]


def parsed(command: Command, bound: Bound) -> dict[str, Sequence[Argument]]:
    """What cmake_parse_arguments makes of the arguments of a call."""
    words = [part for argument in command.arguments[4:] for part in _split(argument)]
    takers = [argument.text for argument in command.arguments[:4]]
    if takers[:1] == ["PARSE_ARGV"]:
        words = list(bound.get("ARGV", ()))
        takers = [argument.text for argument in command.arguments[2:6]]
    if len(takers) < 4:
        return {}
    prefix, options, ones, several = takers
    keys = {**dict.fromkeys(options.split(";"), 0), **dict.fromkeys(ones.split(";"), 1)}
    keys |= dict.fromkeys(several.split(";"), len(words))
    found: dict[str, list[Argument]] = {}
    open_, left = "", 0
    for argument in words:
        if argument.text in keys:
            open_, left = argument.text, keys[argument.text]
        elif left:
            found.setdefault(f"{prefix}_{open_}", []).append(argument)
            left -= 1
    return dict(found)


def _split(argument: Argument) -> list[Argument]:
    """What an argument is once a reference has been replaced by it: a list falls apart."""
    return [replace(argument, text=part) for part in argument.text.split(";")]


def in_flags(command: Command) -> Iterator[str]:
    """The variables that stand in a command's flags for targets."""
    return (name for argument in command.arguments for name in _IN_A_FLAG.findall(argument.text))


def items(loop: Command, body: Sequence[Command], lists: Bound) -> Sequence[Argument]:
    """The members that a loop takes one by one, where it puts them into flags; none where they are not known."""
    if len(loop.arguments) < 2:
        return ()
    variable, *words = loop.arguments
    if not any(variable.text in in_flags(one) for one in body):
        return ()
    names_lists = any(word.text == "LISTS" for word in words)
    found: list[Argument] = []
    for word in words:
        reference = _REFERENCE.fullmatch(word.text)
        name = reference[1] if reference else word.text
        if word.text in _LOOP_WORDS:
            continue
        if not (reference or names_lists):
            found.append(word)
        elif name in lists:
            found += lists[name]
        else:
            return ()
    return list(islice(found, MAX_ITEMS))


def block_end(body: Sequence[Command], place: int) -> int:
    """The place of the command that ends the block which begins at `place`, or the end of the body."""
    name = body[place].name
    depth = 0
    for at in range(place, len(body)):
        depth += (body[at].name == name) - (body[at].name == f"end{name}")
        if not depth:
            return at
    return len(body)
