"""Find where a value is chosen by chip: the check or table row that decides it."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.model.expr import Expr, Span, const
from bwlint.model.facts import Function, Module
from bwlint.world.tree import Tree

MAX_WAY = 30
"""Names that are followed from a value to what chooses it."""


class Elsewhere(Exception):
    """A value is chosen in another file, where its own gate tells of it: there, at a place where one is seen."""

    def __init__(self, module: Module, at: Span | None) -> None:
        super().__init__(module.path)
        self.module = module
        self.at = at


def chooser(tree: Tree, module: Module, node: Expr, chip: int, way: int = 0) -> Span | None:
    """The test or row of this file that decides a value on a chip (its number), if one is seen. Raises `Elsewhere`."""
    if way > MAX_WAY:
        return None

    def further(*inner: Expr) -> Span | None:
        return next((at for one in inner if (at := chooser(tree, module, one, chip, way + 1)) is not None), None)

    if node.op == "var":
        return further(module.slots[node.args[0]])
    if node.op == "if":
        test, then, otherwise = node.args
        asked = tree.value(module, test)
        taken = then if asks_yes(asked.spread()[chip]) else otherwise
        return further(taken) or (_place(test) if asked.device else None)
    if node.op == "index":
        table, key = node.args
        return _row(tree, module, table, key, chip) or further(table, key)
    if node.op == "attr":
        held = held_by_self(tree, module, node)
        return further(node.args[0] if held is None else held)
    if node.op == "or":
        return further(node.args[0][-1])
    if node.op == "comp":
        return _element(tree, module, node, chip)
    if node.op == "param":
        return further(*module.passed.get(node.args, ()))
    if node.op == "cmp":
        return node.at
    if node.op == "fstr":
        return further(*node.args[0])
    if node.op == "bin":
        return further(*node.args[1:])
    if node.op != "call":
        return None
    function, arguments = node.args
    if function.op == "attr" and function.args[1] == "get" and arguments:
        return _row(tree, module, function.args[0], arguments[0], chip)
    return _in_function(tree, module, function, chip, way) or further(function, *arguments)


def _element(tree: Tree, module: Module, node: Expr, chip: int) -> Span | None:
    """The first element of a written sequence that passes the tests of a loop on a chip."""
    kind, owner, names, iterable, tests, _ = node.args
    written = next(_definitions(module, iterable), None)
    for one in written.args[0] if written is not None and written.op in ("list", "tuple") else ():
        alone = Expr("list", ((one,),), one.at)
        passing = tree.value(module, Expr("comp", (kind, owner, names, alone, tests, const(True)), node.at))
        if passing.spread()[chip] == [True]:
            at: Span | None = one.at
            return at
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


def _in_function(tree: Tree, module: Module, function: Expr, chip: int, way: int) -> Span | None:
    """The test of a function that decides what it returns."""
    called = tree.function(module, function)
    if called is None:
        return None
    at = _way_out(tree, called.module, called.function, chip, way)
    if called.module is not module:
        raise Elsewhere(called.module, at)
    return at


def _way_out(tree: Tree, module: Module, function: Function, chip: int, way: int) -> Span | None:
    for path, value in function.returns:
        taken = [tree.value(module, test) for test in path]
        if all(asks_yes(one.spread()[chip]) for one in taken):
            deeper = chooser(tree, module, value, chip, way + 1)
            asking = [test.at for test, one in zip(path, taken, strict=True) if one.device]
            return deeper or (asking[-1] if asking else None)
    return None


def _row(tree: Tree, module: Module, table: Expr, key: Expr, chip: int) -> Span | None:
    """The key of a written table under which a chip finds its row."""
    written = next(_definitions(module, table), None)
    if written is None or written.op != "dict":
        return None
    asked = tree.value(module, key).spread()[chip]
    return next((one.at for one in written.args[0] if tree.value(module, one).only() == asked), None)


def _definitions(module: Module, node: Expr) -> Iterator[Expr]:
    """What a name of a file stands for in the end."""
    for _ in range(MAX_WAY):
        known = module.names.get(node.args[0]) if node.op == "name" else None
        if node.op == "var":
            node = module.slots[node.args[0]]
        elif known is None:
            yield node
            return
        else:
            node = known
