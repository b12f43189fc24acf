"""Macros that a guard defines, and what becomes of the places that ask for them where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY_TARGET, TargetSet, words
from bwlint.chips.wording import plain
from bwlint.judging.context import Context
from bwlint.judging.guards import Guarded
from bwlint.model.facts import Gate, Module

_ON = ("", 1, True)
_WAY_ROUND = re.compile(words.said("workaround", "workaround-in-names", "tuning"), re.I)


def defined(guarded: Guarded) -> frozenset[str]:
    """The macros that are all that stands behind a guard; none where there is more."""
    if not guarded.working.tuning:
        return frozenset()
    return frozenset(use.name for use in guarded.working.uses if use.how == "define")


def tuned(guarded: Guarded) -> str:
    """A macro that a guard defines and that is no switch but a value, or is named as the way round a fault."""
    for name in sorted(defined(guarded)):
        macro = guarded.module.functions.get(name)
        values = [body for _, body in macro.returns if guarded.working.holds(body.at)] if macro else []
        if _WAY_ROUND.search(name) or any(body.op == "const" and body.args[0] not in _ON for body in values):
            return name
    return ""


def served_elsewhere(context: Context, guarded: Guarded, lost: TargetSet) -> str:
    """In words that all that the macro of a guard switches on is switched on for `lost` by other guards of the tree."""
    for name in sorted(defined(guarded)):
        served = [
            _served(context, module, guard, lost)
            for module in (guarded.module, *_naming(context, name, guarded.module))
            for guard in module.guards
            if re.search(rf"\b{re.escape(name)}\b", guard.text) and guard is not guarded.guard
        ]
        if served and all(served):
            return f"`{served[0]}`, which it switches on, is defined for {plain(lost.chips)} by another guard"
    return ""


def _served(context: Context, module: Module, guard: Gate, lost: TargetSet) -> str:
    """The first macro that stands alone behind a guard, where all of them are defined for `lost`, and not for all."""
    names = [use.name for use in guard.yes.uses if use.how == "define"] if guard.yes.tuning else []
    if guard.test.op != "defined" or not names:
        return ""
    targets = [context.tree.defined_for(module, name) for name in names]
    return names[0] if all(lost <= one and one != EVERY_TARGET for one in targets) else ""


def _naming(context: Context, name: str, module: Module) -> Iterator[Module]:
    """The other files of the project that name a macro."""
    return (other for other in context.native.naming(name, module.path) if other.path != module.path)
