"""Edits that open a gate for a chip, with their proofs, or instructions where no edit is known."""

from __future__ import annotations

from dataclasses import replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.chips.wording import plain
from bwlint.fix import Job, mended
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.model.findings import Fix, NoFix
from bwlint.model.kinds import LISTED
from bwlint.rules import checks
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged

UNSEEN = "nothing shows that the code behind it has run there"
UNKNOWN = "nothing in the tree shows that the code behind it runs there"


def wanted(judged: Judged, name: str, holds: bool | None) -> ChipSet:
    """The chip with those of its family that the gate keeps out, too: a family is opened as a whole. `holds` is that of
    `opened`."""
    family, own = siblings(chip(name)), ChipSet.of(name)
    passes = not judged.denies if holds is None else holds
    return family - judged.core | own if passes else family & judged.core | own


def opened(
    context: Context, judged: Judged, root: str, chips: ChipSet, holds: bool | None, shown: tuple[str, ...]
) -> Fix | NoFix:
    """The edit after which a gate lets `chips` through: they are to pass its test where it `holds`, to fail it where
    not, or (None) to reach its working side. `shown` is what is known to work there."""
    source = Texts().source(judged.module.path)
    if source is None:
        return NoFix("the file cannot be read again")
    passes = not judged.denies if holds is None else holds
    after = judged.core | chips if passes else judged.core - chips
    remedy = Remedy("test", after, evidence="; ".join(shown) or "none", unsafe=UNSEEN if shown else UNKNOWN)
    found = _mended(context, judged, root, remedy, source)
    if isinstance(found, NoFix):
        found = _mended(context, judged, root, replace(remedy, how="admit"), source)
    if not isinstance(found, NoFix):
        return found
    if not judged.gate.is_a(*LISTED):
        return found
    return NoFix(f"{found.reason}: add {plain(chips)} by hand")


def _mended(context: Context, judged: Judged, root: str, remedy: Remedy, source: str) -> Fix | NoFix:
    rule = next(rule for rule, _ in checks() if rule.name == "excluded")
    draft = Draft(
        rule=rule,
        place=replace(DraftPlace.of_gate(judged), at=judged.at),
        severity="note",
        confidence="low",
        message="",
        label="",
        advice="",
        remedy=remedy,
    )
    return mended(Job(context, draft, remedy, judged, root, source))
