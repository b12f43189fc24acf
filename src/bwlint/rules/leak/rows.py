"""leak: a chip is let through and then asked for in a table that has no row for it."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.rules.leak import RULE
from bwlint.world.gates import Judged, missing_row, table_name


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A strict lookup behind a gate that asks for the device and admits what the table lacks."""
    gate = judged.gate
    if not gate.is_a("lookup") or not gate.no.ends_in("raise") or judged.in_test:
        return
    missing = (context.targets & judged.sets.live) - judged.may
    if missing != context.targets or not judged.core or not missing <= context.let_in(judged.module, judged.at):
        return
    without, table = missing_row(judged), table_name(judged)
    yield Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="high" if judged.sets.decided else "medium",
        message=f"{plain(missing)} are let through above and have no row in {table}: {without}",
        label=f"has rows for {plain(judged.core)}",
        advice=f"give {plain(missing)} a row, ask for it with a default, or refuse them above",
        legal=judged.core,
        claims=(
            Claimed(
                claims.need(gate.name or "table", missing, NONE, f"{table} has no row for {plain(missing)}"), judged.at
            ),
        ),
    )
