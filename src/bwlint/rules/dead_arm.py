"""dead-arm: an earlier arm, or a return above, takes every chip that a later arm is there for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import EVERY, ChipSet, TargetSet, group
from bwlint.chips.wording import called, plain, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.guards import Guarded
from bwlint.model.expr import negate, walk
from bwlint.model.facts import Gate
from bwlint.model.findings import NoFix
from bwlint.model.kinds import BRANCHES, REFUSING
from bwlint.model.rule import RuleTraits
from bwlint.world.gates import Judged, answers_no

RULE = RuleTraits("dead-arm")
_LEAVING = frozenset({"return", "continue"})
_OLDER = ChipSet.where(lambda chip: any(chip.joined <= other.joined for other in group("hopper")))
_ARM = "an earlier case"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.gate.kind not in BRANCHES or not judged.gate.path or judged.sets.guessed:
        return
    meant = judged.core & context.targets
    if not meant or judged.core & judged.sets.live or not judged.core - judged.sets.raises:
        return
    if judged.sets.may == EVERY:
        return  # it may run: `cc >= 61` below `cc >= 70` is for chips that are older than all that are known here
    taking = tuple(_taking(context, judged, meant))
    if not taking:
        return  # what is above the chain keeps them out
    place = DraftPlace(
        module=judged.module, at=judged.at, admitted=judged.sets.may, certain=judged.sets.must, gate=judged.gate
    )
    yield _draft(place, judged.core, _called(taking, judged.gate), taking)


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    guard, module, tree = guarded.guard, guarded.module, context.tree
    if not guard.position or guarded.sets.may or guard.yes.empty or guard.yes.ends in REFUSING:
        return
    if not any(node.op == "cmp" for node in walk(guard.test)):
        return  # what a macro stands for, where an older toolkit lacks the arm above
    above = [other for other in module.guards if _above(other, guard)]
    if not above:
        return
    meant = tree.compiled(module, (guard.test,)) & tree.compiled(module, guard.path[: -len(above)])
    if not meant & TargetSet.native(context.targets) or meant.chips & _OLDER:
        return
    chips = meant.chips
    claim = claims.other(f"no target of {plain(chips)} compiles this arm", chips)
    draft = _draft(DraftPlace.of_guard(guarded), chips, _ARM, ())
    yield replace(draft, claims=(Claimed(claim, guard.at, module),))


def _draft(place: DraftPlace, meant: ChipSet, by: str, taking: tuple[Gate, ...]) -> Draft:
    return Draft(
        place=place,
        severity="warning",
        confidence="high",
        message=f"This case is for {called(meant)}, but {by} takes {them(meant)} all. It never runs.",
        label="never reached",
        advice=f"Check for {called(meant)} first.",
        remedy=NoFix("the order of the cases may carry other conditions: reorder them by hand"),
        rests_on=taking,
    )


def _taking(context: Context, judged: Judged, meant: ChipSet) -> Iterator[Gate]:
    """The arms and ways out above that take chips which this one is for."""
    for other in context.within(judged):
        takes = _is_arm_above(other.gate, judged.gate) or _leaves(other, judged.gate)
        if takes and other.sets.must & meant and not _searches(other.gate, judged.gate):
            yield other.gate


def _searches(gate: Gate, later: Gate) -> bool:
    """Whether both look into one table: its best row is taken first, and a later look is there for what has none."""
    tables = {_table(gate), _table(later)}
    return len(tables) == 1 and "" not in tables


def _table(gate: Gate) -> str:
    """The name of what a test looks into; "" of any other test."""
    if gate.test.op != "cmp" or gate.test.args[0] != "in":
        return ""
    into = gate.test.args[1][1]
    return str(into.args[1]) if into.op in ("var", "attr") else ""


def _called(taking: tuple[Gate, ...], later: Gate) -> str:
    last = taking[-1]
    return _ARM if last.kind == "expression" or _is_arm_above(last, later) else f"the `{last.yes.ends}` above"


def _is_arm_above(gate: Gate, later: Gate) -> bool:
    """Whether `later` is an `elif` of a gate, and not only what follows it."""
    return _above(gate, later) and not gate.no.rest


def _above(gate: Gate, later: Gate) -> bool:
    return later.chain != 0 and gate.chain == later.chain and gate.position < later.position


def _leaves(judged: Judged, later: Gate) -> bool:
    """Whether only chips that fail a test reach `later`: behind a branch that does something."""
    gate = judged.gate
    if judged.sets.must == EVERY or negate(gate.test) not in later.path:
        return False
    acts = gate.yes.ends in _LEAVING and not gate.yes.empty and not answers_no(gate.yes)
    return acts or gate.kind == "expression"
