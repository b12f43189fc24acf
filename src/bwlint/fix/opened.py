"""A test that lets another generation in, with the same test elsewhere and later ones that part those let in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from bwlint.chips import ChipSet, group
from bwlint.chips.mentions import from_generation, mentioned, of_generation
from bwlint.chips.wording import plain
from bwlint.fix import Job, mended
from bwlint.fix.python import origin
from bwlint.fix.safety import another
from bwlint.judging.behind import kept_out
from bwlint.judging.drafts import DraftPlace
from bwlint.model.expr import walk
from bwlint.model.facts import Gate
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.model.kinds import LISTED
from bwlint.world.gates import Judged, answers_no, refuses

_WORD = re.compile(r"[a-z]+")
_SMALL_SHARED, _AMPERE = group("small-shared"), group("ampere")


def with_parts(job: Job, fix: Fix) -> Fix | NoFix:
    """The fix with the edits that belong to it; `NoFix` says which of them cannot be made."""
    if job.judged is None or job.module.language != "python":
        return fix
    judged, rule = origin(job, job.judged), job.draft.rule.name
    before, after = ChipSet.of(*fix.proof.before_may), ChipSet.of(*fix.proof.after_may)
    new = before - after | after - before
    places = [one.at for one in job.draft.related if one.rule == rule and one.module is job.module]
    repeated = [one for one in job.context.beside(job.module) if one.at in places]
    opened = {one.gate.qualname.rpartition(".")[2] for one in (judged, *repeated)}
    edits: list[Edit] = []
    for one in (judged, *repeated):
        mend = fix if one is judged else mended(_asking(job, one, one.core - new if one.denies else one.core | new))
        found = mend if isinstance(mend, NoFix) else _parts(job, one, mend, new, opened)
        if isinstance(found, NoFix):
            return (
                found if one is judged else NoFix(f"the same test at line {one.at[0]} stays as it is: {found.reason}")
            )
        edits += found
    fix = replace(fix, edits=tuple(dict.fromkeys(edits)))
    left = another(job, fix)
    return fix if left is None else NoFix(left.reason)


def _asking(job: Job, judged: Judged, chips: ChipSet) -> Job:
    """The same for another test."""
    remedy = replace(job.remedy, how="admit", chips=chips)
    draft = replace(job.draft, place=DraftPlace.of_gate(judged), remedy=remedy)
    return replace(job, draft=draft, remedy=remedy, judged=judged)


def _parts(job: Job, judged: Judged, fix: Fix, new: ChipSet, opened: Collection[str]) -> list[Edit] | NoFix:
    """The edits of a fix with those of the later tests of its function or class."""
    like = _SMALL_SHARED & judged.admitted or judged.admitted
    # what a test calls is known to be for them, and may well tell them apart
    stopped = None if judged.in_test else kept_out(job.context, judged, like, new, opened)
    if (stopped := stopped or _handed_on(job, judged)) is not None:
        return NoFix(stopped)
    edits = list(fix.edits)
    for text in judged.other.texts if not judged.other.rest else ():
        told = mentioned(f"SM72, {text.text}")  # "8.x" is a chip in a list of them
        named = told.named | of_generation(_WORD.findall(text.text.lower()))
        is_open = told.open_ended or from_generation(text.text) & new
        if named & judged.admitted and not named & new and not is_open:
            return NoFix(f"the text at line {text.at[0]} names the other chips only: rewrite it with the check")
    for part in _later(job, judged, new):
        if isinstance(part, NoFix):
            return part
        edits += part.edits
    return edits


def _near(judged: Judged, gate: Gate) -> bool:
    """Whether a test stands further down in the function of another one, or in another method of its class."""
    name, classes = judged.gate.qualname, judged.module.classes
    owner = name if name in classes else name.rpartition(".")[0]
    if gate.qualname == name:
        return gate.at > judged.gate.at
    return owner in classes and gate.qualname.startswith(f"{owner}.")


def _later(job: Job, judged: Judged, new: ChipSet) -> Iterator[Fix | NoFix]:
    """The fixes of the tests that part those who were let in so far: the new chips go where 8.6 and 8.9 go."""
    if not (refuses(judged.other) or answers_no(judged.other) or judged.gate.kind in LISTED):
        return
    for other in job.context.beside(judged.module):
        before, core = judged.admitted & other.sets.live, other.core
        if not before & core or before <= core or other.gate.kind in LISTED or not _near(judged, other.gate):
            continue
        like = _SMALL_SHARED & judged.admitted
        told = NoFix(f"line {other.gate.at[0]} splits the chips that get here: decide which branch {plain(new)} takes")
        if not like or (core & _AMPERE and not core & like):
            if not (new <= core and all(str(chip.major) in other.gate.text for chip in new)):
                yield told
        elif (like | new) & core and not like | new <= core:
            part = mended(_asking(job, other, core | new)) if like <= core else told
            yield part if isinstance(part, Fix) else told


def _handed_on(job: Job, judged: Judged) -> str | None:
    """A test that nothing here evaluates, of what the tested value was stored as, or by a chip's name: `ctx.major`."""
    known = [one.gate for one in job.context.beside(judged.module)]
    names = {node.args[-1] for node in walk(judged.gate.test) if node.op in ("var", "param", "name")}
    for gate in judged.module.gates:
        if gate in known or not _near(judged, gate):
            continue
        stored = [node.args[1] for node in walk(gate.test) if node.op == "attr"]
        if mentioned(gate.text).named or any(name in each for name in names for each in stored):
            return f"line {gate.at[0]} checks `{gate.text}`, which bwlint cannot follow: open both by hand"
    return None
