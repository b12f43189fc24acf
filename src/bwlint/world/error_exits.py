"""On which chips a C++ function ends in an error, whatever else is not known."""

from __future__ import annotations

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.model.expr import Span
from bwlint.model.facts import Function, Module
from bwlint.world.tree import Tree


def refused(tree: Tree, module: Module, function: Function) -> tuple[ChipSet, Span | None]:
    """The chips that surely meet an error, and where the last of those errors stands.

    A chip that may return before an error is not refused by it.
    """
    left, out, place = EVERY, NONE, None
    for path, ends, at in function.exits:
        here = left
        for test in path:
            here &= tree.must(module, test) if ends == "raise" else tree.may(module, test)
            if not here:
                break
        left -= here
        if ends == "raise" and here:
            out |= here
            place = at
    return out, place
