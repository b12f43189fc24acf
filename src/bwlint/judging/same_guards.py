"""Guards of one feature, which are opened together: equal ones, those for one macro, and the halves of one file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.judging.context import Context
from bwlint.judging.guarded_macros import defined
from bwlint.judging.guards import Guarded, guards_of
from bwlint.model.expr import walk
from bwlint.model.facts import Module

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
