"""What a function that is asked for support answers: the returns that may say yes, and for which chips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.judging.context import Context
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Function, Module

_MOST_DEEP = 3


@dataclass(frozen=True, slots=True)
class SupportAnswer:
    """A `return` of a query that may say yes: on which chips, and where it stands."""

    chips: ChipSet
    at: Span


def answers(context: Context, module: Module, query: Function, depth: int = 0) -> Iterator[SupportAnswer]:
    """The returns that may say yes, each for the chips that get to it."""
    left = EVERY
    for path, returned in query.returns:
        reasoned = returned.op == "tuple" and returned.args[0]  # `return ok, "needs SM90"`
        value = returned.args[0][0] if reasoned else returned
        may = context.tree.may(module, value) & _handed_on(context, module, value, depth)
        yes = left & may & ChipSet.common(context.tree.may(module, test) for test in path)
        last = path[-1].at if path and path[-1].at and value.at and path[-1].at[:2] < value.at[:2] else None
        if yes and value.at is not None:
            yield SupportAnswer(yes, value.at if may != EVERY or last is None else last)
        left -= ChipSet.common(context.tree.must(module, test) for test in path)


def saying_yes(context: Context, module: Module, query: Function, depth: int = 0) -> ChipSet:
    """The chips for which a function may say yes."""
    return ChipSet.union(answer.chips for answer in answers(context, module, query, depth))


def _handed_on(context: Context, module: Module, value: Expr, depth: int) -> ChipSet:
    """The chips for which a function may say yes whose answer is returned as it is."""
    if value.op != "call" or depth >= _MOST_DEEP:
        return EVERY
    called = context.tree.function(module, value.args[0])
    if called is None or not called.function.returns:
        return EVERY
    return saying_yes(context, called.module, called.function, depth + 1)
