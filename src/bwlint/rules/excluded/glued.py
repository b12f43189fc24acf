"""excluded from a list for want of a comma: two names became one string, which no chip is called."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet
from bwlint.chips.spelling import spelled
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Module
from bwlint.rules.excluded import RULE


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in module.operations:
        names = [str(half.args[0]) for half in one.amounts] if one.kind == "glued" else []
        out = ChipSet.joining(chip for name in names for chip in _named(name))
        if not out & context.targets:
            continue
        says = f"no chip is called {one.name}"
        yield Draft(
            rule=RULE,
            place=DraftPlace(module=module, at=one.at, admitted=NONE, certain=NONE),
            severity="warning",
            confidence="high",
            message=f'keeps {plain(out)} out: without a comma "{names[0]}" "{names[1]}" is the one string "{one.name}"',
            label=says,
            advice="put the comma",
            claims=(Claimed(claims.other(says, out & context.targets), one.at, module),),
        )


def _named(name: str) -> ChipSet:
    found = spelled(name)
    return ChipSet.where(lambda chip: found is not None and chip.joined == found.number)
