"""Fix a C++ function that reports support: bound the parameter where its true is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bwlint.chips import NONE
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.cuda.conditions import kept_to
from bwlint.fix.cuda.terms import Term, edits, terms
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.model.facts import Function
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.rules.leak.contract import saying_yes


def mend(job: Job) -> Fix | NoFix:
    code, module, context = clean(job.source), job.module, job.context
    query = next((one for one in module.functions.values() if one.at.holds(job.at) and one.returns), None)
    if query is None:
        return NoFix("the function is not found again in this file")
    before, wanted = saying_yes(context, module, query), job.remedy.chips
    change = WantedChange("bound", wanted, before - wanted, NONE)
    for changes in zip(*(kept_to(code, term, change) for term in _bounds(code, query)), strict=False):
        made = edits(module.path, code, list(changes))
        edited = edited_module(module, apply(job.source, made))
        again = edited.functions.get(query.qualname)
        said = saying_yes(replace(context, tree=context.tree.edited(edited)), edited, again) if again else before
        if said == wanted:
            proof = Proof(before.names, (), said.names, (), job.evidence)
            return Fix(job.applicability, "bound", f"Return true for {plain(wanted)} only", made, proof)
    return NoFix(f"no bound of the function could end at {plain(change.chips)}")


def _bounds(code: Code, query: Function) -> Iterator[Term]:
    """The comparisons of a parameter with a number, each once."""
    tests = [node for path, value in query.returns for node in (*path, value)]
    # a test is told again, turned round, of all that stands below it
    found = {term.start: term for node in reversed(tests) for term in terms(code, node) if term.node.op == "cmp"}
    for term in sorted(found.values(), key=lambda term: term.start):
        op, (left, right) = term.node.args
        if op in (">=", ">") and left.op == "param" and right.op == "const":
            yield term
