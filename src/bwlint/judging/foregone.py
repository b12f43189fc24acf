"""Joined comparisons with one result for every value, such as `a != 9 or a != 12`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bwlint.evaluate.values import ArchMember, EnumMember, compare
from bwlint.judging.path_conditions import bare
from bwlint.model.expr import Expr, walk

_CONTAINER = (list, tuple, frozenset, range)
_CONSTANT = (int, float, str, *_CONTAINER, EnumMember, ArchMember)
_MOST_CONSTANTS = 40
_ANY_OTHER = "\0"


@dataclass(frozen=True, slots=True)
class Foregone:
    """A chain whose outcome is `holds` whatever its subject is; other operands of `node` decide nothing."""

    node: Expr
    subject: Expr
    holds: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read operands: as a constant (None: it is none), and as what it is on chips (empty: nobody knows)."""

    constant: Callable[[Expr], object]
    on_chips: Callable[[Expr], Sequence[object]]


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition over one subject."""

    subject: Expr
    constants: tuple[object, ...]
    holds: Callable[[object], object]


def foregone(test: Expr, reading: Reading) -> Iterator[Foregone]:
    """The chains in a test that have one outcome, inner ones instead of those around them."""
    for node in walk(test):
        if not _compares_one_thing_twice(node):
            continue
        if node.op in ("and", "or"):
            yield from _decided(node, [_part(item, reading) for item in node.args[0]], reading)
        elif node.op == "cmp" and "," in node.args[0]:
            yield from _decided(node, _links(node, reading), reading)


def _compares_one_thing_twice(node: Expr) -> bool:
    """Whether the links of comparisons in a chain share an operand: nothing is evaluated where they do not."""
    if node.op not in ("and", "or") and (node.op != "cmp" or "," not in node.args[0]):
        return False
    known: set[Expr] = set()
    for compared in walk(node):
        for pair in pairwise(compared.args[1]) if compared.op == "cmp" else ():
            operands = {bare(one) for one in pair if one.op != "const"}
            if known & operands:
                return True
            known |= operands
    return False


def _decided(node: Expr, parts: Sequence[_Condition | None], reading: Reading) -> Iterator[Foregone]:
    by_subject: dict[Expr, list[_Condition]] = defaultdict(list)
    for part in parts:
        if part is not None:
            by_subject[part.subject].append(part)
    for subject, those in by_subject.items():
        holds = node.op == "or"
        if len(those) > 1 and _have_one_outcome(those, holds, reading.on_chips(subject)):
            yield Foregone(node, subject, holds)


def _have_one_outcome(parts: Sequence[_Condition], holds: bool, on_chips: Sequence[object]) -> bool:
    points = _points([each for part in parts for each in part.constants], on_chips)
    outcomes = [[part.holds(point) for point in points] for part in parts]
    if not points or any(not isinstance(one, bool) for row in outcomes for one in row):
        return False
    if any(len(set(row)) == 1 for row in outcomes):
        return False  # one of them needs no other: `major >= 0`
    return all((holds in column) if holds else (False in column) for column in zip(*outcomes, strict=True))


def _part(node: Expr, reading: Reading) -> _Condition | None:
    if node.op == "cmp":
        links = _links(node, reading)
        return _joined(links, all) if len(links) > 1 else next(iter(links), None)
    if node.op == "not":
        inner = _part(node.args[0], reading)
        return inner and _Condition(inner.subject, inner.constants, lambda value: _opposite(inner.holds(value)))
    if node.op in ("and", "or"):
        return _joined([_part(item, reading) for item in node.args[0]], all if node.op == "and" else any)
    return None


def _joined(parts: Sequence[_Condition | None], join: Callable[[list[object]], bool]) -> _Condition | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts) or len({part.subject for part in known}) > 1:
        return None
    constants = tuple(each for part in known for each in part.constants)

    def holds(value: object) -> object:
        outcomes = [part.holds(value) for part in known]
        return join(outcomes) if all(isinstance(one, bool) for one in outcomes) else None

    return _Condition(known[0].subject, constants, holds)


def _links(node: Expr, reading: Reading) -> list[_Condition | None]:
    """A comparison, link by link: each of one operand with a constant."""
    return [_link(op, *pair, reading) for op, pair in zip(node.args[0].split(","), pairwise(node.args[1]), strict=True)]


def _link(op: str, left: Expr, right: Expr, reading: Reading) -> _Condition | None:
    mine, other = reading.constant(left), reading.constant(right)
    if (mine is None) == (other is None):
        return None
    among = op in ("in", "not in")
    if among and not isinstance(other, _CONTAINER):
        return None
    if other is None:
        return _Condition(bare(right), (mine,), lambda value: _compared(op, mine, value))
    constants = tuple(other) if among and isinstance(other, _CONTAINER) and len(other) <= _MOST_CONSTANTS else (other,)
    return _Condition(bare(left), constants, lambda value: _compared(op, value, other))


def _compared(op: str, left: object, right: object) -> object:
    try:
        return compare(op, left, right)
    except TypeError:
        return None


def _opposite(outcome: object) -> object:
    return not outcome if isinstance(outcome, bool) else None


def _points(constants: Sequence[object], on_chips: Sequence[object]) -> list[object]:
    """Values of one kind around the constants, with those that chips have; none where they are not of one kind."""
    if len(constants) > _MOST_CONSTANTS:
        return []
    if all(_is_number(one) for one in constants):
        measured = [one for one in on_chips if _is_number(one)]
        steps = (-1, 0, 1) if measured else (-1, -0.5, 0, 0.5, 1)
        return [*measured, *(one + step for one in constants for step in steps)]  # type: ignore[operator]
    if all(_is_pair(one) for one in constants):
        near = (point for major, minor in constants for point in _around(major, minor))  # type: ignore[misc,has-type]
        return [*(one for one in on_chips if _is_pair(one)), *near]
    if all(isinstance(one, str) for one in constants):
        return [*constants, _ANY_OTHER]
    same = len({type(one) for one in constants}) == 1 and isinstance(constants[0], EnumMember)
    return [*constants, EnumMember("", _ANY_OTHER, None)] if same else []


def _around(major: int, minor: int) -> Iterator[tuple[int, int]]:
    yield from ((major, minor), (major, minor - 1), (major, minor + 1), (major - 1, 9), (major + 1, 0))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(type(one) is int for one in value)


def is_constant(value: object) -> bool:
    """Whether a value of the interpreter may stand for itself in a comparison."""
    return isinstance(value, _CONSTANT) and not isinstance(value, bool)
