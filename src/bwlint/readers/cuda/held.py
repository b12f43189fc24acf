"""What local C++ names hold: lambdas, objects whose calls can be followed, and numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from bwlint.readers.cuda.instances import Given, given
from bwlint.readers.cuda.lexer import matching

MAX_LAMBDA = 20_000
FARTHEST = 20_000
_LONGEST_OWNER = 300
_NAMED_LAMBDA = re.compile(r"\bauto\s*&{0,2}\s*(?P<name>[A-Za-z_]\w*)\s*=\s*\[[^\[\]{};]{0,200}\][^\[\]{};=]{0,400}\{")
_OBJECT = re.compile(
    r"(?<![\w.:>])(?P<type>[A-Za-z_](?:\w|::)*)(?:<[^<>;{}()]{0,200}>)?[\s&*]+(?P<name>[A-Za-z_]\w*)\s*(?=[;({=,)])"
)
_MADE = re.compile(
    r"\s*=\s*(?:new\s+|(?:std::)?make_(?:unique|shared)\s*<\s*)?(?P<type>[A-Za-z_](?:\w|::)*)\s*(?=[<>({])"
)
_NUMBERS = r"(?:int|unsigned|long|short|bool|float|double|size_t|u?int(?:8|16|32|64)_t)"
_NUMBER = re.compile(rf"\b{_NUMBERS}\s+(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*=(?!=)")
_NUMBER_TYPE = re.compile(_NUMBERS)
_ELEMENT = re.compile(r"\bget\s*<\s*\d+\s*>\s*\(\s*$")
_TEMPORARY = re.compile(r"(?P<type>[A-Za-z_](?:\w|::)*)(?:<[^<>;{}()]{0,200}>)?\s*(?:\{\s*\}|\(\s*\))\s*\.\s*$")
_NO_TYPES = frozenset(
    {"return", "auto", "new", "delete", "throw", "else", "const", "case", "goto", "using", "typename"}
)


CALL = "operator()"


@dataclass(frozen=True, slots=True)
class _HeldObject:
    """Where an object is declared, the name of its class, and the offset behind that; `sure`: it is no function."""

    at: int
    type: str
    end: int
    sure: bool


@dataclass(frozen=True, slots=True)
class Held:
    """The names of one text. A lambda is kept with the offsets of its braces."""

    text: str
    lambdas: Mapping[str, tuple[tuple[int, int], ...]]
    objects: Mapping[str, tuple[_HeldObject, ...]]
    numbers: frozenset[str]
    """Names that are declared as numbers, and as nothing else."""

    def is_number(self, name: str, at: int) -> bool:
        """Whether a name is that of a number, or at a place that of a tuple of which one element is taken."""
        return name in self.numbers or _ELEMENT.search(self.text, max(0, at - 40), at) is not None

    def body(self, name: str, at: int) -> tuple[int, int] | None:
        """What stands between the braces of the lambda that a name is at a place; None where it is none."""
        above = [one for one in self.lambdas.get(name, ()) if one[1] < at and at - one[0] < FARTHEST]
        return above[-1] if above else None

    def owner(self, start: int) -> tuple[str, Given] | None:
        """The class, and the arguments of its template, of the object whose member begins at an offset."""
        if not self.text.endswith((".", "->"), 0, start):
            return None
        begin = max(0, start - _LONGEST_OWNER)
        before = self.text[begin : start - (1 if self.text[start - 1] == "." else 2)].rstrip()
        fresh = _TEMPORARY.search(self.text, begin, start) if before.endswith((")", "}")) else None
        if fresh is not None:
            return fresh["type"], given(self.text, fresh.end("type"))[0]
        return self._type_of(before[_name_start(before) :], start)

    def called(self, name: str, start: int) -> tuple[str, Given] | None:
        """The class, and the arguments of its template, of the object that is called at an offset: `op(args)`."""
        is_call = self.text.startswith("(", start + len(name)) and not self.text.endswith((".", "->"), 0, start)
        return self._type_of(name, start, sure=True) if is_call else None

    def _type_of(self, name: str, start: int, *, sure: bool = False) -> tuple[str, Given] | None:
        known = self.objects.get(name, ())
        known = tuple(one for one in known if one.sure) if sure else known
        place = bisect_right(known, start, key=lambda one: one.at) - 1
        if place < 0 or start - known[place].at > FARTHEST:
            return None
        return known[place].type, given(self.text, known[place].end)[0]


def _name_start(text: str) -> int:
    """Where the word begins that a text ends with."""
    at = len(text)
    while at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


@lru_cache(maxsize=4)
def held(text: str) -> Held:
    """The lambdas and the objects of a blanked text without directives."""
    lambdas: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for found in _NAMED_LAMBDA.finditer(text):
        close = matching(text, found.end() - 1, MAX_LAMBDA)
        if close >= 0:
            lambdas[found["name"]].append((found.end(), close))
    objects: dict[str, list[_HeldObject]] = defaultdict(list)
    for found in _OBJECT.finditer(text):
        made = _MADE.match(text, found.end("name")) if found["type"] == "auto" else None
        kind = made or found
        if kind["type"] not in _NO_TYPES:
            declared = text.startswith((";", "{", "="), found.end())
            objects[found["name"]].append(_HeldObject(found.start(), kind["type"], kind.end("type"), declared))
    numbers = frozenset(found["name"] for found in _NUMBER.finditer(text))
    counted = (name for name in numbers if all(_NUMBER_TYPE.fullmatch(one.type) for one in objects.get(name, ())))
    return Held(
        text,
        {name: tuple(found) for name, found in lambdas.items()},
        {name: tuple(found) for name, found in objects.items()},
        frozenset(counted),
    )
