"""constant-test: conditions of the running program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.chips import EVERY, NONE
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.foregone import Reading, foregone, is_constant
from bwlint.model.expr import Expr
from bwlint.model.kinds import LISTED, UNASKED
from bwlint.rules.constant_test import RULE
from bwlint.rules.constant_test.saying import draft_of
from bwlint.world.gates import Judged


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    gate, module, tree = judged.gate, judged.module, context.tree
    if gate.kind in LISTED | UNASKED:
        return

    def constant(node: Expr) -> object:
        found = tree.value(module, node)
        return found.lanes[0] if found.uniform and not found.device and is_constant(found.lanes[0]) else None

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.value(module, node).lanes

    for found in foregone(gate.test, Reading(constant, on_chips)):
        at = found.node.at or gate.at
        if gate.at.holds(at) and tree.value(module, found.subject).device:
            sets = (EVERY, EVERY) if found.holds else (NONE, NONE)
            yield draft_of(RULE, found, DraftPlace(module=module, at=at, admitted=sets[0], certain=sets[1], gate=gate))
