"""sm-count: an amount of memory that stands for a product."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import ChipSet, group
from bwlint.chips.products import products_of
from bwlint.chips.wording import listed
from bwlint.judging import claims
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Module
from bwlint.rules.sm_count import RULE

_OURS = group("consumer-blackwell")
_GIB = 1 << 30


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        if one.kind != "memory-tier" or aside(context, module):
            continue
        least, end = (amount.args[0] for amount in one.amounts)
        chips = context.let_to(module, one.at) & context.targets & _OURS
        taken = [
            product
            for product in products_of(chips)
            if least <= product.memory_gib * _GIB and (not end or product.memory_gib * _GIB < end)
        ]
        if not taken:
            continue
        wrong = ChipSet.of(*{product.chip for product in taken})
        sizes = listed([f"{one.name} ({one.memory_gib} GiB, {one.multiprocessors} multiprocessors)" for one in taken])
        verb = "is" if len(taken) == 1 else "are"
        says = f"memory stands for a product here, {one.name}: {sizes} {verb} taken for it too"
        yield Draft(
            rule=RULE,
            place=DraftPlace(module=module, at=one.at, admitted=chips, certain=wrong),
            severity="note",
            confidence="medium",
            message=says,
            label="memory is no measure of the rest",
            advice=(
                "ask for multi_processor_count or the capability where the choice is one of compute; GB10's memory is"
                " its host's too"
            ),
            claims=(Claimed(claims.other(says, wrong), one.at),),
        )
