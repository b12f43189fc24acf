"""`.shared::cluster` to `.shared::cta` where the destination of a load is the block's own shared memory."""

from __future__ import annotations

from bwlint.chips import TargetSet
from bwlint.facts import Operation
from bwlint.findings import Edit, Fix, Proof
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.cuda.proof import world
from bwlint.legality import legal, slow
from bwlint.readers.cuda import read
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.sources.read import Text

_CLUSTER, _CTA = ".shared::cluster", ".shared::cta"


def mend(job: Job) -> Fix | str:
    """The fix after which an instruction writes to the block's own memory; a string says why there is none."""
    if job.module.language != "cuda":
        return "instructions are rewritten in C++ alone"
    index = next((n for n, one in enumerate(job.module.operations) if _is_it(one, job)), None)
    if index is None:
        return "nothing here tells which instruction to mend"
    code = clean(job.source)
    edit = _edit(job, code, job.module.operations[index])
    if isinstance(edit, str):
        return edit
    proof = _prove(job, index, apply(job.source, [edit]))
    if isinstance(proof, str):
        return proof
    title = f"Load into the block's own shared memory: write `{_CTA}`"
    return Fix("unsafe" if job.remedy.unsafe else "safe", "space", title, (edit,), proof)


def _is_it(one: Operation, job: Job) -> bool:
    return one.kind == "instruction" and one.at == (job.remedy.at or job.draft.at)


def _edit(job: Job, code: Code, operation: Operation) -> Edit | str:
    """The state space of the destination: the first of the instruction, before its operands."""
    start, end = code.offset(*operation.at[:2]), code.offset(*operation.at[2:])
    head = code.source[start:end].partition("[")[0]
    if head.count(_CLUSTER) != 1:
        return "the state space is not written where the instruction is"
    first = start + head.index(_CLUSTER)
    return Edit(job.module.path, Text(job.source).region(*code.span(first, first + len(_CLUSTER))), _CTA)


def _prove(job: Job, index: int, text: str) -> Proof | str:
    """The proof that one instruction is another one, fast where it was slow, and that every other fact is as it was."""
    module, remedy = job.module, job.remedy
    edited = read(module.path, text, module.name)
    old = module.operations[index]
    if len(edited.operations) != len(module.operations):
        return "the edited file has other instructions than before"
    new = edited.operations[index]
    if new.name != old.name.replace(_CLUSTER, _CTA, 1):
        return "the edited instruction is not the one that is wanted"
    pairs = zip(module.operations, edited.operations, strict=True)
    if any((a.kind, a.name) != (b.kind, b.name) for number, (a, b) in enumerate(pairs) if number != index):
        return "the edit would change another instruction"
    native = TargetSet.native(remedy.chips)
    compiled = world(job.context.tree, edited).compiled(edited, new.path)
    if slow(new) & native or (legal(old) & compiled) - legal(new):
        return "the edited instruction is not better on these chips"
    words = f"{remedy.evidence} (unsafe: {remedy.unsafe})" if remedy.unsafe else remedy.evidence
    before, after = legal(old) & native - slow(old), legal(new) & native
    return Proof(before.names, before.names, after.names, after.names, words)
