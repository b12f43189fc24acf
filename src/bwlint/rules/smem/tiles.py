"""smem in Python: a kernel of TileLang whose buffers are more than the chip gives to a block."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.chips.wording import kib, plain
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, OURS, THEIRS, asked, fitting
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.facts import Module
from bwlint.rules.smem import RULE


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """What a function asks for with its defaults, and with what its file hands to it; others may hand it less."""
    for one in asked(context, module, "tiled-shared"):
        size: int = one.operation.amounts[0].args[0]
        over = one.targets.chips - fitting(size)
        if not over or one.meant in (BUILT, THEIRS):
            continue
        yield Draft(
            rule=RULE,
            place=DraftPlace(module=module, at=one.operation.at, admitted=one.targets.chips, certain=over),
            severity="note" if aside(context, module) else "warning",
            confidence="high" if one.meant == OURS else "medium",
            message=f"the buffers of `{one.operation.qualname}` are at least {kib(size)} for one block; {_has(over)}",
            label="the largest of them",
            advice="take smaller tiles or fewer stages where the device has less, and ask for"
            " shared_memory_per_block_optin",
            legal=fitting(size),
            related=tuple(
                RelatedSpan(module, made.at, f"`{made.args[0]}` makes it as large")
                for made in one.operation.amounts[1:]
                if made.at is not None
            ),
            claims=(Claimed(claims.shared("dynamic", size, over), one.operation.at),),
        )


def _has(chips: ChipSet) -> str:
    most = min(chip.smem_per_block_optin or 0 for chip in chips)
    return f"{plain(chips)} {'has' if len(chips) == 1 else 'have'} {kib(most)}"
