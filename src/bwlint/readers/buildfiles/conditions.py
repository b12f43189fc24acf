"""Conditions of CMake's if(): three-valued, over one toolkit or over one list of architectures at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import eq, ge, gt, le, lt

from bwlint.chips.toolkits import version

Truth = bool | None
"""None: not known."""

Leaf = Callable[[Sequence[str]], Truth]
"""The truth of one test, given as its words."""

_DEEPEST = 40
_WORDS = frozenset({"AND", "OR", "NOT", "(", ")"})
_CUDA_VERSION = re.compile(r"(?:\$\{)?\w*(?:CUDA|NVCC)\w*VERSION\w*\}?", re.I)
_PART = re.compile(r"VERSION_?(MAJOR|MINOR)", re.I)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+){0,3}")
_ORDERS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]
_ORDERS = {"GREATER_EQUAL": ge, "GREATER": gt, "LESS": lt, "LESS_EQUAL": le, "EQUAL": eq}


def truth(words: Sequence[str], leaf: Leaf) -> Truth:
    """The truth of a condition whose tests `leaf` answers. Broken and absurdly deep ones are not known."""
    if words.count("(") > _DEEPEST:
        return None
    value, rest = _either(words, 0, leaf)
    return value if rest == len(words) else None


def _either(words: Sequence[str], place: int, leaf: Leaf) -> tuple[Truth, int]:
    value, place = _negated(words, place, leaf)
    values, operators = [value], []
    while place < len(words) and words[place] in ("AND", "OR"):
        operators.append(words[place])
        value, place = _negated(words, place + 1, leaf)
        values.append(value)
    return _reduced(values, operators), place


def _reduced(values: list[Truth], operators: list[str]) -> Truth:
    """CMake joins neighbours pair by pair: a AND b AND c OR d is (a AND b) AND (c OR d)."""
    while operators:
        pairs = range(0, len(values) - 1, 2)
        joined = [_joined(operators[place], values[place], values[place + 1]) for place in pairs]
        values, operators = [*joined, *values[2 * len(joined) :]], operators[1::2]
    return values[0]


def _joined(operator: str, one: Truth, other: Truth) -> Truth:
    return _both(one, other) if operator == "AND" else _not(_both(_not(one), _not(other)))


def _negated(words: Sequence[str], place: int, leaf: Leaf) -> tuple[Truth, int]:
    odd = False
    while place < len(words) and words[place] == "NOT":
        odd, place = not odd, place + 1
    if place < len(words) and words[place] == "(":
        value, place = _either(words, place + 1, leaf)
        place += 1
    else:
        start = place
        while place < len(words) and words[place] not in _WORDS:
            place += 1
        value = leaf(words[start:place])
    return (_not(value) if odd else value), place


def _both(one: Truth, other: Truth) -> Truth:
    if one is False or other is False:
        return False
    return True if one and other else None


def _not(value: Truth) -> Truth:
    return None if value is None else not value


def on_toolkit(release: str) -> Leaf:
    """Tests of the CUDA version with a number, as they come out under a release."""

    def leaf(words: Sequence[str]) -> Truth:
        if len(words) == 2 and words[0] == "DEFINED":
            return True if _CUDA_VERSION.fullmatch(words[1]) else None
        if len(words) != 3 or not _CUDA_VERSION.fullmatch(words[0]) or not _NUMBER.fullmatch(words[2]):
            return None
        return compared(words[1].removeprefix("VERSION_"), _part(release, words[0]), words[2])

    return leaf


def _part(release: str, name: str) -> str:
    """What a variable of this name holds of a release: CUDAToolkit_VERSION_MAJOR is 12 of 12.8."""
    part = _PART.search(name)
    return release if part is None else release.split(".")[part[1].upper() == "MINOR"]


def compared(test: str, one: str, other: str) -> Truth:
    """Two numbers, or versions, in an order; what is no number is in none."""
    order = _ORDERS.get(test)
    if order is None or not _NUMBER.fullmatch(other):
        return None
    return _NUMBER.fullmatch(one) is not None and order(_padded(one), _padded(other))


def _padded(text: str) -> tuple[int, ...]:
    return (*version(text), 0, 0, 0)[:4]
