"""Fix code that does not mean what it says: a wrong operator, a missing call, number or comma, a suffix."""

from __future__ import annotations

import re

from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.safety import another
from bwlint.model.facts import Module
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.sources.read import SourceText

_JOINT = re.compile(r"(?<=\s)(?:and|or)(?=\s)|&&|\|\|")
_OTHER = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ORDERED = re.compile(r"(?P<left>[\w.\[\]()]+)(?P<sign>\s*[<>]=?\s*)([\"'])(?P<number>[0-9]+)\3")
_APART = re.compile(
    r"(?P<major>[\w.\[\]()]+?)\s*(?P<above>[<>]=?)\s*(?P<first>\d+)(?P<close> ?\))?[\s\\]+"
    r"(?P<joint>and|or|&&|\|\|)[\s\\]+(?P<open>\( ?)?(?P<minor>[\w.\[\]()]+?)\s*(?P<below>[<>]=?)\s*(?P<second>\d+)"
)
_PREFIX_CUT = re.compile(r"[\w.\[\]]+\.(?:replace|removeprefix|lstrip|strip)\([^()]*\)")
_GLUED = re.compile(r"(?P<first>([\"'])[\w.]+\2)(?P<rest>\s*(?:#[^\n]*\n\s*)*[\"'][\w.]+[\"'])")


def mend(job: Job) -> Fix | NoFix:
    text = SourceText(job.source)
    region = text.region(*job.at)
    said = job.source[slice(*text.bounds(region))]
    new = _at_once(said) if job.remedy.how == "parts" else _meant(said)
    if new is None:
        return NoFix("more than one comparison, call or name stands there: rewrite it by hand")
    edit = Edit(job.module.path, region, new)
    try:
        edited = edited_module(job.module, apply(job.source, (edit,)))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}", technical=True)
    title = f"Write `{' '.join(new.split())}`"
    fix = Fix(job.applicability, "type", title, (edit,), _proof(job, edited))
    left = another(job, fix)
    return fix if left is None else NoFix(left.reason)


def _proof(job: Job, edited: Module) -> Proof:
    """The sets of the nearest test that changes, each computed on its text; those of the place where none does."""
    mine, line = job.draft.place, job.at.line
    here = (mine.admitted, mine.certain)
    trees = [(job.context.tree.edited(module), module) for module in (job.module, edited)]
    sets = [[(gate, tree.sets(module, gate)) for gate in module.gates] for tree, module in trees]
    for (_, held), (_, holds) in sorted(zip(*sets, strict=False), key=lambda pair: abs(pair[0][0].at.line - line)):
        before = (held.may, held.must) if held is not None else here
        if holds is not None and before != (holds.may, holds.must):
            return Proof(before[0].names, before[1].names, holds.may.names, holds.must.names, job.evidence)
    may, must = here[0].names, here[1].names
    return Proof(may, must, may, must, job.evidence)


def _meant(said: str) -> str | None:
    joints, ordered, glued = _JOINT.findall(said), _ORDERED.fullmatch(said), _GLUED.fullmatch(said)
    if len(joints) == 1:
        return _JOINT.sub(lambda joint: _OTHER[joint[0]], said)
    if ordered is not None:
        return f"int({ordered['left']}){ordered['sign']}{int(ordered['number'])}"
    if glued is not None:
        return f"{glued['first']},{glued['rest']}"
    if _PREFIX_CUT.fullmatch(said):
        return f'{said}.rstrip("af")'
    return f"{said}()" if _NAME.fullmatch(said) else None


def _at_once(said: str) -> str | None:
    """One comparison of the capability for one of each part: `major >= 8 and minor >= 9`."""
    found = _APART.fullmatch(said)
    if found is None or found["above"][0] != found["below"][0] or bool(found["close"]) != bool(found["open"]):
        return None
    major, minor, above = found["major"], found["minor"], found["above"][0] == ">"
    first, second = (
        int(found[part]) + (found[sign] in (">", "<=")) for part, sign in (("first", "above"), ("second", "below"))
    )
    if found["joint"] in ("and", "or"):
        return f"({major}, {minor}) {'>=' if above else '<'} ({first}, {second})"
    sign, least = (">", ">=") if above else ("<", "<")
    whole = f"{major} {sign} {first} || ({major} == {first} && {minor} {least} {second})"
    return whole if found["close"] else f"({whole})"
