"""A test that another generation is let through, with what belongs to it: the words of its refusal, and the later
tests of its function or class that tell the chips apart which were let through so far. Where one of these cannot be
mended, none is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from bwlint.chips import NONE, ChipSet, group
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.chips.words import said
from bwlint.fix import Job, mended
from bwlint.fix.python import origin
from bwlint.fix.python.syntax import between
from bwlint.fix.safety import new_finding
from bwlint.judging.behind import kept_out
from bwlint.judging.drafts import DraftPlace
from bwlint.model.expr import walk
from bwlint.model.facts import Gate, Prose
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.model.kinds import LISTED
from bwlint.sources.read import SourceText
from bwlint.world.gates import Judged, answers_no, refuses

_SMALL_SHARED, _AMPERE = group("small-shared"), group("ampere")
_NAME = re.compile(r"(?:sm[ _-]?)?\d{1,3}(?:\.\d|\.?x)?", re.I)
_DEMAND = re.compile(said("demand"), re.I)
_AND = re.compile(r",?\s+(?:and|or|&)\s+")


def whole(job: Job, fix: Fix) -> Fix | NoFix:
    """The fix with the edits that belong to it, and with those of the same test elsewhere in the file, which is told
    with it; `NoFix` says which of them cannot be made.
    """
    if job.judged is None or job.module.language != "python":
        return fix
    job = replace(job, judged=origin(job, job.judged))
    edits: list[Edit] = []
    jobs = ((job, fix), *_repeated(job))
    together = {one.judged.gate.qualname.rpartition(".")[2] for one, _ in jobs if one.judged is not None}
    for one, part in jobs:
        found = part if isinstance(part, NoFix) else _parts(one, part, together)
        if isinstance(found, NoFix):
            line = one.at[0]
            return (
                found if one is job else NoFix(f"the same test at line {line} cannot be mended with it: {found.reason}")
            )
        edits += found
    fix = replace(fix, edits=tuple(dict.fromkeys(edits)))
    new = new_finding(job, fix)
    return fix if new is None else NoFix(new)


def _repeated(job: Job) -> Iterator[tuple[Job, Fix | NoFix]]:
    """The same test in other places of the file."""
    places = [one.at for one in job.draft.related if one.rule == job.draft.rule.name and one.module is job.module]
    core, chips = job.judged.core if job.judged is not None else NONE, job.remedy.chips
    moved = (core | chips) - (core & chips)
    for other in job.context.beside(job.module) if job.remedy.at is None else ():
        if other.at in places:
            theirs = _asking(job, other, other.core - moved if other.denies else other.core | moved)
            yield theirs, mended(theirs)


def _asking(job: Job, judged: Judged, chips: ChipSet) -> Job:
    """The same for another test."""
    remedy = replace(job.remedy, how="admit", chips=chips, at=None)
    draft = replace(job.draft, place=DraftPlace.of_gate(judged), remedy=remedy)
    return replace(job, draft=draft, remedy=remedy, judged=judged)


def _parts(job: Job, fix: Fix, together: Collection[str]) -> tuple[Edit, ...] | NoFix:
    """The edits of a fix with those of the words and of the later tests of its function or class."""
    judged = job.judged
    assert judged is not None
    before, after = ChipSet.of(*fix.proof.before_may), ChipSet.of(*fix.proof.after_may)
    new = before - after if judged.denies else after - before
    like = _SMALL_SHARED & judged.admitted or judged.admitted
    # what a test calls is known to be for them, and may well tell them apart
    stopped = None if judged.in_test else kept_out(job.context, judged, like, new, together)
    if (stopped := stopped or _handed_on(job, judged)) is not None:
        return NoFix(stopped)
    edits = list(fix.edits)
    for text in judged.other.texts if not judged.other.rest else ():
        told = _names(text.text)
        if not told & judged.admitted or told & new or mentioned(text.text).open_ended:
            continue
        words = _named_too(job, text, new)
        if words is None:
            return NoFix(f"the words at line {text.at[0]} name {plain(told)} alone, and want to be written anew")
        edits.append(words)
    for other in _later(job, judged):
        part = _beside(job, judged, other, new)
        if isinstance(part, NoFix):
            return part
        edits += part.edits if part is not None else ()
    return tuple(edits)


def _near(judged: Judged, gate: Gate) -> bool:
    """Whether a test stands further down in the function of another one, or in another method of its class."""
    name = judged.gate.qualname
    owner = name if name in judged.module.classes else name.rpartition(".")[0]
    if gate.qualname == name:
        return gate.at > judged.gate.at
    return owner in judged.module.classes and gate.qualname.startswith(f"{owner}.")


def _later(job: Job, judged: Judged) -> Iterator[Judged]:
    """The tests that chips come to only when they are let through, and that part those that were let through before."""
    if not (refuses(judged.other) or answers_no(judged.other) or judged.gate.kind in LISTED):
        return
    for other in job.context.beside(judged.module):
        before = judged.admitted & other.sets.live
        parted = before & other.core and before - other.core and other.gate.kind not in LISTED
        if parted and _near(judged, other.gate):
            yield other


def _handed_on(job: Job, judged: Judged) -> str | None:
    """A test that nothing here evaluates, of what the tested value was stored as, or by a chip's name: `ctx.major`."""
    known = [one.gate for one in job.context.beside(judged.module)]
    names = {node.args[-1] for node in walk(judged.gate.test) if node.op in ("var", "param", "name")}
    stored = re.compile("|".join(map(re.escape, names)) or "(?!)")
    for gate in judged.module.gates:
        if gate in known or not _near(judged, gate):
            continue
        asks = any(node.op == "attr" and stored.search(node.args[1]) for node in walk(gate.test))
        if asks or mentioned(gate.text).named:
            return f"line {gate.at[0]} asks `{gate.text}`, which nothing here follows: it has to be opened with it"
    return None


