"""Tests of the CUDA version inside expressions: what they ask for, and what comes of them under one release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne

from bwlint.chips.toolkits import version
from bwlint.model.expr import Expr, walk

Numbers = tuple[int, ...]
"""Those of a release: (12, 8)."""

_ORDERS: dict[str, Callable[[Numbers, Numbers], bool]]
_ORDERS = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}
_TOOLKIT = re.compile(
    r"(?i)(?=.*(?:cuda|nvcc|bare_?metal))(?=.*(?:version|toolkit|nvcc|bare_?metal|cuda_?ver|cuda_?major))"
)
_CUDA = re.compile(r"(?i)cuda|nvcc|toolkit")
_OTHER = re.compile(r"(?i)driver|capab|device|propert|hip|rocm|runtime_?get")
_ASKS_LEAST = re.compile(r"(?i)at_?least|_geq?$|(?:min|newer|since)\w*version|version\w*(?:_ge|min|newer)")
_MADE = re.compile(r"(?i)version$|^parse$|^tuple$")
_TEXT = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,2}){0,2}")
_MOST = 40
"""Nodes of a side that are looked at: longer ones are no version."""


@dataclass(frozen=True, slots=True)
class VersionTest:
    """A comparison with the CUDA version; `part` is the place of the number that is compared, None for all of it."""

    operator: str
    asked: Expr
    stands_left: bool
    part: int | None = None

    def holds(self, release: str, numbers: Numbers) -> bool:
        """Whether it holds under a release where these numbers are what it asks for."""
        mine = version(release)
        mine = mine[: len(numbers)] if self.part is None else mine[self.part : self.part + 1]
        one, other = (mine, numbers) if self.stands_left else (numbers, mine)
        return _ORDERS[self.operator](one, other)


def version_tests(node: Expr, slots: Sequence[Expr]) -> tuple[VersionTest, ...]:
    """The comparisons with the CUDA version that make up an expression, all of which have to hold; else ()."""
    if node.op == "call":
        return tuple(_called(node, slots))
    if node.op != "cmp":
        return ()
    operators, pairs = node.args[0].split(","), list(pairwise(node.args[1]))
    found = [_compared(one, pair, slots) for one, pair in zip(operators, pairs, strict=True)]
    return tuple(one for one in found if one) if all(found) else ()


def _called(node: Expr, slots: Sequence[Expr]) -> Iterator[VersionTest]:
    """`is_cuda_version_at_least("12.9")`, `version_at_least(torch.version.cuda, "12.9")`."""
    function, arguments = node.args
    name = "".join(_words(function, slots)[-1:])
    if not _ASKS_LEAST.search(name) or not 0 < len(arguments) <= 2:
        return
    of_cuda = (
        _CUDA.search(name) and not _OTHER.search(name) if len(arguments) == 1 else _is_toolkit(arguments[0], slots)
    )
    if of_cuda:
        yield VersionTest(">=", arguments[-1], True)


def _compared(operator: str, sides: tuple[Expr, Expr], slots: Sequence[Expr]) -> VersionTest | None:
    if operator not in _ORDERS:
        return None
    for side, other, left in ((sides[0], sides[1], True), (sides[1], sides[0], False)):
        if _is_toolkit(side, slots) and not _is_toolkit(other, slots):
            return VersionTest(operator, other, left, _part(side, slots))
    return None


def numbers_of(node: Expr, slots: Sequence[Expr]) -> Numbers | None:
    """The numbers of "12.9", 12.9, (12, 9), 12090, Version("12.9") or of the name of one."""
    for _ in range(_MOST):
        if node.op == "var":
            node = slots[node.args[0]]
        elif node.op == "call" and node.args[1] and _MADE.search("".join(_words(node.args[0], slots)[-1:])):
            node = node.args[1][0]
        else:
            break
    if node.op in ("tuple", "list"):
        members = [one.args[0] for one in node.args[0] if one.op == "const"]
        whole = len(members) == len(node.args[0]) and all(type(one) is int for one in members)
        return tuple(members)[:2] if whole and members else None
    return _written(node.args[0]) if node.op == "const" else None


def _written(value: object) -> Numbers | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        value = str(value)
    if isinstance(value, int):
        if value >= 1000:
            return (value // 1000, value % 1000 // 10)
        return (value // 10, value % 10) if value >= 100 else (value,)
    if isinstance(value, str) and _TEXT.fullmatch(value):
        return version(value)[:2]
    return None


def _is_toolkit(node: Expr, slots: Sequence[Expr]) -> bool:
    words = " ".join(_words(node, slots))
    return _TOOLKIT.match(words) is not None and _OTHER.search(words) is None


def _part(node: Expr, slots: Sequence[Expr]) -> int | None:
    """0 of `.major` and of `.split(".")[0]`, 1 of `.minor`."""
    for _ in range(_MOST):
        if node.op == "attr":
            return {"major": 0, "minor": 1}.get(node.args[1])
        if node.op == "index":
            key = node.args[1]
            return key.args[0] if key.op == "const" and key.args[0] in (0, 1) else None
        if node.op == "var":
            node = slots[node.args[0]]
        elif node.op == "if":
            node = node.args[1]
        elif node.op == "call" and len(node.args[1]) == 1 and node.args[0].op == "name":
            node = node.args[1][0]
        else:
            return None
    return None


def _words(node: Expr, slots: Sequence[Expr]) -> list[str]:
    """The names in an expression, those of its definitions too."""
    found: list[str] = []
    waiting, known = [node], set[int]()
    while waiting and len(found) < _MOST:
        for one in walk(waiting.pop()):
            if one.op == "var":
                found.append(one.args[1])
                if one.args[0] not in known:
                    known.add(one.args[0])
                    waiting.append(slots[one.args[0]])
            elif one.op in ("name", "function", "attr", "param", "import"):
                found += [part for part in one.args if isinstance(part, str)][-2:]
    return found
