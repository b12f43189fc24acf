"""smem in Python: a number, a target's name or a table in place of what the device would say of its shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, Chip, ChipSet, Target, group
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import kib, plain
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, THEIRS, fitting, meant
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, RelatedSpan
from bwlint.judging.evidence import file_operations
from bwlint.model.facts import Module, Operation
from bwlint.rules.smem import RULE
from bwlint.rules.smem.sizes import drafted, have, most, without_rows


def _check(context: Context, module: Module) -> Iterator[Draft]:
    if module.language != "python":
        return
    for one in module.operations:
        if one.kind == "capacity":
            yield from _capacity(context, module, one)
        elif one.kind == "lookup":
            yield from _lookup(context, module, one)


def _capacity(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    uses = [use.at or one.at for use in one.amounts[1:]]
    target = None if one.amounts[0].args[0] else Target.parse(one.name).chip
    size: int = most(target) if target else one.amounts[0].args[0]
    reached = ChipSet.joining(chip for use in uses for chip in context.let_to(module, use))
    wrong = (context.targets & reached) - fitting(size)
    of_no_gpu = size > max(chip.smem_per_sm or 0 for chip in EVERY)  # the scratchpad of a TPU
    if not wrong or of_no_gpu or _is_for_others(context, module, one, target):
        return
    yield drafted(
        module,
        at=one.at,
        message=f"{_said(one, size, target)} on every chip that gets here; {plain(wrong)} {have(wrong)}",
        label="taken without asking the device",
        advice="ask the device, for its own target or for shared_memory_per_block_optin of its properties",
        chips=wrong,
        claimed=Claimed(claims.shared("dynamic", size, wrong), one.at),
        severity="warning",
        confidence="medium",
        related=tuple(RelatedSpan(module, use, "used here") for use in uses[:2] if use != one.at),
    )


def _is_for_others(context: Context, module: Module, one: Operation, target: Chip | None) -> bool:
    """Whether the kernels in question are another generation's; those of Ampere run on every later chip."""
    if any(not need.legal & context.targets for need in file_operations(module)):
        return True
    owner = mentioned(one.qualname.replace("_", " ")).named
    if owner or (target is not None and target in group("ampere")):
        return bool(owner) and not owner & context.targets
    return meant(context, module, one.name) in (THEIRS, BUILT)


def _said(one: Operation, size: int, target: Chip | None) -> str:
    if target is not None:
        return f"the shared memory of {target.name}, {kib(size)}, is taken for a block's"
    named = f"`{one.name}` is" if one.name else "the limit is"
    return f"{named} {kib(size)} of shared memory"


def _lookup(context: Context, module: Module, one: Operation) -> Iterator[Draft]:
    """A table of another file, which is asked for a chip that has no row; one of this file says so itself."""
    for other in _defining(context, module, one.name):
        for table in other.operations if other is not module else ():
            missing = without_rows(context, table) if (table.kind, table.name) == ("size-table", one.name) else NONE
            missing &= context.let_to(module, one.at)
            if missing:
                yield drafted(
                    module,
                    at=one.at,
                    message=f"this raises for {plain(missing)}: the table of shared memory by chip has no row for them",
                    label="no row is a KeyError",
                    advice=f"add the rows; {plain(missing)} {have(missing)}",
                    chips=missing,
                    claimed=Claimed(claims.other(f"`{one.name}` has no row for {plain(missing)}", missing), one.at),
                    severity="warning",
                    confidence="medium",
                    related=(RelatedSpan(other, table.at, "the table"),),
                )


def _defining(context: Context, module: Module, name: str) -> list[Module]:
    """The modules that may define a name of a module: where it is imported from, and what that takes whole."""
    found = module.names.get(name)
    if found is None or found.op != "import":
        return []
    first = context.tree.module(found.args[0])
    inner = first.names.get(name) if first is not None else None
    names = [inner.args[0]] if inner is not None and inner.op == "import" else first.stars if first is not None else ()
    return [one for one in (first, *map(context.tree.module, names)) if one is not None]


FILE_CHECKS = ((RULE, _check),)
