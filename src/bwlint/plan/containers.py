"""Commands of containers, for Kubernetes and Compose: the words of their lists `command` and `args`, by indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_MOST_LINES = 4000
_MOST_ITEMS = 400
_LONGEST_LINE = 2000
_KEY = re.compile(r"(?P<indent>[ \t]*(?:- +)?)(?P<key>command|args|entrypoint)[ \t]*:[ \t]*(?P<rest>\[.*)?(?:#.*)?$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)-[ \t]+(?P<item>\S.*)$")
_SCALAR = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^\s,\[\]\"'][^,\[\]]*)")
_PLAIN = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'|(?P<plain>[^\"'|>&*!{\[].*?)")
_COMMENT = re.compile(r"\s+#.*$")
_FIRST, _LAST = ("entrypoint", "command"), "args"


@dataclass(slots=True)
class ContainerCommand:
    """What a container runs: the words of its lists, by key, and the 1-based lines that they stand in."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)

    @property
    def words(self) -> tuple[str, ...]:
        """The words in the order in which they are run, whatever the order of the keys."""
        return tuple(word for key in (*_FIRST, _LAST) for word in self.lists.get(key, ()))


def container_commands(text: str) -> Iterator[ContainerCommand]:
    """The commands of a file that are lists of words, in order. One that holds a script is none: its lines are read."""
    lines = text.split("\n")[:_MOST_LINES]
    found: dict[tuple[int, int], ContainerCommand] = {}
    scripts: set[tuple[int, int]] = set()
    above: list[int] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        while above and _indent(lines[above[-1]]) >= _indent(line):
            above.pop()
        key = _KEY.match(line[:_LONGEST_LINE])
        if key is None:
            above.append(number)
            continue
        column = len(key["indent"])
        begins = _indent(line) < column
        owner = (number if begins else above[-1] if above else -1, column)
        above.append(number)
        items, last = _flow(lines, number) if key["rest"] else _block(lines, number, column)
        if items is None:
            scripts.add(owner)
        else:
            one = found.setdefault(owner, ContainerCommand())
            one.lists.setdefault(key["key"], items)
            one.lines += range(number + 1, last + 2)
    yield from (one for owner, one in found.items() if owner not in scripts)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _flow(lines: Sequence[str], number: int) -> tuple[list[str] | None, int]:
    """`[a, "b"]`, over several lines too, and its last line."""
    text = lines[number].partition(":")[2]
    for last in range(number, min(len(lines), number + _MOST_ITEMS)):
        text += "" if last == number else f" {lines[last].strip()}"
        if text.rstrip().endswith("]"):
            inside = text.strip()[1:-1]
            return [_word(match) for match in _SCALAR.finditer(inside)][:_MOST_ITEMS], last
    return None, number


def _block(lines: Sequence[str], number: int, column: int) -> tuple[list[str] | None, int]:
    """Items below a key, each of one line, and the last of their lines; no items where one is a script."""
    items: list[str] = []
    last = number
    for at in range(number + 1, min(len(lines), number + _MOST_ITEMS)):
        line = lines[at].rstrip()
        if not line or line.lstrip().startswith("#"):
            continue
        match = _ITEM.match(line)
        if match is None or len(match["indent"]) < column:
            break
        scalar = _PLAIN.fullmatch(_COMMENT.sub("", match["item"]))
        if scalar is None:
            return None, number
        items.append(_word(scalar))
        last = at
    return items, last


def _word(scalar: re.Match[str]) -> str:
    if scalar["double"] is not None:
        return re.sub(r"\\(.)", r"\1", scalar["double"])
    return scalar["single"].replace("''", "'") if scalar["single"] is not None else scalar["plain"].strip()
