"""launch-bounds: more threads or blocks at once than a multiprocessor of the chip holds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import Chip, ChipSet
from bwlint.chips.wording import called
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, OURS, asked
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Module
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("launch-bounds")
_OF_AMD = re.compile(r"(?i)rocm|(?<![a-z])(?:hip|amd)(?![a-z])")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in asked(context, module, "launch-bounds"):
        if one.meant == BUILT:
            continue
        asks = [
            (chip, threads, blocks)
            for chip in one.targets.chips
            if (threads := one.number(one.operation.amounts[0], chip))
            and (blocks := one.number(one.operation.amounts[1], chip))
        ]
        over = ChipSet.joining(chip for chip, threads, blocks in asks if not _holds(chip, threads, blocks))
        if not over:
            continue
        threads, blocks = next((threads, blocks) for chip, threads, blocks in asks if chip in over)
        legal = ChipSet.where(lambda chip: _holds(chip, threads, blocks))  # noqa: B023 - used at once
        if not legal and _OF_AMD.search(context.places.get(module.path, "")):
            continue  # HIP means something else by the second number
        first = next(iter(over))
        yield Draft(
            place=DraftPlace.of_request(one, over),
            severity="note",  # nothing fails, and only the registers that ptxas gives say whether anything is lost
            confidence="high" if one.meant == OURS else "medium",
            message=(
                f"{blocks} blocks of {threads} threads are more than a multiprocessor of {called(over)} holds: "
                f"{first.max_threads_per_sm} threads and {first.max_blocks_per_sm} blocks."
                f"{'' if legal else ' No other chip holds as many either.'}"
            ),
            label="ptxas warns and ignores the minimum",
            advice=(
                "Give a minimum that fits these chips, under __CUDA_ARCH__ or through a template parameter. Until then"
                " the kernel runs with as many registers as without a minimum."
            ),
            legal=legal,
            claims=(Claimed(claims.bounds(threads, blocks, over), one.operation.at),),
        )


def _holds(chip: Chip, threads: int, blocks: int) -> bool:
    most_threads, most_blocks = chip.max_threads_per_sm, chip.max_blocks_per_sm
    return (most_threads is None or threads * blocks <= most_threads) and (most_blocks is None or blocks <= most_blocks)
