"""constant-test: helpers of which no chip passes two, joined with `and`, or their denials joined with `or`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.path_conditions import bare
from bwlint.model.expr import Expr, walk
from bwlint.model.kinds import LISTED, UNASKED
from bwlint.rules.constant_test import RULE
from bwlint.world.gates import Judged

_ASKED = frozenset({"call", "attr", "var"})


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.gate.kind in LISTED | UNASKED:
        return
    for node in walk(judged.gate.test):
        if node.op in ("and", "or") and node.at is not None and judged.gate.at.holds(node.at):
            asked = [found for item in node.args[0] if (found := _question(item, node.op)) is not None]
            pairs = combinations([(one, _passing(context, judged, one)) for one in asked], 2)
            pair = next((pair for pair in pairs if _exclude_each_other(*pair)), None)
            if pair is not None:
                yield _draft(judged, node, pair[0][1], pair[1][1])
                return


def _question(item: Expr, join: str) -> Expr | None:
    """What is asked in an operand: as it is where all have to hold, denied where one has to fail."""
    found: Expr | None = item if join == "and" else item.args[0] if item.op == "not" else None
    return found if found is not None and found.op in _ASKED else None


def _passing(context: Context, judged: Judged, asked: Expr) -> ChipSet:
    """The chips that pass a question of the device; none where it is not surely one."""
    value = context.tree.value(judged.module, asked)
    if not value.device or value.guessed or not any(isinstance(lane, bool) for lane in value.lanes):
        return NONE
    return context.tree.may(judged.module, asked)


def _exclude_each_other(first: tuple[Expr, ChipSet], second: tuple[Expr, ChipSet]) -> bool:
    (one, chips), (other, others) = first, second
    return bool(chips) and bool(others) and not chips & others and _of_whom(one) == _of_whom(other)


def _of_whom(asked: Expr) -> object:
    """Which device a question is about."""
    return bare(Expr("tuple", (asked.args[1],))) if asked.op == "call" else ()


def _draft(judged: Judged, node: Expr, chips: ChipSet, others: ChipSet) -> Draft:
    holds = node.op == "or"
    outcome, join = ("always true", "and") if holds else ("never true", "or")
    says = f"{outcome}: one of these is for {plain(chips)}, the other for {plain(others)}, and no chip is both"
    reached = EVERY if holds else NONE
    at = node.at or judged.gate.at
    return Draft(
        rule=RULE,
        place=DraftPlace(module=judged.module, at=at, admitted=reached, certain=reached, gate=judged.gate),
        severity="warning",
        confidence="high",
        message=says,
        label=f"{'true' if holds else 'false'} on every chip",
        advice=f"join them with `{join if judged.module.language == 'python' else '&&' if holds else '||'}`",
        claims=(Claimed(claims.other(says, EVERY), at, judged.module),),
    )
