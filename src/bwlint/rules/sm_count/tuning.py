"""sm-count: what is tuned for, or known of, one product is taken for all from its generation on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import Chip, ChipSet, group
from bwlint.chips.products import named, products_of, told
from bwlint.chips.wording import plain
from bwlint.chips.words import nicknames, numbers
from bwlint.judging import claims
from bwlint.judging.aside import aside
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.kinds import BRANCHES
from bwlint.rules.sm_count import RULE
from bwlint.world.gates import Judged

_OURS = group("consumer-blackwell")
_SERVER = group("datacenter-blackwell")
_PEAK = re.compile(r"(?:tensor_?cores?|tc)\w{0,20}_(?:t?flops|tops)|(?:t?flops|tops)\w{0,20}_tensor_?cores?", re.I)
_OUR_WORDS = re.compile(rf"{nicknames(_OURS)}|{numbers(_OURS)}|sm_?12|consumer", re.I)
_CAREFUL = re.compile(r"unstable|validated|work ?around|\bbug|\bhang|crash|illegal|wrong|see #", re.I)
"""What is done to be safe is no tuning."""


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if aside(context, judged.module):
        return
    if _PEAK.search(judged.gate.qualname):
        yield from _rate(context, judged)
    elif judged.gate.kind in BRANCHES or judged.gate.kind == "flag":
        yield from _tuned(context, judged)


def _rate(context: Context, judged: Judged) -> Iterator[Draft]:
    """One rate for all of an open end."""
    for side in (judged.gate.yes, judged.gate.no):
        chips = judged.on(side)
        ours = chips & context.targets & _OURS
        if not ours or not chips >= _SERVER or not group("large-ampere") <= chips or judged.gate.kind not in BRANCHES:
            continue
        first = next(iter(chips))
        if not chips >= _from(first) or any(_divides(other, judged, chips) for other in context.within(judged)):
            continue
        says = (
            f"one rate of the tensor cores stands for every chip from {first} on: a multiprocessor of"
            f" {plain(ours)} does less in a clock than one of 10.0"
        )
        yield _draft(
            judged,
            says=says,
            label="one rate for all",
            advice="have a row for 12.x, or measure: a share of this peak says little on it",
        )


def _from(first: Chip) -> ChipSet:
    return ChipSet.where(lambda chip: chip.joined >= first.joined)


def _divides(other: Judged, judged: Judged, chips: ChipSet) -> bool:
    """Whether a later test of the same function has another rate for some of the chips that a side leaves."""
    return other.gate.at > judged.gate.at and bool(other.core & chips) and bool(chips - other.core)


def _tuned(context: Context, judged: Judged) -> Iterator[Draft]:
    gate = judged.gate
    said = f"{gate.name} {gate.comment}"
    whose = named(said, _SERVER)
    ours = judged.may & judged.core & context.targets & _OURS
    if whose is None or not ours or not judged.may >= _SERVER or _OUR_WORDS.search(said) or _CAREFUL.search(said):
        return
    if not judged.stands_here or not (gate.kind == "flag" or (gate.yes.tuning and not gate.yes.empty)):
        return
    yield _draft(
        judged,
        says=(
            f"by its words this is for {whose.name}, which has {whose.multiprocessors} multiprocessors, and it takes"
            f" every chip from 10.0 on: {told(products_of(ours))}"
        ),
        label=f"meant for {whose.name}",
        advice="ask for the family of 10.0 if the numbers were measured on it, or measure them on 12.x too",
    )


def _draft(judged: Judged, *, says: str, label: str, advice: str) -> Draft:
    wrong = judged.may & _OURS
    return Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="note",
        confidence="low",
        message=says,
        label=label,
        advice=advice,
        claims=(Claimed(claims.other(says, wrong)),),
    )
