"""Two names of targets that are one string for want of a comma: the comma, after which the list has both."""

from __future__ import annotations

import ast

from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.python.syntax import parse
from bwlint.model.findings import Fix, NoFix, Proof


def mend(job: Job) -> Fix | NoFix:
    syntax = parse(job.source)
    one = next((one for one in job.module.operations if one.kind == "glued" and one.at == job.at), None)
    if syntax is None or one is None:
        return NoFix("the text is not the one that was read")
    first, second = (repr(half.args[0]) for half in one.amounts)
    end = syntax.text.bounds(syntax.text.region(*job.at))[0] + len(first)
    edit = syntax.edit(job.module.path, end, end, ",")
    after, parts, whole = parse(apply(job.source, [edit])), f"{first}, {second}", repr(one.name)
    before, now = (ast.unparse(each.tree) if each is not None else "" for each in (syntax, after))
    if before == now or before.replace(parts, whole) != now.replace(parts, whole):
        return NoFix("the two strings are not written as plain literals")
    held, chips = tuple(chip.name for chip in job.draft.place.admitted), job.remedy.chips.names
    return Fix("safe", "text", "Put the comma", (edit,), Proof(held, held, chips, chips, job.evidence))
