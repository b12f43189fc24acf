"""What the compiler emits for device code on a chip: nothing, behind a false guard or for a missing instruction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import takewhile

from bwlint.chips import EVERY, EVERY_TARGET, ChipSet, TargetSet, siblings
from bwlint.chips.atoms import atom
from bwlint.chips.instructions import parse, verdict
from bwlint.chips.wording import plain
from bwlint.evaluate.names import compiles_by_default
from bwlint.model.expr import Span, negate
from bwlint.model.facts import Hop, Module, Operation, Path, Side, Use
from bwlint.model.kinds import NAMED, REFUSING
from bwlint.world.proofs import NeedProof, Node
from bwlint.world.tree import Tree

Fails = Callable[[str], bool]
"""Whether what a file calls by a name, a function or a macro, only ends in an error."""


def left_of(tree: Tree, module: Module, node: Node, fails: Fails) -> Iterator[NeedProof]:
    """What stands against some chips in a definition of a file, by what is compiled of it there."""
    around, every = node.definition.at, module.operations  # in the order of the file
    first = bisect_left(every, around[:2], key=lambda one: one.at[:2])
    inside = list(takewhile(lambda one: one.at[:2] < around[2:], every[first:]))
    for operation in inside:
        if operation.kind in NAMED and not operation.tests and not operation.given:
            yield from _refused(tree, module, node, operation, fails)
    parts = [one for one in inside if one.kind in ("body", "trap")]
    if parts and node.definition.kind == "kernel":
        yield from _emptied(tree, module, node, parts)


def _refused(tree: Tree, module: Module, node: Node, operation: Operation, fails: Fails) -> Iterator[NeedProof]:
    """An instruction or atom that is surely compiled for a chip that has no target with it."""
    row = atom(operation.name) if operation.kind == "atom" else None
    legal = row.legal if row is not None else verdict(operation.name).legal
    others = list(_other_ways(module, node.definition.at, operation.at))
    sure = tree.surely_compiled(module, _inside(operation.path, node.definition.at))
    refusing = [_refuses(other, fails) for other in others]
    if others and all(refusing):
        sure = EVERY_TARGET  # whom the guard keeps from it has the error instead
    refused = ChipSet.where(lambda chip: _own(chip.name) <= sure and not _own(chip.name) & legal)
    if not refused or not legal:
        return
    another = any(not other.empty and not refuses for other, refuses in zip(others, refusing, strict=True))
    works = EVERY - refused if another else legal.chips
    name = parse(operation.name).head if operation.kind == "instruction" else operation.name
    what = row.what if row is not None else f"`{operation.name}`"
    where = node.definition.qualname
    use = Use(operation.name, "instruction" if row is None else "atom", operation.at)
    hop = Hop(module.path, operation.at, f"`{name}` works on {legal.chips}")
    yield NeedProof(works, "operation", what, f"{name} in {where}", (hop,), where=where, operation=use)


def _refuses(side: Side, fails: Fails) -> bool:
    """Whether one side of a guard ends in an error, by itself or in what it calls last."""
    last = max((use for use in side.uses if use.how == "call"), key=lambda use: use.at, default=None)
    return side.ends in REFUSING or (last is not None and fails(last.name))


def _emptied(tree: Tree, module: Module, node: Node, parts: list[Operation]) -> Iterator[NeedProof]:
    """A kernel of whose body guards leave nothing, on those chips; a split family is reported at the guard."""
    bodies = (_inside(part.path, node.definition.at) for part in parts if part.kind == "body")
    left = TargetSet.union(tree.compiled(module, path) for path in bodies)
    empty = ChipSet.where(lambda chip: not TargetSet.native(siblings(chip)) & left)
    if empty and empty != EVERY:
        name, ends = node.definition.qualname, any(part.kind == "trap" for part in parts)
        what = f"code that is compiled to {'an error' if ends else 'nothing'} for {plain(empty)}"
        hop = Hop(module.path, parts[0].at, f"guards remove the whole body of `{name}` there")
        yield NeedProof(EVERY - empty, "gate", what, f"the guards in {name}", (hop,), where=name)


def compiled_at(tree: Tree, module: Module, around: Span, at: Span) -> ChipSet:
    """The chips for whose targets a place in a definition is surely compiled."""
    sure = EVERY_TARGET
    for guard in module.guards:
        test = guard.test if guard.yes.holds(at) else negate(guard.test)
        inside = around.holds(guard.at) and (guard.yes.holds(at) or guard.no.holds(at))
        if inside and not compiles_by_default((test,)):
            sure &= tree.surely_compiled(module, (test,))
    return EVERY if sure == EVERY_TARGET else ChipSet.where(lambda chip: _own(chip.name) <= sure)


def _own(chip: str) -> TargetSet:
    return TargetSet.native(ChipSet.of(chip))


def _inside(path: Path, around: Span) -> Path:
    """The tests of a path that stand in a definition: where those around it fail there is no such definition."""
    return tuple(test for test in path if test.at is None or around.holds(test.at))


def _other_ways(module: Module, around: Span, at: Span) -> Iterator[Side]:
    """What the guards in a definition compile for the chips that they keep from a place."""
    for guard in module.guards:
        for side, other in ((guard.yes, guard.no), (guard.no, guard.yes)):
            if around.holds(guard.at) and side.holds(at):
                yield other
