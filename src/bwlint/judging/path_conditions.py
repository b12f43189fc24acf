"""What is left of a path's tests on one chip: the conditions that do not ask for the device, and whether they agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bwlint.chips import EVERY, Chip, ChipSet
from bwlint.model.expr import Expr
from bwlint.model.facts import Module, Path
from bwlint.world.gates import operands
from bwlint.world.tree import Tree

Condition = tuple[Expr, bool]
"""A test without its places, and the outcome that is asked of it."""
Left = tuple[Condition, ...]
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_MAX_CONDITIONS = 64
_MAX_POINTS = 200


class Answers:
    """The tests of one module on each chip; a test is evaluated once."""

    def __init__(self, tree: Tree, module: Module) -> None:
        self._tree = tree
        self._module = module
        self._known: dict[Expr, tuple[ChipSet, ChipSet]] = {}
        self._paths: dict[tuple[int, Chip], Left | None] = {}
        """By the identity of a path, which the module keeps: a long one takes long to hash."""

    def left(self, path: Path, chip: Chip) -> Left | None:
        """The conditions under which a chip passes all tests; None where it never does."""
        key = (id(path), chip)
        if key not in self._paths:
            self._paths[key] = self._all(path, True, chip)
        return self._paths[key]

    def singles_out(self, path: Path, chips: ChipSet) -> bool:
        """Whether a test holds on some of `chips` alone, or on all but those."""
        sets = (self._sets(leaf) for test in path for leaf in operands(test))
        return any(found and found <= chips for may, must in sets for found in (must, EVERY - may))

    def _all(self, tests: Iterable[Expr], outcome: bool, chip: Chip) -> Left | None:
        found: list[Condition] = []
        for test in tests:
            left = self._left(test, outcome, chip)
            if left is None:
                return None
            found += left
        return tuple(found) if satisfiable(tuple(found)) else None

    def _left(self, test: Expr, outcome: bool, chip: Chip) -> Left | None:
        if test.op == "not":
            return self._left(test.args[0], not outcome, chip)
        if test.op not in ("and", "or"):
            may, must = self._sets(test)
            known = chip in must or chip not in may
            return ((bare(test), outcome),) if not known else () if (chip in must) == outcome else None
        if (test.op == "and") == outcome:
            return self._all(test.args[0], outcome, chip)
        ways = [left for item in test.args[0] if (left := self._left(item, outcome, chip)) is not None]
        if not ways or () in ways:
            return () if ways else None
        return ways[0] if len(ways) == 1 else ((bare(test), outcome),)

    def _sets(self, test: Expr) -> tuple[ChipSet, ChipSet]:
        """The chips on which a test may hold, and on which it must."""
        if test not in self._known:
            self._known[test] = (self._tree.may(self._module, test), self._tree.must(self._module, test))
        return self._known[test]


def bare(node: Expr) -> Expr:
    """A node without its places: two spellings of one test are equal."""
    return Expr(node.op, tuple(_bare(arg) for arg in node.args))


def _bare(value: object) -> object:
    if isinstance(value, Expr):
        return bare(value)
    return tuple(_bare(item) for item in value) if isinstance(value, tuple) else value


def satisfiable(conditions: Left) -> bool:
    """Whether conditions may hold together: none is asked to be true and false, and numbers leave a value."""
    if len(conditions) > _MAX_CONDITIONS:
        return False
    asked: dict[Expr, bool] = {}
    bounds: dict[Expr, list[tuple[str, object, bool]]] = defaultdict(list)
    for test, outcome in conditions:
        if asked.setdefault(test, outcome) != outcome:
            return False
        bound = _bound(test)
        if bound is not None:
            bounds[bound[0]].append((bound[1], bound[2], outcome))
    return all(_has_value(found) for found in bounds.values())


def _bound(test: Expr) -> tuple[Expr, str, object] | None:
    """`x < 64` as x, "<" and 64."""
    if test.op != "cmp" or len(test.args[1]) != 2:
        return None
    operator, (left, right) = test.args
    if left.op == "const" and operator in _FLIPPED:
        left, right, operator = right, left, _FLIPPED[operator]
    if right.op == "const" and operator in _FLIPPED:
        return left, operator, right.args[0]
    members = right.args[0] if right.op in ("tuple", "list", "set") and operator in ("in", "not in") else ()
    if members and all(item.op == "const" for item in members):
        return left, operator, tuple(item.args[0] for item in members)
    return None


def _has_value(bounds: list[tuple[str, object, bool]]) -> bool:
    points = [value for _, bound, _ in bounds for value in (bound if isinstance(bound, tuple) else (bound,))]
    if len(points) > _MAX_POINTS:
        return False
    numbers = [value + step for value in points if isinstance(value, (int, float)) for step in (-1, 0, 1)]
    others = [value for value in points if not isinstance(value, (int, float))]
    return any(all(_holds(value, *bound) for bound in bounds) for value in (*numbers, *others, object()))


def _holds(value: object, operator: str, bound: object, outcome: bool) -> bool:
    if isinstance(bound, tuple):
        return ((value in bound) == (operator == "in")) == outcome
    if operator in ("==", "!="):
        return ((value == bound) == (operator == "==")) == outcome
    if not isinstance(value, (int, float)) or not isinstance(bound, (int, float)):
        return False
    held = {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[operator]
    return held == outcome
