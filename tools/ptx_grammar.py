"""PTX statements drawn at random from the grammars in ptx_grammar.txt, which says how its templates are read."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TEMPLATES = Path(__file__).with_name("ptx_grammar.txt")

_CHOICE = re.compile(r"<(?:(\d)=)?([^<>]*)>")
_VECTOR = re.compile(r"\b([RHXFD])(\d+)\b")
_PREFIX = {"R": "r", "H": "h", "X": "x", "F": "f", "D": "dd"}


@cache
def templates() -> dict[str, list[str]]:
    """The templates by kind of instruction."""
    found: dict[str, list[str]] = {}
    kind = ""
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(kind, []).append(line)
    return found


@cache
def _names() -> frozenset[str]:
    """Words of instructions' names: they have their places."""
    return frozenset(word for line in templates()["names"] for word in line.split())


def statements(count: int, seed: int, tries: int = 40) -> Iterator[str]:
    """Different statements, about as many of each kind; fewer than `count` when the grammar is exhausted."""
    chance = random.Random(seed)
    kinds = [lines for kind, lines in templates().items() if kind != "names"]
    seen: set[str] = set()
    for _ in range(count):
        for _ in range(tries):
            statement = _moved(expand(chance.choice(chance.choice(kinds)), chance), chance)
            if statement not in seen:
                seen.add(statement)
                yield statement
                break


def expand(template: str, chance: random.Random) -> str:
    """One statement of a template."""
    places: dict[str, float] = {}

    def choose(found: re.Match[str]) -> str:
        label = found[1]
        alternatives: list[str] = found[2].split("|")
        if label is None:
            return chance.choice(alternatives)
        place = places.setdefault(label, chance.random())
        return alternatives[int(place * len(alternatives))]

    while _CHOICE.search(template):
        template = _CHOICE.sub(choose, template)
    return _VECTOR.sub(lambda found: _vector(found[1], int(found[2]), chance), template)


def _moved(statement: str, chance: random.Random) -> str:
    """One statement in four with a modifier in another place: ptxas takes most of them in any order."""
    head, space, operands = statement.partition(" ")
    words = head.rstrip(";").split(".")
    if chance.random() > 0.25 or len(words) < 4 or head.startswith("."):
        return statement
    first = next((place for place, word in enumerate(words) if place and word not in _names()), len(words))
    if len(words) - first < 2:
        return statement
    word = words.pop(chance.randrange(first, len(words)))
    words.insert(chance.randrange(first, len(words) + 1), word)
    return ".".join(words) + (";" if head.endswith(";") else "") + space + operands


def _vector(kind: str, width: int, chance: random.Random) -> str:
    start = chance.choice((16, 24, 32))
    return "{" + ",".join(f"{_PREFIX[kind]}{start + place}" for place in range(width)) + "}"
