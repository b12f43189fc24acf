"""What loops and functions of CMake put into the commands of their bodies; arguments keep their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bwlint.readers.buildfiles.cmake_syntax import Argument, Command

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
