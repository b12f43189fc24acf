"""Where a line of YAML stands, by indentation alone: the keys that lead to it, and those beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_KEY = re.compile(r"(?P<indent>[ \t]*(?P<dash>- +)?)(?P<key>[\w.-]+)[ \t]*:")
_MOST_LINES = 400
_INDENT = re.compile(r"[ \t]*(?=[^\s#])")
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class YamlPlace:
    """The keys that lead to a line of YAML, outermost first, and the lines of the mapping that it is one of."""

    keys: tuple[str, ...]
    beside: tuple[str, ...]


def yaml_place(lines: Sequence[str], number: int) -> YamlPlace:
    """Where a line of YAML stands, by indentation alone."""
    own = _KEY.match(lines[number])
    if own is None:
        return YamlPlace((), ())
    keys, indent, first = [own["key"]], len(own["indent"]), own["dash"] is not None
    beside = [*_below(lines[number + 1 : number + _MOST_LINES], indent)]
    for line in reversed(lines[max(0, number - _MOST_LINES) : number]):
        above = _KEY.match(line)
        if above is None or len(above["indent"]) > indent:
            continue
        if len(above["indent"]) < indent:
            keys.append(above["key"])
            indent, first = len(above["indent"]), True
        elif not first:
            beside.append(line)
            first = above["dash"] is not None
    return YamlPlace(tuple(reversed(keys)), tuple(beside))


def _below(lines: Sequence[str], indent: int) -> list[str]:
    """The keys behind one of the same mapping."""
    found: list[str] = []
    for line in lines:
        match = _KEY.match(line)
        if match is None:
            continue
        if len(match["indent"]) < indent or match["dash"]:
            return found
        if len(match["indent"]) == indent:
            found.append(line)
    return found


def job_lines(lines: Sequence[str]) -> Iterator[range]:
    """The lines of each job of a workflow: those below each key of `jobs`."""
    indents = [len(found[0]) if (found := _INDENT.match(line)) else None for line in lines]
    outer = next((number for number, line in enumerate(lines) if line.startswith("jobs:")), len(lines))
    begun: list[int] = []
    depth = 0
    for number in range(outer + 1, len(lines)):
        indent = indents[number]
        if indent == 0:
            break
        depth = depth or indent or 0
        if indent is not None and indent <= depth:
            begun.append(number)
    else:
        number = len(lines)
    yield from (range(first, last) for first, last in pairwise([*begun, number]))


def job_text(lines: Sequence[str], job: range) -> str:
    """What a job says, without its comments."""
    return "".join(lines[number][:_LONGEST_LINE] for number in job if not lines[number].lstrip().startswith("#"))
