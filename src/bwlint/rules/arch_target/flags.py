"""arch-target for flags of a build that are named after targets: a list of modules against what they compile for."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, ChipSet, siblings, spelling
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.family_evidence import place_in
from bwlint.judging.siblings import Admission, admission, calls
from bwlint.model.facts import Use
from bwlint.rules.arch_target import RULE
from bwlint.world.gates import Judged


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A flag keeps a module from a build for a chip, and the module's own list compiles it for that chip."""
    if not judged.sets.flags or judged.gate.kind != "condition":
        return
    side = judged.gate.yes
    here = judged.on(side)
    lost: dict[ChipSet, list[tuple[Use, Admission]]] = {}
    for use in calls(context, judged, side):
        found = admission(context, judged.module, use)
        if found is None or not found.chips & here:
            continue
        missing = context.targets & found.chips - here - _elsewhere(context, judged, use)
        if missing:
            lost.setdefault(missing, []).append((use, found))
    for missing, places in lost.items():
        yield _draft(context, judged, missing, places)


def _elsewhere(context: Context, judged: Judged, use: Use) -> ChipSet:
    """The chips for which other conditions of the file build the same module."""
    found = NONE
    for other in context.beside(judged.module):
        if other is judged or not other.sets.flags:
            continue
        for side in (other.gate.yes, other.gate.no):
            if any(use.name == named.name and use.at != named.at for named in side.uses):
                found |= other.on(side)
    return found


def _remedy(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Remedy:
    """The flag of the missing chip asked for too; safe where all that it lets in is compiled for that chip."""
    name = places[0][0].name.rpartition(".")[2]
    evidence = f"`{name}` is compiled for {places[0][1].chips} ({place_in(judged, places[0][1].at)})"
    known = {use.at for use, _ in places}
    for use in calls(context, judged, judged.gate.yes):
        other = use.name.rpartition(".")[2]
        if use.at not in known and spelling.numberless(other):
            return Remedy(
                "test",
                judged.core | missing,
                evidence=evidence,
                unsafe=f"`{other}` is let in too, and made for its own part",
            )
    return Remedy("test", judged.core | missing, evidence=evidence)


def _draft(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Draft:
    here = judged.on(judged.gate.yes)
    parted = any(siblings(chip) & here for chip in missing)
    name = places[0][0].name.rpartition(".")[2]
    what = f"`{name}`" if len(places) == 1 else f"`{name}` and {len(places) - 1} more"
    compiled = "which compiles" if len(places) == 1 else "which compile"
    related = [
        RelatedSpan(place.at, place.at.at, f"`{place.name}` is compiled for {place.chips}") for _, place in places[:8]
    ]
    return Draft(
        rule=RULE,
        place=DraftPlace.of_gate(judged),
        severity="warning" if parted else "note",
        confidence="high" if parted else "medium",
        message=f"a build for {plain(missing)} alone leaves out {what}, {compiled} for {plain(missing)} too",
        label=f"asks for {here & places[0][1].chips or here}",
        advice=f"ask for {plain(missing)} too"
        if parted
        else f"ask for {plain(missing)} too, or compile it when it is used",
        related=tuple(related),
        remedy=_remedy(context, judged, missing, places),
        claims=(Claimed(claims.other(f"a build for {plain(missing)} alone leaves out {what}", missing, name)),),
    )