def _beside(job: Job, judged: Judged, other: Judged, new: ChipSet) -> Fix | NoFix | None:
    """The fix after which a later test has the new chips where it has 8.6 and 8.9; None where it needs none."""
    like, core = _SMALL_SHARED & judged.admitted, other.core
    told = NoFix(f"line {other.gate.at[0]} parts those that get here today: which way {plain(new)} goes there is open")
    if not like or (core & _AMPERE and not core & like):
        return None if new <= core and all(str(chip.major) in other.gate.text for chip in new) else told
    if (like <= core and new <= core) or not (like | new) & core:
        return None
    part = mended(_asking(job, other, core | new)) if like <= core else told
    return part if isinstance(part, Fix) else told


def _names(text: str) -> ChipSet:
    """The chips of a text, where "8.x" is one too."""
    return mentioned(f"SM72, {text}").named - mentioned("SM72").named


def _named_too(job: Job, text: Prose, new: ChipSet) -> Edit | None:
    """The edit after which the words of a refusal name the new chips behind the last that they name now."""
    source = SourceText(job.source)
    start, stop = source.bounds(source.region(*text.at))
    words = job.source[start:stop]
    found = [match for match in _NAME.finditer(words) if _names(match[0])]
    if not found or "{" in words:
        return None
    word = " or " if _DEMAND.search(words) else " and "
    last, joint = found[-1], words[found[-2].end() : found[-1].start()] if len(found) > 1 else word
    prefix, end = re.match(r"\D*", last[0]), ".x" if "." in last[0] else "x"
    names = [f"{prefix[0] if prefix else ''}{major}{end}" for major in sorted({chip.major for chip in new})]
    begin, written = last.end(), joint + joint.join(names)
    if _AND.fullmatch(joint) and len(found) > 1:
        begin, written = found[-2].end(), f", {last[0]}{written}"
    after = words[:begin] + written + words[last.end() :]
    if re.search(r"[^\W_]", _AND.sub("", joint)) or _names(after) != _names(words) | new:
        return None
    return between(source, job.module.path, start + begin, start + last.end(), written)
