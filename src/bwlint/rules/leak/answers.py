"""What a function that is asked for support answers: the returns that may say yes, and for which chips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.judging.context import Context
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Function, Module


@dataclass(frozen=True, slots=True)
class SupportAnswer:
    """A `return` of a query that may say yes: on which chips, and where it stands."""

    chips: ChipSet
    at: Span


def answers(context: Context, module: Module, query: Function) -> Iterator[SupportAnswer]:
    """The returns that may say yes, each for the chips that get to it."""
    left = EVERY
    for path, returned in query.returns:
        value = _answer(returned)
        here = left
        for test in path:
            here &= context.tree.may(module, test)
        must = left
        for test in path:
            must &= context.tree.must(module, test)
        yes = here & context.tree.may(module, value)
        last = path[-1].at if path and path[-1].at and value.at and path[-1].at[:2] < value.at[:2] else None
        if yes and value.at is not None:
            own = context.tree.may(module, value) != EVERY
            yield SupportAnswer(yes, value.at if own or last is None else last)
        left -= must


def _answer(value: Expr) -> Expr:
    """Of an answer with its reasons, `return ok, "needs SM90"`, the answer."""
    return value.args[0][0] if value.op == "tuple" and value.args[0] else value
