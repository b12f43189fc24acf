"""toolchain: a list of a build that has a chip from a later release of CUDA on than the first that knows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from bwlint.chips import NONE, ChipSet, siblings
from bwlint.chips.toolkits import first_release, releases, version, within
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import NoFix
from bwlint.model.kinds import CarryKind
from bwlint.rules.toolchain import RULE
from bwlint.world.builds import runs_on

_ADDING_UP: frozenset[CarryKind] = frozenset({"list", "piece", "gencode"})
"""What a build makes of all its sources: what one kernel is offered for may need a later release for itself."""
_FOR_ITS_AUTHOR = NoFix("from which release on a build serves a chip is for its author to say")


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if context.builds.retired(module.path):
        return
    lists: dict[str, list[Carry]] = defaultdict(list)
    for carry in module.carries:
        if carry.kind in _ADDING_UP:
            lists["" if carry.kind == "gencode" else carry.name].append(carry)
    for carries in lists.values():
        yield from _late(context, module, carries)


def _late(context: Context, module: Module, carries: Sequence[Carry]) -> Iterator[Draft]:
    for family in dict.fromkeys(siblings(chip) for chip in context.targets):
        asked = family & context.targets
        need = first_release(asked)
        serving = [carry for carry in carries if asked & runs_on([carry])]
        first = min(serving, key=_begins, default=None)
        if first is None or first.kind == "list" or not need or _begins(first) <= version(need):
            continue  # one list instead of another is told where it stops
        between = within((need, first.toolkit[0]))
        if any(between & within(carry.toolkit) for carry in carries):
            yield _draft(module, first, asked, need)


def _begins(carry: Carry) -> tuple[int, ...]:
    return version(carry.toolkit[0] or releases()[0])


def _draft(module: Module, carry: Carry, chips: ChipSet, need: str) -> Draft:
    floor = carry.toolkit[0]
    first = min(chips, key=lambda chip: chip.joined)
    message = f"nothing here serves {plain(chips)} below CUDA {floor}, and nvcc {need} knows sm_{first.joined}"
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=carry.at, admitted=NONE, certain=NONE),
        severity="warning",
        confidence="medium",
        message=message,
        label=f"from {floor} on",
        advice=f"offer sm_{first.joined} from {need} on, or sm_{first.joined}a for kernels that need the suffix",
        remedy=_FOR_ITS_AUTHOR,
        claims=(Claimed(claims.other(message, chips, floor), carry.at),),
    )
