"""unchecked-launch: an opt-in to more shared memory whose status nothing checks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.judging import claims
from bwlint.judging.amounts import BUILT, THEIRS, Asked, asked, fitting
from bwlint.judging.aside import looked_at_by_called
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.facts import Module
from bwlint.model.rule import RuleTraits

RULE = RuleTraits("unchecked-launch")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".ipp")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for one in asked(context, module, "launch"):
        if one.operation.name != "attribute" or one.meant in (BUILT, THEIRS):
            continue
        sizes = {chip: one.number(one.operation.amounts[0], chip) for chip in one.targets.chips}
        over = [chip for chip, size in sizes.items() if size is not None and size > (chip.smem_per_block_optin or size)]
        doubtful = over or [chip for chip, size in sizes.items() if size is None]
        if not doubtful or looked_at_by_called(context, one.module, one.operation):
            continue
        size = max((size or 0 for size in sizes.values()), default=0)
        claim = claims.unchecked(ChipSet.joining(doubtful), size if over else None)
        yield _draft(one, ChipSet.joining(over), size, Claimed(claim, one.operation.at))


def _draft(one: Asked, over: ChipSet, size: int, claimed: Claimed) -> Draft:
    aside = one.module.path.endswith(_HEADERS) or one.context.in_test(one.module)  # who includes it may look
    ours = mentioned(re.sub(r"[_\W]+", " ", one.module.path.rpartition("/")[2])).named & one.targets.chips
    loud = bool(over or ours) and not aside
    return Draft(
        place=DraftPlace.of_request(one, over),
        severity="warning" if loud else "note",
        confidence="high" if over else "medium" if ours else "low",
        message=(
            "The status of this request for shared memory is not checked. If it asks for more than the chip allows a"
            " block (12.x: 99 KiB), the kernel does not run. Its output keeps old data, and a later synchronize returns"
            " success."
        ),
        label="the status is dropped",
        advice="Check the status of this call, and cudaGetLastError() after the launch.",
        legal=fitting(size) if over else None,
        remedy=Remedy(
            "status",
            one.targets.chips,
            evidence="the file checks its other calls like this",
            unsafe="a failure that went unnoticed then raises an error",
        ),
        claims=(claimed,),
        cause=None if loud else (one.module.path, RULE.name),
    )
