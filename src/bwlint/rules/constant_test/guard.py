"""constant-test: conditions of the preprocessor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.judging.foregone import Reading, foregone, is_constant
from bwlint.judging.guards import Guarded
from bwlint.model.expr import Expr
from bwlint.rules.constant_test import RULE
from bwlint.rules.constant_test.saying import draft_of


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    module, tree = guarded.module, context.tree

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.numbers(module, node)

    for found in foregone(guarded.guard.test, Reading(_literal, on_chips)):
        if tree.asks_target(module, found.subject):
            yield draft_of(RULE, found, DraftPlace.of_guard(guarded))


def _literal(node: Expr) -> object:
    return node.args[0] if node.op == "const" and is_constant(node.args[0]) else None
