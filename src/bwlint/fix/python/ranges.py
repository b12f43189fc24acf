"""Ranges over an ordered enum of architectures, made to ask for the families that they stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import Chip, chip_of_number, spelling, targets_of
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.syntax import Syntax, parse


@dataclass(frozen=True, slots=True)
class _Range:
    """`subject` between two members of `enum`, in the text from `first` to `last`."""

    subject: ast.expr
    enum: str
    low: Chip
    high: Chip
    first: ast.expr
    last: ast.expr


def ranges(place: ConditionPlace) -> Iterator[Candidate]:
    """`arch >= Arch.sm_103 and arch <= Arch.sm_103f` to `arch.is_family_of(Arch.sm_103f)`."""
    syntax = parse(place.source)
    if syntax is None:
        return
    for node in syntax.within(place.span):
        for found in _ranges_in(syntax, node):
            subject = syntax.segment(found.subject)
            asked = [f"{subject}.is_family_of({found.enum}.{name})" for name in _families(found)]
            text = " or ".join(asked)
            if len(asked) > 1 and not _stands_alone(syntax, node):
                text = f"({text})"
            yield (syntax.edit(place.module.path, syntax.start(found.first), syntax.end(found.last), text),)


def _ranges_in(syntax: Syntax, node: ast.expr) -> Iterator[_Range]:
    if isinstance(node, ast.Compare) and len(node.ops) == 2:
        low, high = _member(syntax, node.left), _member(syntax, node.comparators[1])
        if low and high and isinstance(node.ops[0], ast.LtE) and isinstance(node.ops[1], ast.LtE):
            yield from _between(node.comparators[0], low, high, node, node)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for one, other in zip(node.values, node.values[1:], strict=False):
            low, high = _bound(syntax, one, ast.GtE), _bound(syntax, other, ast.LtE)
            if low and high and _same(one, other):
                assert isinstance(one, ast.Compare)
                yield from _between(one.left, low, high, one, other)


def _between(
    subject: ast.expr, low: tuple[str, Chip], high: tuple[str, Chip], first: ast.expr, last: ast.expr
) -> Iterator[_Range]:
    if low[0] == high[0] and isinstance(subject, (ast.Name, ast.Attribute)):
        yield _Range(subject, low[0], low[1], high[1], first, last)


def _bound(syntax: Syntax, node: ast.expr, operator: type[ast.cmpop]) -> tuple[str, Chip] | None:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], operator):
        return None
    return _member(syntax, node.comparators[0])


def _same(one: ast.expr, other: ast.expr) -> bool:
    assert isinstance(one, ast.Compare) and isinstance(other, ast.Compare)
    return ast.dump(one.left) == ast.dump(other.left)


def _member(syntax: Syntax, node: ast.expr) -> tuple[str, Chip] | None:
    """The enum that a member is of, as it is written, and its chip."""
    found = spelling.member(node.attr) if isinstance(node, ast.Attribute) else None
    chip = chip_of_number(found.number) if found else None
    return (syntax.segment(node.value), chip) if chip is not None and isinstance(node, ast.Attribute) else None


def _families(found: _Range) -> list[str]:
    """The members to ask for: one for each generation from the first to the last."""
    if found.low.major == found.high.major:
        return [_target(found.low)]
    return [_target(found.low), _target(found.high)]


def _target(chip: Chip) -> str:
    """The family target of a chip, or the only one of its own that it has."""
    names = {target.suffix: target.name for target in targets_of(chip)}
    return names.get("f") or names.get("a") or names[""]


def _stands_alone(syntax: Syntax, node: ast.expr) -> bool:
    """Whether nothing that binds tighter than `or` is around the range."""
    if isinstance(node, ast.BoolOp) and len(node.values) > 2:
        return False
    around = syntax.parents[node]
    if isinstance(around, ast.BoolOp):
        return isinstance(around.op, ast.Or)
    return isinstance(around, (ast.If, ast.While, ast.Assign, ast.Return, ast.Assert, ast.keyword, ast.Call))
