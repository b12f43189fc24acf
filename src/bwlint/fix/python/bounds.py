"""Open lower bounds, made to end below the generation that what is behind them lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet, chip_of_number
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse

_MOST_MAJORS = 2
_MAJORS = frozenset(chip.major for chip in EVERY)
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True, slots=True)
class _Bound:
    """`subject` compared with `value`; a lower bound is `>=` or `>`, its opposite refuses what is below."""

    subject: str
    value: ast.expr
    operator: type[ast.cmpop]

    @property
    def lower(self) -> bool:
        return self.operator in (ast.GtE, ast.Gt)

    @property
    def within(self) -> bool:
        """Whether the value itself is on the side above."""
        return self.operator in (ast.GtE, ast.Lt)


def proposals(place: ConditionPlace) -> Iterator[Candidate]:
    """`major >= 10` to `major in (10, 11)`, `sm >= 100` to `100 <= sm < 120`, and what refuses the rest likewise."""
    syntax = parse(place.source) if place.change.kind == "bound" else None
    if syntax is None:
        return
    for node in syntax.within(place.span):
        for text in _compared(place, syntax, node) if isinstance(node, ast.Compare) else ():
            yield (syntax.edit(place.module.path, syntax.start(node), syntax.end(node), text),)


def _compared(place: ConditionPlace, syntax: Syntax, node: ast.Compare) -> Iterator[str]:
    bound = _bound(syntax, node)
    if bound is None:
        return
    if isinstance(bound.value, ast.Constant) and bound.value.value in _MAJORS:
        # a `not` around it, or one that the bound itself stands for, turns the set round
        for kept in (place.change.wanted, ~place.change.wanted):
            yield from _listed(bound, sorted({chip.major for chip in kept}))
    end = _first_out(bound.value, place.change.chips)
    if end:
        sign = "<=" if bound.within else "<"
        inside = f"{syntax.segment(bound.value)} {sign} {bound.subject} < {end}"
        yield inside if bound.lower else f"not ({inside})"


def _listed(bound: _Bound, majors: list[int]) -> Iterator[str]:
    if len(majors) == 1:
        yield f"{bound.subject} {'==' if bound.lower else '!='} {majors[0]}"
    elif len(majors) <= _MOST_MAJORS:
        yield f"{bound.subject} {'in' if bound.lower else 'not in'} ({', '.join(map(str, majors))})"


def _bound(syntax: Syntax, node: ast.Compare) -> _Bound | None:
    if len(node.ops) != 1 or type(node.ops[0]) not in _FLIPPED:
        return None
    left, right = node.left, node.comparators[0]
    if _is_literal(right):
        return _Bound(syntax.segment(left), right, type(node.ops[0]))
    if _is_literal(left):
        return _Bound(syntax.segment(right), left, _FLIPPED[type(node.ops[0])])
    return None


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_literal, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) is int


def _first_out(value: ast.expr, chips: ChipSet) -> str:
    """The first of `chips` as `value` spells one: a major, joined digits, a tuple."""
    first = min(chips, key=lambda chip: chip.joined)
    if isinstance(value, ast.Tuple):
        return f"({first.major}, {first.minor})" if len(value.elts) > 1 else f"({first.major},)"
    if not isinstance(value, ast.Constant) or not isinstance(value.value, int):
        return ""
    if value.value in _MAJORS:
        return str(first.major)
    return str(first.joined) if chip_of_number(value.value) is not None else ""
