"""capability-type: a comparison that has the same answer on every chip because of its types, or raises; a lower bound
that asks for major and minor apart: later chips with a small minor fail it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from bwlint.chips import EVERY, NONE, ChipSet, chip_of_number, group, siblings, spelling
from bwlint.chips.wording import called
from bwlint.evaluate.objects import Clash
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.model.expr import Expr, Span, walk
from bwlint.model.findings import NoFix
from bwlint.model.kinds import LISTED
from bwlint.world.gates import Judged

_ALIKE = "Compare a tuple with tuples, joined digits (`.to_int()`) with numbers, an enum member with members."
_NUMBERS = "Compare numbers: `tuple(map(int, version.split('.')[:2])) >= (12, 8)`."
_ORDERED_YET = "today's releases sort alike as texts: nothing fails yet"
_LEAST = {"and": {">=": 0, ">": 1}, "or": {"<": 0, "<=": 1}}
"""By how comparisons are joined, those that are a lower bound, or what fails one, with what they add to its number."""
_MAJORS = [chip.major for chip in EVERY]
_MINORS = [chip.minor for chip in EVERY]


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    yield from _asked_apart(context, judged)
    yield from _enum_range(context, judged)
    for clash in judged.sets.clashes:
        if clash.at is None or clash.path != judged.module.path:
            continue  # that of a helper is told in the helper's file
        outcome = "raises TypeError" if "TypeError" in clash.reason else "has one result on every chip"
        if not clash.certain:
            outcome = "gives a wrong result with a later toolkit"
        yield Draft(
            place=DraftPlace(
                module=judged.module, at=clash.at, admitted=judged.sets.may, certain=judged.sets.must, gate=judged.gate
            ),
            severity="warning" if clash.certain else "note",
            confidence="high" if clash.certain else "medium",
            message=f"This comparison {outcome}: {clash.reason.removesuffix(': TypeError')}.",
            label="never depends on the device" if clash.certain else "compared as text",
            advice=_ALIKE if clash.certain else _NUMBERS,
            remedy=_remedy(clash, judged),
            claims=() if clash.certain else (_to_be_seen(context, clash.reason),),
            compares=EVERY if clash.certain else NONE,
        )


def _to_be_seen(context: Context, says: str) -> Claimed:
    """What today's answers on chips do not show."""
    return Claimed(claims.other(says, context.targets))


def _remedy(clash: Clash, judged: Judged) -> Remedy | None:
    if not clash.certain:
        return Remedy("order", judged.core, evidence="the text is read as a release", unsafe=_ORDERED_YET)
    wanted, named = (_wanted(judged.gate.test, clash, families=each) for each in (True, False))
    if wanted is None or named is None:
        return None
    return Remedy("test", wanted, named=named, evidence="the literals say which chips are meant")


def _enum_range(context: Context, judged: Judged) -> Iterator[Draft]:
    """`Arch.sm_103 <= arch <= Arch.sm_103f`: the order of names stands in for a family."""
    bounds = [node for node in walk(judged.gate.test) if _is_bound(node)]
    below = {op for node in bounds for op in node.args[0].split(",")} & {">=", ">"}
    chained = any("," in node.args[0] for node in bounds)
    if (below or chained) and len(_members(bounds)) == 2:
        yield Draft(
            place=DraftPlace.of_gate(judged, judged.gate.at),
            severity="note",
            confidence="low",
            message=(
                "This range compares members of an enum by their order, and is right today."
                " A member that is added in between will pass, whatever its family."
            ),
            label=judged.told(judged.gate.yes, judged.core),
            advice="Check the family with `is_family_of`, if your release of CuTe DSL has it.",
            remedy=_beside_others(
                context, judged, _of_families(judged, bounds, _asks_families(context, judged, bounds))
            ),
            claims=(_to_be_seen(context, "the order of names in an enum is no order of what chips have"),),
        )


