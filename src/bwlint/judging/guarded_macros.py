"""Macros that a guard defines, and the places that use them where the guard is false."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY_TARGET, ChipSet, TargetSet, words
from bwlint.chips.wording import plain
from bwlint.judging.context import Context
from bwlint.judging.guards import Guarded, guards_of
from bwlint.model.expr import walk
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


_COMPILERS = "__"
_DIRECTIVE = re.compile(r"#\s*(?:el)?if\s+|\\\r?\n|\s+")


def same_guards(context: Context, guarded: Guarded, held: ChipSet, lost: ChipSet) -> Iterator[tuple[Guarded, bool]]:
    """The others that part the same twins, with whether they ask the same question; elsewhere only these."""
    mine = _question(guarded, held)
    for module in (guarded.module, *_elsewhere(context, guarded, mine)):
        for other in context.guards.setdefault(module.path, guards_of(context.tree, module)):
            parts = held & other.chips and lost & other.refused and _names(other, held)
            here = module is guarded.module
            same = bool(mine & _question(other, held))
            if parts and not (here and other.guard == guarded.guard) and (here or same):
                yield other, same


def _question(guarded: Guarded, held: ChipSet) -> frozenset[str]:
    """The macros that a guard defines, those of the project that it compares, and a list in its own words."""
    test = guarded.guard.test
    numbers = {chip.joined * factor for chip in held for factor in (1, 10)}
    compared = (node.args[1] for node in walk(test) if node.op == "cmp" and len(node.args[1]) == 2)
    asked = {left.args[0] for left, right in compared if left.op == "macro" and right.args[0] in numbers}
    words = {_DIRECTIVE.sub("", guarded.guard.text)} if test.op == "or" else set()
    return defined(guarded) | {name for name in asked if not name.startswith(_COMPILERS)} | words


def _names(guarded: Guarded, chips: ChipSet) -> bool:
    """Whether the parts are told apart here, and not where a macro of the test is defined."""
    return any(str(chip.joined) in guarded.guard.text for chip in chips)


def _elsewhere(context: Context, guarded: Guarded, question: frozenset[str]) -> Iterator[Module]:
    search = context.search(guarded.module)
    listed = [guarded.guard.text] if guarded.guard.test.op == "or" else []
    names = [word for word in sorted(question) if word.isidentifier()]
    paths = dict.fromkeys(hit.file.real for word in (*listed, *names) for hit in search.word("cuda", word))
    for path in paths:
        module = context.tree.headers.at(path) if path != guarded.module.path else None
        if module is not None:
            yield module
