"""What mends a leak: the test without the chips for which what is behind it is not."""

from __future__ import annotations

from bwlint.chips import NONE, ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.drafts import Remedy
from bwlint.model.facts import Side
from bwlint.world.gates import Judged, refuses


def bounded(
    judged: Judged, side: Side, wrong: ChipSet, why: str, *, lacking: ChipSet = NONE, doubt: str | None = None
) -> Remedy:
    """The test that lets the `wrong` chips come to a side no more, and is as it was on all others.

    With them go those of `lacking`, whole generations of what it does not work on either. `doubt` says why the test may
    be right as it is, where no more than words speak against it.
    """
    passing = {chip.major for chip in judged.on(side) - lacking - wrong}
    gone = wrong | ChipSet.joining(chip for chip in lacking if chip.major not in passing)
    chips = judged.core - gone if side is judged.gate.yes else judged.core | gone
    if doubt is None and not refuses(judged.gate.no if side is judged.gate.yes else judged.gate.yes):
        doubt = f"who keeps {plain(gone)} out may owe it another path"
    return Remedy("test", chips, evidence=why, unsafe=doubt)
