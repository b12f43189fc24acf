"""Flags that an import alone sets: `HAS_FA3 = True` asks for the chip too."""

from __future__ import annotations

import ast

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.readers.spans import span

_UNSEEN = NoFix("nothing here checks the chip: add a check")
_NO_TORCH = NoFix("nothing above imports torch: add the check where the device is known")


def mend(job: Job) -> Fix | NoFix:
    """The flag as a test of the major version, for the chips on which the library works."""
    syntax = parse(job.source)
    flag = _flag(syntax, job) if syntax is not None else None
    if syntax is None or flag is None:
        return _UNSEEN
    if not any(_imports_torch(one) for one in syntax.tree.body if one.lineno < flag.lineno):
        return _NO_TORCH
    majors = sorted({chip.major for chip in job.remedy.chips})
    if ChipSet.where(lambda chip: chip.major in majors) & job.context.targets:
        return _UNSEEN
    asked = f"== {majors[0]}" if len(majors) == 1 else f"in ({', '.join(map(str, majors))})"
    test = f"torch.cuda.is_available() and torch.cuda.get_device_capability()[0] {asked}"
    edit = syntax.edit(job.module.path, syntax.start(flag.value), syntax.end(flag.value), test)
    try:
        edited = edited_module(job.module, apply(job.source, (edit,)))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}", technical=True)
    tree = job.context.tree.edited(edited)
    name = ast.unparse(flag.targets[0])
    found = (tree.sets(edited, gate) for gate in edited.gates if gate.kind == "flag" and gate.name == name)
    sets = next((one for one in found if one is not None), None)
    if sets is None or sets.may & job.context.targets:
        return NoFix("the edited flag would still be true there", technical=True)
    place = job.draft.place
    proof = Proof(place.admitted.names, place.certain.names, sets.may.names, sets.must.names, job.evidence)
    title = f"Set it on {plain(job.remedy.chips)} alone: write `{name} = {test}`"
    return Fix(job.applicability, "check", title, (edit,), proof)


def _flag(syntax: Syntax, job: Job) -> ast.Assign | None:
    """The assignment of True at the place of the finding."""
    around = (
        syntax.parents.get(one) for one in syntax.within(job.at) if isinstance(one, ast.Constant) and one.value is True
    )
    found = next((one for one in around if isinstance(one, ast.Assign) and span(one) == job.at), None)
    return found if found is not None and len(found.targets) == 1 else None


def _imports_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(one.name == "torch" and not one.asname for one in node.names)
