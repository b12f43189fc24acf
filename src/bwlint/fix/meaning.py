"""A condition that says another thing than it means: joined by the wrong word, a helper named and not called, numbers
that are ordered as texts. The rule that found it has nothing left to say of the edited file, and no other has.
"""

from __future__ import annotations

import re

from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.safety import another
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.sources.read import SourceText

_JOINT = re.compile(r"(?<=\s)(?:and|or)(?=\s)|&&|\|\|")
_OTHER = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_TEXT = r"(?P<quote>[\"'])(?P<number>[0-9]+)(?P=quote)"
_ORDERED = re.compile(rf"(?P<left>[\w.\[\]()]+)(?P<sign>\s*[<>]=?\s*){_TEXT}")


def mend(job: Job) -> Fix | NoFix:
    text = SourceText(job.source)
    region = text.region(*job.at)
    new = _meant(job.source[slice(*text.bounds(region))])
    if new is None:
        return NoFix("the condition has more in it than one comparison of each kind: rewrite it by hand")
    admitted, certain = job.draft.place.admitted.names, job.draft.place.certain.names
    proof = Proof(admitted, certain, admitted, certain, job.evidence)
    fix = Fix(
        job.applicability, "type", f"Say what is meant: write `{new}`", (Edit(job.module.path, region, new),), proof
    )
    try:
        edited_module(job.module, apply(job.source, fix.edits))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}")
    fault = another(job, fix)
    return fix if fault is None else NoFix(fault)


def _meant(said: str) -> str | None:
    joints, ordered = _JOINT.findall(said), _ORDERED.fullmatch(said)
    if len(joints) == 1:
        return _JOINT.sub(lambda joint: _OTHER[joint[0]], said)
    if ordered is not None:
        return f"int({ordered['left']}){ordered['sign']}{int(ordered['number'])}"
    return f"{said}()" if _NAME.fullmatch(said) else None
