"""dead-arm: an earlier arm of the chain takes every chip that a later arm is there for."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.facts import Gate
from bwlint.model.findings import NoFix
from bwlint.model.rule import RuleTraits
from bwlint.world.gates import Judged

RULE = RuleTraits("dead-arm")


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.gate.chain == 0 or judged.gate.position == 0 or judged.sets.guessed:
        return
    meant = judged.core & context.targets
    if not meant or judged.core & judged.sets.live or not judged.core - judged.sets.raises:
        return
    taking = tuple(_taking(context, judged, meant))
    if not taking:
        return  # what is above the chain keeps them out
    yield Draft(
        rule=RULE,
        place=DraftPlace(
            module=judged.module, at=judged.at, admitted=judged.sets.may, certain=judged.sets.must, gate=judged.gate
        ),
        severity="warning",
        confidence="high",
        message=f"this arm is for {judged.core}, and an earlier arm of the chain takes all of it",
        label="never reached",
        advice=f"test {judged.core} first",
        remedy=NoFix("arms of a chain are not put in another order"),
        rests_on=taking,
    )


def _taking(context: Context, judged: Judged, meant: ChipSet) -> Iterator[Gate]:
    """The arms above that take chips which this one is for."""
    for other in context.within(judged):
        gate = other.gate
        above = gate.chain == judged.gate.chain and gate.position < judged.gate.position
        if above and other.sets.must & meant:
            yield gate
