"""A function's answer for each chip, under each release of CUDA: tests of the version in its expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne

from bwlint.chips import EVERY, NONE, Chip, ChipSet, Target
from bwlint.chips.targets import known_targets
from bwlint.chips.toolkits import releases, version
from bwlint.evaluate.names import guess
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.model.expr import Expr, Span, is_text, walk
from bwlint.model.facts import Function, Module, Path
from bwlint.world.tree import Tree

_MOST_NODES = 400
_MOST_CASES = 6
_ANSWERS = frozenset({"cmp", "and", "or", "not", "call", "var"})

Truth = tuple[ChipSet, ChipSet]
"""The chips on which something may hold, and those on which it must."""
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
class _WayOut:
    """A way out of a function, and the chips that may take it."""

    value: Expr
    chips: ChipSet


@dataclass(eq=False)
class AskedFunction:
    """A function that asks for the CUDA version."""

    tree: Tree
    module: Module
    function: Function
    _tests: dict[int, tuple[Expr, tuple[VersionTest, ...]]] = field(default_factory=dict)

    @cached_property
    def _frame(self) -> EvaluationFrame:
        """Where a parameter that is called like a capability is one, whatever the callers of the file hand to it."""
        name = self.function.qualname
        bound = {(name, one): value for one in self.function.params if (value := guess(one)) is not None}
        return EvaluationFrame(self.module, bound)

    @cached_property
    def asks(self) -> bool:
        return any(self._mentions(part) for part in (*self._paths(), *self._values()))

    @cached_property
    def passing(self) -> dict[str, ChipSet]:
        """The chips that are not surely refused, by release, ascending."""
        return {release: self._passing(release) for release in releases()}

    def floor(self, chip: Chip) -> str | None:
        """The release from which on a chip is taken that is surely refused under all before it; None: no such."""
        taken = [release for release, chips in self.passing.items() if chip in chips]
        return taken[0] if taken and taken == list(releases())[-len(taken) :] else None

    def target(self, chip: Chip, release: str) -> Target | None:
        """The target that the function names for a chip under a release, where just one can be meant."""
        ways = [way for way in self._ways(release) if chip in way.chips and way.value.op != "raise"]
        names = {name for way in ways for name in _named(way.value, chip)} if len(ways) == 1 else ()
        found = list(known_targets(names))
        return found[0] if len(found) == 1 else None

    def decides(self, chip: Chip, before: str, release: str) -> Span | None:
        """Where the version stands that tells two releases apart for a chip."""
        for part in (*self._paths(), *self._values()):
            for node in self._within(part):
                for test in self.tests(node):
                    for chips, asked, numbers in self._picked(test.asked, EVERY, 0):
                        apart = numbers and test.holds(before, numbers) != test.holds(release, numbers)
                        if chip in chips and apart:
                            return asked.at if asked is not test.asked else node.at
        return None

    def _paths(self) -> Iterator[Expr]:
        return (test for path, _ in self.function.returns for test in path)

    def _values(self) -> Iterator[Expr]:
        return (value for _, value in self.function.returns)

    def _passing(self, release: str) -> ChipSet:
        found = EVERY
        for way in self._ways(release):
            if way.value.op == "nothing":
                return found | way.chips
            found = (NONE if found is EVERY else found) | (way.chips & self._taken(way.value, release))
        return found

    def _ways(self, release: str) -> Iterator[_WayOut]:
        left = EVERY
        for path, value in self.function.returns:
            may, must = self._path(path, release)
            yield _WayOut(value, left & may)
            left -= must
        yield _WayOut(Expr("nothing", ()), left)

    def _path(self, path: Path, release: str) -> Truth:
        may, must = EVERY, EVERY
        for test in path:
            some, sure = self.truth(test, release)
            may, must = may & some, must & sure
        return may, must

    def _taken(self, value: Expr, release: str) -> ChipSet:
        """The chips that a way out may say yes to."""
        if value.op == "raise":
            return NONE
        if value.op == "const":
            return NONE if value.args[0] is False else EVERY
        return self.truth(value, release)[0] if value.op in _ANSWERS else EVERY

    def truth(self, test: Expr, release: str) -> Truth:
        if test.op == "not":
            may, must = self.truth(test.args[0], release)
            return EVERY - must, EVERY - may
        if test.op in ("and", "or"):
            parts = [self.truth(one, release) for one in test.args[0]]
            join = ChipSet.__and__ if test.op == "and" else ChipSet.__or__
            may, must = parts[0]
            for some, sure in parts[1:]:
                may, must = join(may, some), join(must, sure)
            return may, must
        if tests := self.tests(test):
            may, must = EVERY, EVERY
            for one in tests:
                some, sure = self._asked_version(one, release)
                may, must = may & some, must & sure
            return may, must
        if test.op == "var" and self._mentions(test):
            return self.truth(self.module.slots[test.args[0]], release)
        return self._may(test), self._must(test)

    def _may(self, test: Expr) -> ChipSet:
        return self.tree.may(self.module, test, self._frame)

    def _must(self, test: Expr) -> ChipSet:
        return self.tree.must(self.module, test, self._frame)

    def tests(self, node: Expr) -> tuple[VersionTest, ...]:
        if node.op not in ("call", "cmp"):
            return ()
        known = self._tests.get(id(node))
        if known is None:
            known = self._tests[id(node)] = (node, version_tests(node, self.module.slots))
        return known[1]

    def _within(self, part: Expr) -> Iterator[Expr]:
        """The nodes of an expression, and of what it is a name for."""
        waiting, seen = [part], 0
        while waiting and seen < _MOST_NODES:
            for node in walk(waiting.pop()):
                seen += 1
                yield node
                if node.op == "var" and seen < _MOST_NODES:
                    waiting.append(self.module.slots[node.args[0]])

    def _mentions(self, part: Expr) -> bool:
        return any(self.tests(node) for node in self._within(part))

    def _asked_version(self, test: VersionTest, release: str) -> Truth:
        may, denied = NONE, NONE
        for chips, _, numbers in self._picked(test.asked, EVERY, 0):
            answer = None if numbers is None else test.holds(release, numbers)
            may |= NONE if answer is False else chips
            denied |= NONE if answer is True else chips
        return may, EVERY - denied

    def _picked(self, node: Expr, chips: ChipSet, depth: int) -> Iterator[tuple[ChipSet, Expr, Numbers | None]]:
        """The versions that an expression may be, each with the chips that may pick it."""
        found = node
        for _ in range(_MOST_CASES):
            if found.op == "var":
                found = self.module.slots[found.args[0]]
            elif found.op == "call" and len(found.args[1]) == 1:
                found = found.args[1][0]
            else:
                break
        if found.op != "if" or depth > _MOST_CASES:
            yield chips, node, numbers_of(node, self.module.slots)
            return
        test, then, otherwise = found.args
        yield from self._picked(then, chips & self._may(test), depth + 1)
        yield from self._picked(otherwise, chips - self._must(test), depth + 1)


def _named(value: Expr, chip: Chip) -> Iterator[str]:
    """The target that a major and a part name together: (major, "0f"). Whole names are told where they stand."""
    if value.op == "tuple" and len(value.args[0]) == 2:
        major, minor = value.args[0]
        first = major.args[0] if major.op == "const" else chip.major
        if is_text(minor):
            yield f"{first}.{minor.args[0]}"


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
