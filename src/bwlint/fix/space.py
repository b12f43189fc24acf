"""`.shared::cluster` to `.shared::cta` where the destination of a load is the block's own shared memory."""

from __future__ import annotations

from bwlint.chips import TargetSet
from bwlint.fix import Job
from bwlint.fix.cuda.proof import in_a_string
from bwlint.fix.cuda.terms import offsets
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.judging.legality import legal, slow
from bwlint.model.facts import Operation
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.sources.read import SourceText

_OF_CLUSTERS = ("multicast::cluster", "mapa", "barrier.cluster", "st.async", "shared::cluster.shared::cta")
_CLUSTER, _CTA = ".shared::cluster", ".shared::cta"


def mend(job: Job) -> Fix | NoFix:
    """The fix after which loads of one kind under one guard write to the block's own memory."""
    if job.module.language != "cuda" or in_a_string(job.module):
        return NoFix("instructions are rewritten in files of C++ alone")
    first = next((one for one in job.module.operations if one.kind == "instruction" and one.at == job.at), None)
    if first is None:
        return NoFix("the instruction is not found again in this file")
    if any(_takes_a_cluster(one) for one in job.module.operations):
        return NoFix("the file is written for clusters of several blocks")
    native = TargetSet.native(job.remedy.chips)
    same = [n for n, one in enumerate(job.module.operations) if _alike(one, first) and slow(one) & native]
    code = clean(job.source)
    made = [_edit(job, code, job.module.operations[index]) for index in same]
    edits = tuple(edit for edit in made if isinstance(edit, Edit))
    if len(edits) < len(made):
        return next(edit for edit in made if isinstance(edit, NoFix))
    proof = _prove(job, same, apply(job.source, edits))
    if isinstance(proof, NoFix):
        return proof
    title = f"Load into the block's own shared memory: write `{_CTA}`"
    return Fix(job.applicability, "space", title, edits, proof)


def _alike(one: Operation, first: Operation) -> bool:
    return one.kind == "instruction" and one.path == first.path and _CLUSTER in one.name.partition("[")[0]


def _takes_a_cluster(one: Operation) -> bool:
    """Whether something in a file is there for several blocks that share memory."""
    if one.kind == "instruction":
        return any(word in one.name for word in _OF_CLUSTERS)
    return one.kind == "cluster"


def _edit(job: Job, code: Code, operation: Operation) -> Edit | NoFix:
    """The state space of the destination: the first of the instruction, before its operands."""
    start, end = offsets(code, operation.at)
    head = code.source[start:end].partition("[")[0]
    if head.count(_CLUSTER) != 1:
        return NoFix("the state space is not written where the instruction is")
    first = start + head.index(_CLUSTER)
    return Edit(job.module.path, SourceText(job.source).region(*code.span(first, first + len(_CLUSTER))), _CTA)


def _prove(job: Job, same: list[int], text: str) -> Proof | NoFix:
    """The proof that the instructions are fast where they were slow, and that every other fact is as it was."""
    module, edited = job.module, edited_module(job.module, text)
    if len(edited.operations) != len(module.operations):
        return NoFix("the edited file has other instructions than before")
    native, tree = TargetSet.native(job.remedy.chips), job.context.tree.edited(edited)
    for number, (old, new) in enumerate(zip(module.operations, edited.operations, strict=True)):
        wanted = old.name.replace(_CLUSTER, _CTA, 1) if number in same else old.name
        if (new.kind, new.name) != (old.kind, wanted):
            return NoFix(f"the edit would make another instruction of line {old.at[0]}")
        if number in same and (slow(new) & native or (legal(old) & tree.compiled(edited, new.path)) - legal(new)):
            return NoFix("the edited instruction is not better on these chips")
    old, new = module.operations[same[0]], edited.operations[same[0]]
    before, after = (legal(old) & native) - slow(old), legal(new) & native
    return Proof(before.names, before.names, after.names, after.names, job.evidence)
