"""Open lower bounds, made to leave out the chips on which what they stand in front of does not work."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips import EVERY, Chip, ChipSet
from bwlint.fix.python.change import Candidate, Place
from bwlint.fix.python.methods import named
from bwlint.fix.python.syntax import Syntax, parse

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_DENYING = (ast.Lt, ast.LtE)
"""`x >= 10` admits, `x < 10` refuses."""


def proposals(place: Place) -> Iterator[Candidate]:
    """Every spelling of a bound with an end, the shortest first."""
    change = place.change
    syntax = parse(place.source) if change.kind == "bound" else None
    if syntax is None:
        return
    for node in syntax.within(place.span):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLIPPED:
            for text in _comparisons(syntax, node, change.chips):
                yield (syntax.edit(place.module.path, syntax.start(node), syntax.end(node), text),)


def _comparisons(syntax: Syntax, node: ast.Compare, gone: ChipSet) -> Iterator[str]:
    """`major >= 9` to `major == 9` or `major in (10, 11)`, `cap >= (10, 0)` to `(10, 0) <= cap < (12, 0)`."""
    operator, left, right = type(node.ops[0]), node.left, node.comparators[0]
    if _first(left) is not None:
        operator, left, right = _FLIPPED[operator], right, left
    first, subject, literal = _first(right), syntax.segment(left), syntax.segment(right)
    if first is None:
        return
    chip, form = first
    beyond = operator in (ast.Gt, ast.LtE)  # the literal itself is below the bound
    majors = [major for major in _majors(_from(chip) - gone) if not beyond or major > chip.major]
    denied = operator in _DENYING
    if form == "major":
        listed = ", ".join(map(str, majors))
        if len(majors) == 1:
            yield f"{subject} {'!=' if denied else '=='} {majors[0]}"
        elif len(majors) == 2:
            yield f"{subject} {'not in' if denied else 'in'} ({listed})"
    end = next(iter(gone), None)
    if end is None or not gone >= _from(end):
        return
    last = {"major": str(end.major), "pair": f"({end.major}, {end.minor})", "joined": str(end.joined)}[form]
    text = f"{literal} {'<' if beyond else '<='} {subject} < {last}"
    yield f"not ({text})" if denied else text


def _first(right: ast.expr) -> tuple[Chip, str] | None:
    """The chip that a literal names, and how: as a major, joined, or as a pair."""
    chip = named(right)
    if chip is not None:
        return chip, "pair" if isinstance(right, ast.Tuple) else "joined"
    major = right.value if isinstance(right, ast.Constant) else None
    return next(((each, "major") for each in EVERY if each.major == major), None)


def _from(first: Chip) -> ChipSet:
    return ChipSet.where(lambda chip: chip.joined >= first.joined)


def _majors(chips: ChipSet) -> list[int]:
    return sorted({chip.major for chip in chips})
