"""capability-type: a comparison that has the same answer on every chip because of its types, or raises."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.judge import Context, Draft, Judged

NAME = "capability-type"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    for clash in judged.sets.clashes:
        if clash.at is None:
            continue
        outcome = "raises" if "TypeError" in clash.reason else "is the same on every chip"
        if not clash.certain:
            outcome = "goes wrong with a later toolkit"
        yield Draft(
            NAME,
            NAME,
            "warning" if clash.certain else "note",
            "high" if clash.certain else "medium",
            judged.module,
            clash.at,
            f"this comparison {outcome}: {clash.reason}",
            "never depends on the device" if clash.certain else "compared as text",
            "compare like with like: a tuple with tuples, joined digits (`.to_int()`) with numbers, "
            "an enum member with members",
            judged.sets.may,
            judged.sets.must,
            None,
            judged.gate,
        )
