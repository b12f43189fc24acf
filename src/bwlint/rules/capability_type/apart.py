"""capability-type: a lower bound that asks for major and minor apart: later chips with a small minor fail it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.chips.wording import called
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.findings import NoFix
from bwlint.model.kinds import LISTED
from bwlint.rules.capability_type import RULE
from bwlint.world.gates import Judged

_LEAST = {"and": {">=": 0, ">": 1}, "or": {"<": 0, "<=": 1}}
"""By how comparisons are joined, those that are a lower bound, or what fails one, with what they add to its number."""
_MAJORS = [chip.major for chip in EVERY]
_MINORS = [chip.minor for chip in EVERY]


@dataclass(frozen=True, slots=True)
class _PartBound:
    """A comparison of one part of the capability with a number."""

    sign: str
    number: int
    at: Span


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    if judged.gate.kind in LISTED or judged.sets.guessed:
        return
    for node in walk(judged.gate.test):
        parts = list(node.args[0]) if node.op in _LEAST else []
        signs = _LEAST.get(node.op, {})
        compared = [one for one in parts if one.op == "cmp" and one.args[0] in signs and one.at is not None]
        major, minor = (_bound(context, judged, compared, each) for each in (_MAJORS, _MINORS))
        if major is None or minor is None or not judged.gate.at.holds(major.at.through(minor.at)):
            continue
        least = major.number + signs[major.sign], minor.number + signs[minor.sign]
        newer = ChipSet.where(lambda chip: (chip.major, chip.minor) >= least and chip.minor < least[1])  # noqa: B023
        if newer & context.targets & judged.sets.live:
            yield _draft(context, judged, (major, minor), least, newer)


def _bound(context: Context, judged: Judged, compared: list[Expr], on_chips: list[int]) -> _PartBound | None:
    """The comparison whose left side is a part of the capability, by what it is on every chip."""
    for one in compared:
        part, number = (context.tree.value(judged.module, side) for side in one.args[1][:2])
        if part.device and list(part.lanes) == on_chips and isinstance(number.only(), int) and one.at is not None:
            return _PartBound(one.args[0], number.only(), one.at)
    return None


def _draft(
    context: Context, judged: Judged, bounds: tuple[_PartBound, _PartBound], least: tuple[int, int], newer: ChipSet
) -> Draft:
    first, second = sorted((bounds[0].at, bounds[1].at))
    wanted, wrong = f"{least[0]}.{least[1]}", newer & context.targets
    remedy = Remedy("parts", evidence="a capability is one number", unsafe="later chips then take this path")
    both = f"(major, minor) >= {least}"
    if judged.module.language == "cuda":
        both = f"major > {least[0]} || (major == {least[0]} && minor >= {least[1]})"
    says = f"This compares the major and the minor apart. {called(wrong)} are newer than {wanted} and fail it"
    return Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged, first.through(second)),
        severity="warning",
        confidence="high",
        message=f"{says}: their minor is below {least[1]}.",
        label=f"meant as {wanted} or newer",
        advice=f"Compare both at once: `{both}`.",
        related=(RelatedSpan(judged.module, bounds[1].at, f"false for every chip whose minor is below {least[1]}"),),
        remedy=remedy if bounds[0].at < bounds[1].at else NoFix("the minor comes first: rewrite it by hand"),
        claims=(Claimed(claims.other(says, wrong)),),
    )
