"""A test that another generation is let through, with what belongs to it: the words of its refusal, and the later
tests of its function or class that tell the chips apart which were let through so far. Where one of these cannot be
mended, none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import ChipSet, group
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.fix import Job, mended
from bwlint.fix.python.syntax import between
from bwlint.fix.safety import new_finding
from bwlint.judging.behind import kept_out
from bwlint.judging.drafts import DraftPlace, Remedy
from bwlint.model.expr import walk
from bwlint.model.facts import Prose
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.model.kinds import LISTED
from bwlint.sources.read import SourceText
from bwlint.world.gates import Judged, answers_no, refuses

_SMALL_SHARED, _AMPERE = group("small-shared"), group("ampere")
_NAME = re.compile(r"(?:sm[ _-]?)?\d{1,3}(?:\.\d|\.?x)?", re.I)
_AND = re.compile(r",?\s+(?:and|or|&)\s+")


def whole(job: Job, fix: Fix) -> Fix | NoFix:
    """The fix with the edits that belong to it; `NoFix` says which of them cannot be made."""
    judged = job.judged
    if judged is None or judged.module.language != "python":
        return fix
    before, after = ChipSet.of(*fix.proof.before_may), ChipSet.of(*fix.proof.after_may)
    new = before - after if judged.denies else after - before
    like = _SMALL_SHARED & judged.admitted or judged.admitted
    if (stopped := kept_out(job.context, judged, like, new) or _handed_on(job, judged)) is not None:
        return NoFix(stopped)
    edits = list(fix.edits)
    for text in judged.other.texts if not judged.other.rest else ():
        said = _names(text.text)
        if not said & judged.admitted or said & new or mentioned(text.text).open_ended:
            continue
        words = _named_too(job, text, new)
        if words is None:
            return NoFix(f"the words at line {text.at[0]} name {plain(said)} alone, and want to be written anew")
        edits.append(words)
    for other in _later(job, judged):
        part = _beside(job, judged, other, new)
        if isinstance(part, NoFix):
            return part
        edits += part.edits if part is not None else ()
    fix = replace(fix, edits=tuple(dict.fromkeys(edits)))
    found = new_finding(job, fix)
    return fix if found is None else NoFix(found)


def _later(job: Job, judged: Judged) -> Iterator[Judged]:
    """The tests that chips come to only when they are let through, and that part those that were let through before."""
    if not (refuses(judged.other) or answers_no(judged.other) or judged.gate.kind in LISTED):
        return
    name = judged.gate.qualname
    owner = name if name in judged.module.classes else name.rpartition(".")[0]
    for other in job.context.beside(judged.module):
        here = other.gate.qualname == name and other.gate.at > judged.gate.at
        of_class = owner in judged.module.classes and other.gate.qualname.startswith(f"{owner}.")
        before = judged.admitted & other.sets.live
        parted = before & other.core and before - other.core and other.gate.kind not in LISTED
        if parted and (here or (of_class and other.gate.qualname != name)):
            yield other


def _handed_on(job: Job, judged: Judged) -> str | None:
    """A test in the same class of what the tested value was stored as, which nothing here evaluates: `ctx.major`."""
    known = [one.gate for one in job.context.beside(judged.module)]
    names = {node.args[-1] for node in walk(judged.gate.test) if node.op in ("var", "param", "name")}
    stored = re.compile("|".join(map(re.escape, names)) or "(?!)")
    owner = f"{judged.gate.qualname.rpartition('.')[0]}."
    for gate in judged.module.gates if owner[:-1] in judged.module.classes else ():
        asks = any(node.op == "attr" and stored.search(node.args[1]) for node in walk(gate.test))
        if asks and gate.qualname.startswith(owner) and gate not in known:
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
    remedy = Remedy("admit", core | new, evidence=job.remedy.evidence, unsafe=job.remedy.unsafe)
    draft = replace(job.draft, place=DraftPlace.of_gate(other), remedy=remedy)
    part = mended(Job(job.context, draft, remedy, other, job.root, job.source)) if like <= core else told
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
    last, joint = found[-1], words[found[-2].end() : found[-1].start()] if len(found) > 1 else " and "
    prefix, end = re.match(r"\D*", last[0]), ".x" if "." in last[0] else "x"
    names = [f"{prefix[0] if prefix else ''}{major}{end}" for major in sorted({chip.major for chip in new})]
    begin, written = last.end(), joint + joint.join(names)
    if _AND.fullmatch(joint) and len(found) > 1:
        begin, written = found[-2].end(), f", {last[0]}{written}"
    after = words[:begin] + written + words[last.end() :]
    if re.search(r"[^\W_]", _AND.sub("", joint)) or _names(after) != _names(words) | new:
        return None
    return between(source, job.module.path, start + begin, start + last.end(), written)