def _beside_others(context: Context, judged: Judged, remedy: Remedy | NoFix) -> Remedy | NoFix:
    """What changes nothing on any chip, or one arm of several that ask by the order, is left to a person."""
    if not isinstance(remedy, Remedy) or remedy.unsafe:
        return remedy
    if remedy.chips == judged.core:
        return replace(remedy, unsafe="the edit would keep plain targets out")
    if not judged.gate.chain:
        return remedy
    for other in context.within(judged):
        same = other is not judged and other.gate.chain == judged.gate.chain
        if same and any(_is_bound(node) for node in walk(other.gate.test)):
            return replace(remedy, unsafe="the branches beside it use the order of the names too")
    return remedy


def _asks_families(context: Context, judged: Judged, bounds: list[Expr]) -> bool:
    """Whether the enum can be asked for a family: one with `f` names can, and so can one that its project asks."""
    if any(name.endswith("f") for name in _members(bounds)):
        return True
    return bool(context.search(judged.module).word("python", "is_family_of"))


def _is_bound(node: Expr) -> bool:
    ordered = node.op == "cmp" and bool(set(node.args[0].split(",")) & {"<", "<=", ">", ">="})
    return ordered and bool(_members([node]))


def _members(nodes: list[Expr]) -> set[str]:
    """Names of enum members that comparisons mention."""
    found = (inner for node in nodes for inner in walk(node) if inner.op == "attr")
    return {inner.args[1] for inner in found if spelling.member(inner.args[1])}


def _wanted(test: Expr, clash: Clash, *, families: bool) -> ChipSet | None:
    """The chips on which a test holds once one comparison of it does what it says, whatever else it asks."""
    if test.op == "cmp":
        return _said(clash, families) if test.at == clash.at else None
    if test.op == "not":
        inner = _wanted(test.args[0], clash, families=families)
        return None if inner is None else EVERY - inner
    if test.op in ("and", "or"):
        found = [each for item in test.args[0] if (each := _wanted(item, clash, families=families)) is not None]
        return found[0] if len(found) == 1 else None
    return None


def _said(clash: Clash, families: bool) -> ChipSet | None:
    """The chips that the literals of a comparison say, or their families; None where that is not plain."""
    values = clash.other if isinstance(clash.other, list | tuple | set | frozenset) else (clash.other,)
    if clash.op not in ("==", "!=", "in", "not in"):
        return None
    said = NONE
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool) or value < 50:
            return None
        chips = [chip for chip in EVERY if chip.joined == value]
        said |= ChipSet.union(map(siblings, chips)) if families else ChipSet.joining(chips)
    return said if clash.op in ("==", "in") else EVERY - said


def _of_families(judged: Judged, bounds: list[Expr], has_method: bool) -> Remedy | NoFix:
    """The families from the first name to the last: of a range they may add parts that nobody has yet."""
    numbers = sorted(int(re.sub(r"\D", "", name)) for name in _members(bounds))
    low, high = chip_of_number(numbers[0]), chip_of_number(numbers[-1])
    if low is None or high is None:
        return NoFix("a name of the range is that of no chip")
    majors = {chip.major for chip in judged.core}
    wanted = ChipSet.where(lambda chip: chip.major in majors and (chip.major > low.major or chip.minor >= low.minor))
    gained = wanted - judged.core
    if judged.core - wanted or gained - group("announced") or majors != {low.major, high.major}:
        return (
            NoFix(f"a test of the family would hold on {gained} too") if gained else NoFix("the range is of no family")
        )
    if not has_method:
        return NoFix("nothing here shows that the enum has `is_family_of`")
    return Remedy("order", wanted, evidence="the range goes from the first to the last name of its families")


@dataclass(frozen=True, slots=True)
class _PartBound:
    """A comparison of one part of the capability with a number."""

    sign: str
    number: int
    at: Span


def _asked_apart(context: Context, judged: Judged) -> Iterator[Draft]:
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
