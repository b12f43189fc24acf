"""Find where a value is chosen by chip: the check that decides it."""

from __future__ import annotations

from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Module
from bwlint.world.tree import Tree

MAX_WAY = 30
"""Names that are followed from a value to what chooses it."""


def chooser(tree: Tree, module: Module, node: Expr, chip: int, way: int = 0) -> Span | None:
    """The test of this file that decides a value on a chip (its number), if one is seen."""
    if way > MAX_WAY:
        return None

    def further(*inner: Expr) -> Span | None:
        return next((at for one in inner if (at := chooser(tree, module, one, chip, way + 1)) is not None), None)

    if node.op == "if":
        test, then, otherwise = node.args
        asked = tree.value(module, test)
        taken = then if asks_yes(asked.spread()[chip]) else otherwise
        return further(taken) or (_place(test) if asked.device else None)
    if node.op == "attr":
        held = held_by_self(tree, module, node)
        return further(node.args[0] if held is None else held)
    if node.op == "param":
        return further(*module.passed.get(node.args, ()))
    return None


def _place(test: Expr) -> Span | None:
    """Where a test stands; of several that were put together, the first."""
    return test.at or next((one.at for one in test.args[0] if one.at is not None), None)


def asks_yes(lane: object) -> bool:
    """Whether a test holds; of one that is not known, its first arm is looked at."""
    return lane is not False


def held_by_self(tree: Tree, module: Module, node: Expr) -> Expr | None:
    """What the methods of a class give to `self.name`."""
    owner, name = node.args
    of_class = tree.owner_class(module, owner.args[0]) if owner.op == "param" and owner.args[1] == "self" else None
    held = of_class.names.get(name) if of_class is not None else None
    return held if held is None or held.op != "function" else None
