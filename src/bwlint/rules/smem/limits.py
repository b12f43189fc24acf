"""smem: a function limits tile sizes for each generation, but not for the chips with the least memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.chips.wording import called, have, plain
from bwlint.judging import claims
from bwlint.judging.behind import goes_on_to, hits, read_hit
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.model.expr import Span
from bwlint.rules.smem import RULE
from bwlint.world.gates import TEST_FILE, Judged

_RESTRICTS = re.compile(r"constraint|restrict|limit", re.I)

_HAS = ("has", "is", "have", "use", "supports")
"""How a test begins that asks for a library by its name."""
_OF_KERNELS = re.compile(r"opt_flags|kernel|tile|block|smem|shared|stages|launch|tun", re.I)


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """The first arm of a chain of which each sets limits for kernels, and no `else` does."""
    if judged.gate.position or not judged.gate.chain or not judged.gate.is_a("condition"):
        return
    arms = [other for other in context.within(judged) if _same(judged, other)]
    setters = {_limits(arm) for arm in arms}
    if len(arms) < 2 or len(setters) != 1 or "" in setters or not arms[-1].gate.no.empty:
        return
    told = ChipSet.joining(chip for arm in arms for chip in arm.on(arm.gate.yes))
    left = (context.targets & judged.sets.live) - told
    if left != context.targets or any(arm.sets.guessed for arm in arms):
        return
    (called_by,) = setters
    name = called_by.rpartition(".")[2]
    away = _kept_away(context, judged, called_by.partition(".")[0], left)
    first, last = judged.gate.at, arms[-1].gate.at
    yield Draft(
        rule=RULE,
        place=DraftPlace(module=judged.module, at=Span(*first[:2], *last[2:]), admitted=told, certain=told),
        severity="note" if away else "warning",
        confidence="low" if away else "medium",
        message=(
            f"`{name}` sets limits for kernels on {plain(told)} and none for {called(left)}. {plain(left)} {have(left)}"
            " less shared memory a block."
        ),
        label=f"no limits for {plain(left)}",
        advice=f"Add a case for {called(left)}: without one, tiles that fit 9.0 and 10.x are picked.",
        related=(
            *(RelatedSpan(arm.module, arm.at, f"for {plain(arm.on(arm.gate.yes))}") for arm in arms[1:]),
            *(RelatedSpan(one.module, one.at, f"checks for it, and keeps {plain(left)} away") for one in away),
        ),
        claims=(Claimed(claims.other(f"no limits are set for {plain(left)}", left), judged.at),),
        rests_on=tuple(arm.gate for arm in arms),
    )


def _same(judged: Judged, other: Judged) -> bool:
    return other.gate.chain == judged.gate.chain and other.gate.is_a("condition")


def _limits(arm: Judged) -> str:
    """What an arm calls to set limits; "" where it calls nothing of the kind."""
    names = (use.name for use in arm.gate.yes.uses if use.is_a("call"))
    found = (name for name in names if _RESTRICTS.search(name.rpartition(".")[2]) and _OF_KERNELS.search(name))
    return next(found, "")


def _kept_away(context: Context, judged: Judged, library: str, chips: ChipSet) -> tuple[Judged, ...]:
    """The gates that ask whether a library is there and keep chips away from it; none where one lets them in."""
    known = judged.module.names.get(library)
    library = known.args[0].partition(".")[0] if known is not None and known.op == "import" else library
    found: list[Judged] = []
    for asked in (f"{has}_{library}" for has in _HAS):
        for hit in hits(context, judged.module, asked):
            if TEST_FILE.search(hit.file.real):
                continue
            file = read_hit(context, hit)
            asking = [
                one
                for one in (context.gates(file) if file is not None else ())
                if one.sets.decided and one.at[0] <= hit.line <= one.gate.at[2] and asked in one.mentioned
            ]
            if not asking and goes_on_to(context, judged, file, hit) & chips:
                return ()
            found += asking
    return () if any(one.admitted & chips for one in found) else tuple(found)
