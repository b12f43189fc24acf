"""Amounts that operations need (bytes, threads, blocks), and the chips that reach them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bwlint.chips import ALL_TARGETS, Chip, ChipSet, TargetSet, chip_of_number, group
from bwlint.chips.mentions import mentioned
from bwlint.chips.spelling import spelled
from bwlint.judging.context import Context
from bwlint.model.details import OptIn, SizesInReach
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import Module, Operation, Path
from bwlint.model.kinds import OperationKind
from bwlint.world.libraries import built_for_others, instruction

OURS, ANYBODYS, OPEN, THEIRS, BUILT = "ours", "anybody's", "open", "theirs", "built"
"""The file names our chips; asks for none, nor does its build; leaves it open; names others; is built on theirs."""


@dataclass(frozen=True)
class Asked:
    """An operation in its world."""

    context: Context
    module: Module
    operation: Operation

    @cached_property
    def targets(self) -> TargetSet:
        """The targets of the chips asked about that may reach it, as compiled and as run."""
        chips = self.context.targets
        for at in (self.operation.at, *self.operation.uses):
            chips &= self.context.let_to(self.module, at)
        return TargetSet.native(chips) & self.context.tree.compiled(self.module, self.operation.path)

    def number(self, node: Expr, chip: Chip) -> int | None:
        """The value of an amount on a chip, the largest of its targets; None where one of them is not known."""
        lanes = self.context.tree.numbers(self.module, node)
        own = [
            lane
            for target, lane in zip(ALL_TARGETS, lanes, strict=True)
            if target.chip == chip and target in self.targets
        ]
        known = [int(lane) for lane in own if isinstance(lane, (int, float)) and not isinstance(lane, bool)]
        return max(known) if known and len(known) == len(own) else None

    def most(self, node: Expr, chip: Chip) -> int | None:
        """The value, or what it cannot exceed: the smallest known operand of a minimum."""
        value = self.number(node, chip)
        if value is not None:
            return value
        found = self.module.names.get(node.args[0]) if node.op == "name" else node
        if found is None or found.op != "call" or found.args[0].args[0] != "min":
            return None
        known = [most for item in found.args[1] if (most := self.most(item, chip)) is not None]
        return min(known, default=None)

    @cached_property
    def meant(self) -> str:
        """The chips that the place is meant for, by the names in it and in its file."""
        operation = self.operation
        if operation.path and _lets_in(self.context, self.module, operation.path):
            return OURS
        found = meant(self.context, self.module, operation.qualname, operation.name)
        let_in = found == THEIRS and self.context.let_in(self.module, operation.at) & self.context.targets
        return OPEN if let_in else found


def asked(context: Context, module: Module, kind: OperationKind) -> Iterator[Asked]:
    """The operations of one kind that some target reaches; of a template the instance that asks for most."""
    found: dict[object, list[Asked]] = {}
    for number, operation in enumerate((*module.operations, *_through_macros(context, module, kind))):
        if operation.kind == kind:
            one = Asked(context, module, operation)
            if one.targets:
                found.setdefault(operation.at if operation.uses else number, []).append(one)
    for several in found.values():
        yield several[0] if len(several) == 1 else max(several, key=_rank)


def _rank(one: Asked) -> tuple[bool, int]:
    amount = one.operation.amounts[0]
    return not one.operation.checked, max(one.number(amount, chip) or 0 for chip in one.targets.chips)


def _through_macros(context: Context, module: Module, kind: OperationKind) -> Iterator[Operation]:
    """What is asked for at run time by macros of the file and of its headers."""
    uses = [one for one in module.operations if one.kind == "opted-in"] if kind == "dynamic-shared" else []
    files = (module, *context.tree.headers.included(module)) if uses else ()
    every = (one for file in files for one in file.operations)
    macros = {one.name: one.detail.variable for one in every if isinstance(one.detail, OptIn)}
    for use in uses:
        sizes = dict(use.detail.sizes) if isinstance(use.detail, SizesInReach) else {}
        size = sizes.get(macros.get(use.name, ""))
        if size is not None:
            yield replace(use, kind="dynamic-shared", at=size.at or use.at, amounts=(size,), detail=None)


def meant(context: Context, module: Module, *names: str) -> str:
    """The chips that a file is meant for: by its name and those given, by what it mentions, then by its guards."""
    place = _words("/".join(module.path.split("/")[-4:]), *names)
    if mentioned(place).named & context.targets:
        return OURS
    words = [operation.name for operation in module.operations if operation.kind == "mention"]
    chips = ChipSet.joining(chip for word in words for chip in mentioned(word).named)
    theirs = built_for_others(place)
    if chips & context.targets and not theirs:
        return OURS
    needs = [found for word in words if (found := instruction(word, Span(0, 0, 0, 0))) is not None]
    if needs and not any(found.legal & context.targets for found in needs):
        return BUILT
    if theirs:
        return THEIRS
    if _is_built(context, module):
        return OURS
    if chips:
        return THEIRS
    if any(_lets_in(context, module, (guard.test,)) for guard in module.guards):
        return OURS
    asks = any(context.tree.asks_target(module, guard.test) for guard in module.guards) or module.gates
    built = any(carry.sass or carry.ptx for carry in context.builds.of(module))
    return OPEN if asks or built or context.in_test(module) else ANYBODYS


def _is_built(context: Context, module: Module) -> bool:
    """Whether a build compiles the file for our chips by name."""
    names = (name for carry in context.builds.of(module) for name in carry.sass)
    targets = (spelled(name.lower()) for name in names)
    chips = (chip_of_number(found.number) for found in targets if found is not None)
    return any(chip is not None and chip in context.targets for chip in chips)


def _lets_in(context: Context, module: Module, path: Path) -> bool:
    """Whether tests of the preprocessor let our chips through and keep older ones with as little memory out."""
    through = context.tree.compiled(module, path).chips
    return context.targets <= through and not through & group("small-shared")


def _words(*names: str) -> str:
    return re.sub(r"[_\W]+", " ", " ".join(names))


def fitting(size: int) -> ChipSet:
    """The chips of which one block may have this much shared memory."""
    return ChipSet.where(lambda chip: chip.smem_per_block_optin is not None and chip.smem_per_block_optin >= size)
