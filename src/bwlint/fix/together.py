"""Gates and guards of one feature, opened together: one fix with edits in several places, all of them or none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from bwlint.chips import ChipSet, siblings
from bwlint.fix import Job, mended
from bwlint.judging.behind import (
    entry_lists,
    equal_refusals,
    further,
    same_refusals,
    scripts_beside,
    tells_apart,
    told_lists,
)
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.judging.guards import guards_of, same_guards
from bwlint.judging.siblings import calls
from bwlint.model.expr import Span
from bwlint.model.findings import Fix, NoFix
from bwlint.readers import reader
from bwlint.rules.arch_target import builds as arch_target
from bwlint.rules.family_split import guard as family_split
from bwlint.rules.family_split import reasons
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.sources.tree import package_root
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged

_SILENCED = re.compile(r"bwlint:\s*ignore")


def changed(job: Job, fix: Fix) -> tuple[ChipSet, ChipSet] | None:
    """Who gets to the working side now, of a family that is to get there, and who does after the fix."""
    judged = job.judged
    if judged is None or job.remedy.how != "test" or fix.kind not in ("family", "type"):
        return None
    before, after = (ChipSet.of(*names) for names in (fix.proof.before_may, fix.proof.after_may))
    missing = before - after if judged.denies else after - before
    if fix.kind == "type":  # a literal stands for itself; its twin is what the fix adds
        moved = before - after | after - before
        missing = ChipSet.where(lambda chip: str(chip.joined) not in judged.gate.text) & moved
    held = ChipSet.joining(twin for chip in missing for twin in siblings(chip)) - missing
    return (held, missing) if missing and held else None


def together(job: Job, fix: Fix) -> list[tuple[Job, Fix]] | NoFix:
    """A fix and those of the places that belong to it; `NoFix` says which of them cannot be mended."""
    if job.remedy.how == "guard":
        return _guards(job, fix)
    if job.remedy.how == "carry":
        return _conditions(job, fix)
    parts, found = changed(job, fix), [(job, fix)]
    if parts is None or job.judged is None or fix.kind != "family":
        return found
    for other, root in _gates(job.context, job.judged, *parts):
        source = Texts().source(other.module.path)
        if _silenced(source or "", other.gate.at):
            continue
        theirs = _job(job, other, root, source or "", *parts)
        mend = mended(theirs)
        if isinstance(mend, NoFix) or source is None:
            return NoFix(f"the same check is at {other.place or other.module.path}:{other.gate.at[0]}")
        found.append((theirs, mend))
    return found


def gathered(job: Job, fix: Fix) -> Fix | NoFix:
    """A fix of a guard that a person is to look at, with those of the guards that ask the same; all of them or none."""
    parts = _guards(job, fix)
    if isinstance(parts, NoFix):
        return parts
    edits = dict.fromkeys(edit for _, part in parts for edit in part.edits)
    builds = {one.edits: one for one in _builds(job) if isinstance(one, Fix)}
    if not builds:
        return replace(fix, edits=tuple(edits))
    told = " and ".join(
        dict.fromkeys(one.proof.evidence.rpartition("(unsafe: ")[2].rstrip(")") for one in builds.values())
    )
    evidence = f"{fix.proof.evidence.partition('(unsafe: ')[0]}(unsafe: {told})"
    every = dict.fromkeys((*edits, *(edit for found in builds for edit in found)))
    return replace(fix, edits=tuple(every), proof=replace(fix.proof, evidence=evidence))


def _builds(job: Job) -> Iterator[Fix | NoFix]:
    """The fixes of the builds of a file that make nothing for the chips that a guard will let through."""
    guarded, context, texts = job.guarded, job.context, Texts()
    parted = family_split.parts(context, guarded) if guarded is not None else None
    if parted is None or parted[1] <= runs_on(context.builds.of(job.module)):
        return
    for path in dict.fromkeys(path for path, _ in context.builds.placed(job.module.path)):
        build = context.builds.load(path)
        for draft in arch_target.check_file(context, build) if build is not None else ():
            if isinstance(draft.remedy, Remedy) and draft.remedy.how == "carry" and parted[1] <= draft.remedy.chips:
                yield mended(Job(context, draft, draft.remedy, None, job.root, texts.source(path) or ""))


def _job(job: Job, judged: Judged, root: str, source: str, held: ChipSet, missing: ChipSet) -> Job:
    """The same change at another gate: who comes there now goes the way of its twin."""
    chips = judged.core | missing if held & judged.core else judged.core - missing
    draft = replace(job.draft, place=DraftPlace.of_gate(judged))
    remedy = Remedy("test", chips, evidence=job.remedy.evidence, unsafe=job.remedy.unsafe)
    return Job(job.context, draft, remedy, judged, root, source)


def _gates(context: Context, judged: Judged, held: ChipSet, missing: ChipSet) -> Iterator[tuple[Judged, str]]:
    """The gates that belong to one, with their package roots: those behind it, its equals, lists and scripts."""
    root = package_root(judged.module.path)
    yield from ((one, root) for one in further(context, judged, held, missing))
    yield from equal_refusals(context, judged, held, missing)
    yield from told_lists(context, judged, held, missing)
    copies = list(same_refusals(context, judged, held, missing))
    yield from copies
    for one in (judged, *(copy for copy, _ in copies)):
        yield from scripts_beside(context, one, held, missing)
    for use in calls(context, judged, judged.gate.yes) if judged.sets.flags else ():
        for other, root in entry_lists(context, judged.module, use.name.rpartition(".")[2]):
            if tells_apart(other, held, missing):
                yield other, root


def _guards(job: Job, fix: Fix) -> list[tuple[Job, Fix]] | NoFix:
    """A fix of a guard and those of the guards that part the same twins for the same reason."""
    found, texts = [(job, fix)], Texts()
    mine = job.guarded
    parted = family_split.parts(job.context, mine) if mine is not None and fix.kind == "family" else None
    if mine is None or parted is None:
        return found
    for other, same in same_guards(job.context, mine, *parted):
        draft = next(family_split.check_guard(job.context, other), None)
        if draft is None or (draft.severity == "note" and not same):
            continue
        source = job.source if other.module is job.module else texts.source(other.module.path) or ""
        if _silenced(source, other.guard.at):
            continue
        theirs = _mended(job, draft, source, sure=same and not reasons.hinted(other.guard.comment))
        if isinstance(theirs, NoFix) and same:
            return NoFix(
                f"the guard at {_place(other.module.path, other.guard.at)} makes the same check: {theirs.reason}"
            )
        if not isinstance(theirs, NoFix):
            found.append(theirs)
    macros = _macros(job)
    return found if macros is None else [*found, macros]


def _macros(job: Job) -> tuple[Job, Fix] | None:
    """The fix of macros that are named after the part in the headers of a file: what it guards rests on them."""
    for header in job.context.tree.headers.included(job.module):
        for one in job.context.guards.setdefault(header.path, guards_of(job.context.tree, header)):
            draft = next(family_split.check_guard(job.context, one), None)
            if draft is None or not isinstance(draft.remedy, Remedy) or draft.remedy.how != "macros":
                continue
            theirs = Job(job.context, draft, draft.remedy, None, job.root, "")
            mend = mended(theirs)
            return (theirs, mend) if isinstance(mend, Fix) and mend.applicability == "safe" else None
    return None


def _mended(job: Job, draft: Draft, source: str, *, sure: bool) -> tuple[Job, Fix] | NoFix:
    """The fix of another finding, where it is safe; `sure`: it asks the same, so what shows that is shown."""
    if not isinstance(draft.remedy, Remedy):
        return draft.remedy or NoFix("nothing says how to mend it")
    remedy = replace(draft.remedy, unsafe=None) if sure else draft.remedy
    theirs = Job(job.context, draft, remedy, None, job.root, source)
    mend = mended(theirs)
    if isinstance(mend, Fix) and mend.applicability == "safe":
        return theirs, mend
    return mend if isinstance(mend, NoFix) else NoFix("it is not mended safely")


def _conditions(job: Job, fix: Fix) -> list[tuple[Job, Fix]] | NoFix:
    """A fix of a condition over what is built for, and those of the same condition in other files."""
    found, texts = [(job, fix)], Texts()
    asked = next((one.name for one in job.module.carries if one.at == job.at and one.kind == "match"), "")
    hits = job.context.search(job.module).word("build", asked) if asked else ()
    for path in dict.fromkeys(hit.file.real for hit in hits if hit.file.real != job.module.path):
        source = texts.source(path) or ""
        module = reader("build").read(path, source, "", False, frozenset())
        for carry in module.carries:
            if (carry.kind, carry.name) != ("match", asked):
                continue
            place = replace(job.draft.place, module=module, at=carry.at)
            remedy = replace(job.remedy, at=carry.at)
            theirs = Job(job.context, replace(job.draft, place=place), remedy, None, job.root, source)
            mend = mended(theirs)
            if isinstance(mend, NoFix):
                return NoFix(f"the same condition stands at {_place(path, carry.at)}")
            found.append((theirs, mend))
    return found


def _silenced(source: str, at: Span) -> bool:
    """Whether a comment at a place, or above it, says that it is to be left as it is."""
    text = SourceText(source)
    return any(_SILENCED.search(text.line(number)) for number in range(max(1, at[0] - 1), at[2] + 1))


def _place(path: str, at: Span) -> str:
    """A place in words: the folder is said where every file has the same name."""
    return f"{'/'.join(PurePath(path).parts[-2:])}:{at[0]}"
