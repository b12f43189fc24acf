"""capability-type: a comparison that has the same answer on every chip because of its types, or raises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import EVERY, NONE, ChipSet, siblings
from bwlint.evaluate.expr import Expr, walk
from bwlint.evaluate.objects import Clash
from bwlint.judge import Context, Draft, Remedy
from bwlint.judged import Judged

NAME = "capability-type"


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    yield from _enum_range(judged)
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
            remedy=_remedy(clash, judged),
        )


def _remedy(clash: Clash, judged: Judged) -> Remedy | None:
    wanted = _wanted(clash, judged)
    return Remedy("test", wanted, "the literals say which chips are meant") if wanted is not None else None


def _enum_range(judged: Judged) -> Iterator[Draft]:
    """`Arch.sm_103 <= arch <= Arch.sm_103f`: the order of names stands in for a family."""
    bounds = [node for node in walk(judged.gate.test) if _is_bound(node)]
    if {op for node in bounds for op in node.args[0].split(",")} & {">=", ">"} and len(_members(bounds)) == 2:
        yield Draft(
            NAME,
            NAME,
            "note",
            "low",
            judged.module,
            judged.gate.at,
            "a range over an ordered architecture enum: every name sorted in between passes, whatever its family",
            f"true on {judged.core}",
            "ask `is_family_of`",
            judged.may,
            judged.must,
            None,
            judged.gate,
        )


def _is_bound(node: Expr) -> bool:
    ordered = node.op == "cmp" and bool(set(node.args[0].split(",")) & {"<", "<=", ">", ">="})
    return ordered and bool(_members([node]))


def _members(nodes: list[Expr]) -> set[str]:
    """Names of enum members that comparisons mention."""
    found = (inner for node in nodes for inner in walk(node) if inner.op == "attr")
    return {inner.args[1] for inner in found if re.fullmatch(r"sm_\d{2,3}[af]?", inner.args[1])}


def _wanted(clash: Clash, judged: Judged) -> ChipSet | None:
    """The chips that the literals of a comparison say, families completed; None where that is not plain."""
    values = clash.other if isinstance(clash.other, list | tuple | set | frozenset) else (clash.other,)
    if clash.op not in ("==", "!=", "in", "not in") or judged.gate.test.op != "cmp":
        return None
    said = NONE
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 50:
            return None
        chips = ChipSet.where(lambda chip: chip.joined == value)  # noqa: B023
        for chip in chips:
            said |= siblings(chip)
    return said if clash.op in ("==", "in") else EVERY - said
