"""Fix code that does not mean what it says: a wrong operator between checks, a missing call, number or comma."""

from __future__ import annotations

import re

from bwlint.fix import Job
from bwlint.fix.safety import another
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.sources.read import SourceText

_JOINT = re.compile(r"(?<=\s)(?:and|or)(?=\s)|&&|\|\|")
_OTHER = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ORDERED = re.compile(r"(?P<left>[\w.\[\]()]+)(?P<sign>\s*[<>]=?\s*)([\"'])(?P<number>[0-9]+)\3")
_GLUED = re.compile(r"(?P<first>([\"'])[\w.]+\2)(?P<rest>\s*(?:#[^\n]*\n\s*)*[\"'][\w.]+[\"'])")


def mend(job: Job) -> Fix | NoFix:
    text = SourceText(job.source)
    region = text.region(*job.at)
    new = _meant(job.source[slice(*text.bounds(region))])
    if new is None:
        return NoFix("more than one comparison, call or name stands there: rewrite it by hand")
    held, holds = job.draft.place.admitted.names, (job.remedy.chips or job.draft.place.admitted).names
    proof, edit = Proof(held, held, holds, holds, job.evidence), Edit(job.module.path, region, new)
    fix = Fix(job.applicability, "type", f"Correct the comparison: write `{' '.join(new.split())}`", (edit,), proof)
    left = another(job, fix)
    return fix if left is None else NoFix(left.reason)


def _meant(said: str) -> str | None:
    joints, ordered, glued = _JOINT.findall(said), _ORDERED.fullmatch(said), _GLUED.fullmatch(said)
    if len(joints) == 1:
        return _JOINT.sub(lambda joint: _OTHER[joint[0]], said)
    if ordered is not None:
        return f"int({ordered['left']}){ordered['sign']}{int(ordered['number'])}"
    if glued is not None:
        return f"{glued['first']},{glued['rest']}"
    return f"{said}()" if _NAME.fullmatch(said) else None
