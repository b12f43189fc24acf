"""excluded at a guard of the preprocessor: an upper bound compiles away what the chip has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from bwlint.chips import EVERY_TARGET, NONE, ChipSet, TargetSet, group, spelling
from bwlint.chips.wording import called, have, plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.guards import Guarded
from bwlint.judging.legality import legal, short, slow
from bwlint.model.expr import walk
from bwlint.model.facts import Operation
from bwlint.model.kinds import NAMED
from bwlint.world.gates import refuses

_OLDER, _NEWER, _FAMILY = group("hopper"), group("datacenter-blackwell"), group("consumer-blackwell")
_SMALL_SHARED = group("small-shared")


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    out = context.targets & guarded.refused
    if not out or out != context.targets & guarded.sets.live.chips:
        return
    refused = refuses(guarded.other) and any(node.op == "cmp" for node in walk(guarded.guard.test))  # no macro's bound
    if guarded.working.empty or not (guarded.other.empty or refused) or _elsewhere(context, guarded, out):
        return
    needs = [one for one in guarded.operations() if one.kind in NAMED]
    native = TargetSet.native(out)
    working = reduce(lambda targets, one: targets & legal(one) - slow(one), needs, native)
    proved = [one for one in needs if legal(one) != EVERY_TARGET]
    small = guarded.chips >= _SMALL_SHARED
    shown = small and (refused or (proved and guarded.other.empty and guarded.chips >= _OLDER))  # no workaround
    of_chain = guarded.guard.position > 0 and not guarded.chips & _OLDER  # the host may turn away who has no arm
    bounded = working == native and (guarded.chips >= _OLDER | _NEWER or bool(shown))
    if not bounded and not (out <= working.chips and _names_one_part(guarded, needs)):
        return  # it would not work there, or only in software
    yield Draft(
        place=DraftPlace.of_guard(guarded),
        severity="warning" if proved or (refused and not of_chain) else "note",
        confidence="high" if proved else "medium" if refused else "low",
        message=(
            f"This guard compiles for {plain(guarded.chips)} and leaves {called(out)} out."
            + f" On {plain(out)} {'the code runs into the error instead' if refused else 'it compiles to nothing'}."
            + (f" {plain(out)} {have(out)} `{short(proved[0])}` too." if proved else "")
        ),
        label=f"compiles to {'the error' if refused else 'nothing'} for {plain(out)}",
        advice="Drop the upper bound, or name the chips that lack the instructions behind it."
        if bounded
        else f"Let in {', '.join(working.names)} too.",
        related=(
            *(RelatedSpan(guarded.module, one.at, f"legal on {plain(out)}") for one in proved[:1]),
            *_error(guarded, out if refused else NONE),
        ),
        remedy=_remedy(guarded, working) if proved else None,
        claims=(guarded.claimed(TargetSet.native(out | _OLDER | _NEWER)), _behind(guarded, working, proved)),
    )


def _error(guarded: Guarded, out: ChipSet) -> Iterator[RelatedSpan]:
    """What the error says into which chips run that are left out."""
    for text in guarded.other.texts[:1] if out else ():
        yield RelatedSpan(guarded.module, text.at, f"the error for {plain(out)}")


def _names_one_part(guarded: Guarded, needs: list[Operation]) -> bool:
    """Whether a guard names targets of 10.x, in a file that knows of no generation, for what is new with both."""
    named = spelling.numbers(f"{guarded.module.path.rpartition('/')[2]} {guarded.guard.qualname}")
    everywhere = (one for one in guarded.module.operations if one.kind in NAMED)
    foreign = any(not TargetSet.native(_FAMILY) & legal(one) for one in everywhere)
    only = bool(guarded.chips & _NEWER) and guarded.chips <= _NEWER
    return only and not named and not foreign and any(not legal(one) & TargetSet.native(_OLDER) for one in needs)


def _behind(guarded: Guarded, working: TargetSet, proved: list[Operation]) -> Claimed:
    """That what is behind the guard works on those that are left out."""
    if not proved:
        out = working.chips
        says = f"the guarded code works on {plain(out)} too"
        return Claimed(claims.need(claims.directive(guarded.guard.text), out, out, says))
    first = proved[0]
    claim = claims.legal(short(first), working, wrapped=first.kind == "atom")
    return Claimed(claim, first.at, guarded.module)


def _remedy(guarded: Guarded, working: TargetSet) -> Remedy:
    targets = guarded.admitted | (working & guarded.sets.live)
    why = "the code behind it was never compiled for these chips"
    return Remedy(
        "guard", targets.chips, evidence="the instructions behind it assemble there", unsafe=why, targets=targets
    )


def _elsewhere(context: Context, guarded: Guarded, out: ChipSet) -> bool:
    """Whether another guard of the file is there for the chips that are left out."""
    return any(
        other is not guarded and out & other.chips and not other.chips & _OLDER and not other.working.empty
        for other in context.guards[guarded.module.path]
    )
