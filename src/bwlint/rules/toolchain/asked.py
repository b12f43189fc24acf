"""A function's answer for each chip, under each release of CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from bwlint.chips import EVERY, NONE, Chip, ChipSet, Target
from bwlint.chips.targets import known_targets
from bwlint.chips.toolkits import releases
from bwlint.evaluate.names import guess
from bwlint.evaluate.objects import EvaluationFrame
from bwlint.model.expr import Expr, Span, is_text, walk
from bwlint.model.facts import Function, Module, Path
from bwlint.rules.toolchain.versions import Numbers, VersionTest, numbers_of, version_tests
from bwlint.world.tree import Tree

_MOST_NODES = 400
_MOST_CASES = 6
_ANSWERS = frozenset({"cmp", "and", "or", "not", "call", "var"})

Truth = tuple[ChipSet, ChipSet]
"""The chips on which something may hold, and those on which it must."""


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
