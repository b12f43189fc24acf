"""Edits that carry a proof: who passes a test before and after, each computed by the reader that found the fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from importlib import import_module
from itertools import pairwise
from typing import cast

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, Mending, Remedy
from bwlint.judging.family_evidence import exact_target
from bwlint.judging.guards import Guarded
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.findings import Applicability, Edit, Fix, NoFix
from bwlint.world.gates import Judged

__all__ = ["Job", "propose"]


@dataclass(frozen=True, slots=True)
class Job:
    """One finding that is to be mended.

    `judged` is the gate of the finding where it is one of the running program, `root` the folder that the imports of
    the file start from, `source` the text that `draft.module` was read from. `known` are the edits of a build in
    whose place others are asked for.
    """

    context: Context
    draft: Draft
    remedy: Remedy
    judged: Judged | None
    root: str
    source: str
    known: frozenset[Edit] = frozenset()

    @property
    def module(self) -> Module:
        return self.draft.module

    @property
    def at(self) -> Span:
        """The place to mend: that of the finding, unless the remedy names another one."""
        return self.remedy.at or self.draft.at

    @property
    def evidence(self) -> str:
        """What speaks for a fix, and why a person should look at it all the same."""
        told, unsafe = self.remedy.evidence, self.remedy.unsafe
        return f"{told} (unsafe: {unsafe})" if unsafe else told

    @property
    def applicability(self) -> Applicability:
        return "unsafe" if self.remedy.unsafe else "safe"

    @property
    def guarded(self) -> Guarded | None:
        """The guard of the preprocessor that the finding is about."""
        found = (one for one in self.context.guards[self.module.path] if one.guard is self.draft.gate)
        return next(found, None)


MOST_PROVED = 8 * 1024 * 1024
"""Characters of one file that its proofs read: each reads all of it, and a generated file may have thousands."""

_FIXERS: dict[tuple[Mending, str], str] = {
    ("test", "python"): "python",
    ("order", "python"): "python.order",
    ("names", "python"): "python.listed",
    ("rows", "python"): "python.rows",
    ("admit", "python"): "python.admits",
    ("test", "cuda"): "cuda",
    ("guard", "cuda"): "cuda",
    ("carry", ""): "buildfiles",
    ("text", ""): "text",
    ("promise", ""): "text",
    ("size", ""): "size",
    ("space", ""): "space",
    ("release", ""): "release",
    ("wrapper", "cuda"): "cuda.wrapper",
    ("status", "cuda"): "cuda.status",
    ("status", "python"): "python.fallback",
    ("macros", "cuda"): "cuda.macros",
    ("answer", "cuda"): "cuda.answers",
    ("meaning", ""): "meaning",
    ("parts", ""): "meaning",
    ("imported", "python"): "python.imported",
}
"""What is to be mended, and in which language ("" = any): the module of this package that does it."""


def propose(job: Job) -> Fix | NoFix:
    """The fix that brings about what the remedy of a finding asks for, or why there is none."""
    proved, path = job.context.proved, job.module.path
    if proved[path] > MOST_PROVED:
        return NoFix("the file has too many findings to prove at once: apply its fixes and run bwlint again")
    proved[path] += len(job.source)
    arm = next((one for one in job.context.beside(job.module) if one.at == job.remedy.at), None)
    if arm is not None and job.remedy.how in ("test", "admit"):  # another one of the chain
        job = replace(job, judged=arm, remedy=replace(job.remedy, at=None))
    fix = mended(job)
    if isinstance(fix, Fix) and fix.kind == "admit":
        from bwlint.fix.opened import with_parts

        fix = with_parts(job, fix)
    if isinstance(fix, NoFix):
        return fix
    from bwlint.fix.laid_out import laid_out
    from bwlint.fix.python import origin
    from bwlint.fix.safety import settled
    from bwlint.fix.together import gathered, together

    if fix.applicability == "unsafe":
        whole = gathered(job, fix) if job.remedy.how == "guard" else fix
        if whole == fix and job.judged is not None and job.module.language == "python":
            parts = together(replace(job, judged=origin(job, job.judged)), fix)
            edits = [] if isinstance(parts, NoFix) else [edit for _, part in parts for edit in part.edits]
            whole = parts if isinstance(parts, NoFix) else replace(fix, edits=tuple(dict.fromkeys(edits)))
        if isinstance(whole, NoFix):
            return whole
        return _helping(job, whole)
    safe, named = settled(job, fix), job.remedy.named
    if safe.applicability == "safe":
        return laid_out(job, safe)
    if not named or named == job.remedy.chips:
        return _helping(job, safe)
    alone = replace(job, remedy=replace(job.remedy, chips=named))
    fix = mended(alone)
    fix = fix if isinstance(fix, NoFix) else settled(alone, fix)
    return laid_out(job, safe if isinstance(fix, NoFix) or fix.applicability == "unsafe" else fix)


def _helping(job: Job, fix: Fix) -> Fix | NoFix:
    """An unsafe fix, unless it is a bound that leaves the fault or only moves it to another place."""
    from bwlint.fix.change import unsafe
    from bwlint.fix.laid_out import laid_out
    from bwlint.fix.safety import another

    left = another(job, fix) if fix.kind == "bound" else None
    if left is not None and not left.of_words:
        return NoFix(left.reason)
    return laid_out(job, fix if left is None else unsafe(fix, left.reason))


def joined(fix: Fix, more: Fix | NoFix) -> Fix:
    """A fix with that of another place of its fault, where both can be made at once and the other is as sure."""
    if isinstance(more, NoFix) or more.applicability > fix.applicability:
        return fix
    edits = sorted({*fix.edits, *more.edits}, key=lambda edit: (edit.path, astuple(edit.region)))
    collide = (a.path == b.path and astuple(a.region)[2:] >= astuple(b.region)[:2] for a, b in pairwise(edits))
    return fix if any(collide) else replace(fix, edits=tuple(edits))


def mended(job: Job) -> Fix | NoFix:
    """The same, for this place alone."""
    how = job.remedy.how
    name = _FIXERS.get((how, job.module.language)) or _FIXERS.get((how, ""))
    if name is None:
        cpp = job.module.language == "cuda"
        return NoFix("C++ is not rewritten for this" if cpp else "files of this kind are not rewritten")
    mend = cast(Callable[[Job], Fix | NoFix], import_module(f"bwlint.fix.{name}").mend)
    fix = mend(job)
    return fix if isinstance(fix, NoFix) else _misled(job, fix) or fix


def _misled(job: Job, fix: Fix) -> NoFix | None:
    """Why a test is not changed: it would send chips to a target that they do not load."""
    if job.judged is None or job.remedy.how not in ("test", "admit", "order"):
        return None
    before, after = (ChipSet.of(*names) for names in (fix.proof.before_may, fix.proof.after_may))
    for moved, company in ((after - before, before), (before - after, ~before)):
        exact = exact_target(job.context, job.judged, moved, company) if moved else None
        if exact is not None:
            return NoFix(f"first build a target that {plain(moved)} loads: {exact} is picked there")
    return None


def ways(job: Job, usual: Fix | NoFix) -> tuple[Fix, ...]:
    """What may be done about a finding, the usual first; nothing where that is safe, or there is nothing else."""
    from bwlint.fix.laid_out import laid_out

    found = [usual] if isinstance(usual, Fix) else []
    if any(fix.applicability == "safe" for fix in found):
        return ()
    for other in _others(job, found):
        fix = mended(other)
        if isinstance(fix, Fix) and all({*fix.edits} != {*one.edits} for one in found):
            found.append(replace(laid_out(job, fix), applicability="unsafe"))
    return tuple(found) if found != [usual] else ()


def _others(job: Job, found: list[Fix]) -> Iterator[Job]:
    if job.remedy.how == "carry" and found:  # one image for a family, or one for each of its members
        yield replace(job, known=frozenset(found[0].edits))
    if job.judged is None or job.remedy.how not in ("test", "admit"):
        return
    core, wanted, asked = job.judged.core, job.remedy.chips, job.context.targets
    fewer = (core | wanted & asked) - (asked - wanted)  # only chips that somebody asks for move
    legal = core if job.draft.legal is None else core & job.draft.legal  # all move on which it does not work
    for chips in {fewer: None, legal: None} if wanted <= core else (fewer,):
        if chips and chips not in (core, wanted):
            apart = plain(chips - wanted | wanted - chips)
            remedy = replace(job.remedy, chips=chips, unsafe=f"the usual edit does something else with {apart}")
            yield replace(job, remedy=remedy)
