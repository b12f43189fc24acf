"""Gates of one feature, opened together: one fix with edits in several files, all of them or none."""

from __future__ import annotations

from dataclasses import replace

from bwlint.chips import ChipSet, siblings
from bwlint.fix import Job, mended
from bwlint.judging.behind import same_refusals
from bwlint.judging.drafts import DraftPlace, Remedy
from bwlint.model.findings import Fix, NoFix
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged


def changed(job: Job, fix: Fix) -> tuple[ChipSet, ChipSet] | None:
    """Who gets to the working side now, of a family that is to get there, and who does after the fix."""
    judged = job.judged
    if judged is None or job.remedy.how != "test" or fix.kind not in ("family", "type"):
        return None
    before, after = (ChipSet.of(*names) for names in (fix.proof.before_may, fix.proof.after_may))
    missing = before - after if judged.denies else after - before
    if fix.kind == "type":  # a literal stands for itself; its twin is what the fix adds
        missing = ChipSet.where(lambda chip: str(chip.joined) not in judged.gate.text) & (before | after)
    held = ChipSet.joining(twin for chip in missing for twin in siblings(chip)) - missing
    return (held, missing) if missing and held else None


def together(job: Job, fix: Fix) -> list[tuple[Job, Fix]] | NoFix:
    """A fix and those of the gates that refuse in the same words; `NoFix` says which of them cannot be mended."""
    parts, found = changed(job, fix), [(job, fix)]
    if parts is None or job.judged is None or fix.kind != "family":
        return found
    for other, root in same_refusals(job.context, job.judged, *parts):
        source = Texts().source(other.module.path)
        theirs = _job(job, other, root, source or "", parts[1])
        mend = mended(theirs)
        if isinstance(mend, NoFix) or source is None:
            return NoFix(f"the same refusal stands at {other.place or other.module.path}:{other.gate.at[0]}")
        found.append((theirs, mend))
    return found


def _job(job: Job, judged: Judged, root: str, source: str, missing: ChipSet) -> Job:
    """The same change at another gate."""
    chips = judged.core - missing if judged.denies else judged.core | missing
    draft = replace(job.draft, place=DraftPlace.of_gate(judged))
    return Job(job.context, draft, Remedy("test", chips, evidence=job.remedy.evidence), judged, root, source)
