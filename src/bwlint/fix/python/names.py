"""Lists of targets with every `a` name and no `f` name: the family's names added.

A chip is in such a list or is not, with or without the family's names, so here the proof holds names of targets.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from bwlint.chips import NONE, spelling
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.change import WantedChange
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.items import behind
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import GateChecker
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import walk
from bwlint.model.facts import Gate
from bwlint.model.findings import Fix, NoFix


def mend(job: Job) -> Fix | NoFix:
    judged, syntax = job.judged, parse(job.source)
    if judged is None or syntax is None:
        return NoFix("nothing here tells which list to mend")
    change = WantedChange("family", judged.core, NONE, NONE)
    gate = judged.gate
    place = ConditionPlace.of(job, judged, change, gate.at)
    if isinstance(place, NoFix):
        return place
    candidate = _added(place, syntax)
    if isinstance(candidate, NoFix):
        return candidate
    proof = GateChecker(place).prove(candidate, job.evidence)
    if isinstance(proof, NoFix):
        return proof
    edited = edited_module(job.module, apply(job.source, candidate))
    after = next((other for other in edited.gates if other.at[:2] == gate.at[:2] and other.kind == gate.kind), gate)
    old, new = _names(gate), _names(after)
    added = [name for name in new if name not in old]
    if not added or not set(old) <= set(new):
        return NoFix("the edited list does not have the names of the family")
    proof = replace(proof, before_may=old, before_must=old, after_may=new, after_must=new)
    title = f"Add the names of the family: {', '.join(f'`{name}`' for name in added)}"
    return Fix(job.applicability, "family", title, candidate, proof)


def _added(place: ConditionPlace, syntax: Syntax) -> Candidate | NoFix:
    found = next((node for node in syntax.within(place.span) if isinstance(node, (ast.List, ast.Tuple, ast.Set))), None)
    if found is None:
        return NoFix("the names of this list are written elsewhere")
    items = [(syntax.start(node), syntax.end(node)) for node in found.elts]
    edits: Candidate = ()
    for index, node in enumerate(found.elts):
        if isinstance(node, ast.Attribute) and spelling.member(node.attr) and node.attr.endswith("a"):
            edits += behind(syntax, place.module.path, items, index, [f"{syntax.segment(node)[:-1]}f"])
    return edits or NoFix("the names of this list are written elsewhere")


def _names(gate: Gate) -> tuple[str, ...]:
    return tuple(
        node.args[1]
        for node in walk(gate.test)
        if node.op == "attr" and isinstance(node.args[1], str) and spelling.member(node.args[1])
    )
