"""Macros that a guard defines, and what becomes of the places that ask for them where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.facts import Gate, Module, Side
from bwlint.guards import Guarded
from bwlint.judge import Context

_GIVES_UP = re.compile(r"\berror\b|abort|not supported|only supports?\b|requires?\b", re.I)


def defined(guarded: Guarded) -> frozenset[str]:
    """The macros that are all that stands behind a guard; none where there is more."""
    if not guarded.working.tuning:
        return frozenset()
    return frozenset(use.name for use in guarded.working.uses if use.how == "define")


def only_errors(context: Context, guarded: Guarded) -> str:
    """In words that whoever is refused only meets an error: beside the guard, or wherever its macro is asked for."""
    if guarded.other.ends == "raise":
        return "the sibling only meets an error"
    for name in sorted(defined(guarded)):
        sides = [*_without(name, guarded.module)] or [*_elsewhere(context, name, guarded.module)]
        if sides and all(side is not None and _gives_up(side) for side in sides):
            return f"without `{name}` the sibling only meets an error"
    return ""


def _elsewhere(context: Context, name: str, module: Module) -> Iterator[Side | None]:
    for path in context.native.naming(name, module.path) if context.native is not None else ():
        found = context.tree.headers.at(path) if path != module.path else None
        if found is not None:
            yield from _without(name, found)


def _without(name: str, module: Module) -> Iterator[Side | None]:
    """What compiles at each place that asks for a macro where it is not defined; None where more than it decides."""
    for guard in module.guards:
        if _asks(name, guard):
            test = guard.test
            negated = test.op == "not"
            asked = test.args[0] if negated else test
            plain = asked.op in ("defined", "macro") and asked.args[0] == name
            yield (guard.yes if negated else guard.no) if plain else None


def _asks(name: str, guard: Gate) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", guard.text) is not None


def _gives_up(side: Side) -> bool:
    """Whether all that a side does is to say that it cannot."""
    return side.ends == "raise" or (not side.uses and any(_GIVES_UP.search(text.text) for text in side.texts[:1]))
