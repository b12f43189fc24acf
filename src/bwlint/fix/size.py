"""Fix a number that is the shared memory of a multiprocessor where a block's limit is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import ALL_TARGETS, TargetSet
from bwlint.fix import Job
from bwlint.fix.cuda.proof import in_a_string
from bwlint.fix.cuda.terms import offsets
from bwlint.fix.edited import apply, outline
from bwlint.fix.edited import edited as edited_module
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Module, Operation
from bwlint.model.findings import Edit, Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean
from bwlint.sources.read import SourceText
from bwlint.world.tree import Tree

_KIB = 1024
_NUMBER = re.compile(r"(?P<hex>0[xX])?(?P<digits>[0-9a-fA-F']+?)(?P<suffix>[uUlLzZ]*)")


def mend(job: Job) -> Fix | NoFix:
    """The fix after which an operation asks for `job.remedy.amount` bytes; `NoFix` says why there is none."""
    if job.module.language != "cuda" or in_a_string(job.module):
        return NoFix("sizes are rewritten in files of C++ alone")
    index = _asking(job)
    if index is None:
        return NoFix("the size is not found again in this file")
    code = clean(job.source)
    refusal = NoFix("the size is computed, or defined elsewhere: change it there")
    for node in _literals(job.module, job.module.operations[index]):
        edit = _edit(job, code, node)
        if edit is None:
            continue
        proof = _prove(job, index, apply(job.source, [edit]))
        if isinstance(proof, Proof):
            words = f"Use the limit of a block: write `{edit.text}`"
            return Fix(job.applicability, "size", words, (edit,), proof)
        refusal = proof
    return refusal


def _asking(job: Job) -> int | None:
    """The operation that a finding is about."""
    found = (n for n, one in enumerate(job.module.operations) if one.at == job.at and one.amounts)
    return next(found, None)


def _literals(module: Module, operation: Operation) -> Iterator[Expr]:
    """The numbers that an amount comes from, through the constants of the file."""
    waiting, seen = list(operation.amounts), set[str]()
    while waiting:
        for node in walk(waiting.pop(0)):
            if node.op == "const" and node.at is not None and isinstance(node.args[0], int):
                yield node
            elif node.op == "name" and node.args[0] in module.names and node.args[0] not in seen:
                seen.add(node.args[0])
                waiting.append(module.names[node.args[0]])


def _edit(job: Job, code: Code, node: Expr) -> Edit | None:
    """The literal with the wanted number in its own spelling: whole bytes, or the KiB of `100 * 1024`."""
    assert node.at is not None
    match = _NUMBER.fullmatch(code.source[slice(*offsets(code, node.at))])
    wanted = job.remedy.amount
    if match is None:
        return None
    if node.args[0] * _KIB in range(wanted, wanted + 2 * _KIB) and wanted % _KIB == 0:
        wanted //= _KIB
    if node.args[0] <= wanted:
        return None
    digits = f"{match['hex']}{wanted:x}" if match["hex"] else str(wanted)
    return Edit(job.module.path, SourceText(job.source).region(*node.at), f"{digits}{match['suffix']}")


def _prove(job: Job, index: int, text: str) -> Proof | NoFix:
    """The proof that one operation asks for the wanted bytes and that every other fact is as it was."""
    module, remedy = job.module, job.remedy
    edited = edited_module(module, text)
    before, after = job.context.tree.edited(module), job.context.tree.edited(edited)
    if [outline(one) for one in edited.operations] != [outline(one) for one in module.operations]:
        return NoFix("the edited file asks for other things than before")
    native = TargetSet.native(remedy.chips)
    was = _amounts(before, module, module.operations[index])
    asked = _amounts(after, edited, edited.operations[index])
    for old, new in zip(module.operations, edited.operations, strict=True):
        sizes = _amounts(before, module, old), _amounts(after, edited, new)
        if sizes[0] != sizes[1] and sizes != (was, asked):  # the launch asks for what the opt-in does
            return NoFix(f"the edit would change the size at line {old.at[0]}")
    if any(lane != remedy.amount for lanes in asked for lane in _on(lanes, native)):
        return NoFix("the program picks one of several sizes, and nothing here shows which one these chips get")
    if said := _gates(before, module, after, edited):
        return said
    old_size = sorted({str(lane) for lanes in was for lane in _on(lanes, native)})
    words = f"{', '.join(old_size)} bytes become {remedy.amount}; {remedy.evidence}"
    unsafe = f" (unsafe: {remedy.unsafe})" if remedy.unsafe else ""
    names = remedy.chips.names
    return Proof((), (), names, names, words + unsafe)


def _amounts(tree: Tree, module: Module, one: Operation) -> list[list[object]]:
    """What an operation asks for, by target; what is not known is compared by its words."""
    lanes = (tree.numbers(module, amount) for amount in one.amounts)
    return [[lane if isinstance(lane, int) else str(lane) for lane in found] for found in lanes]


def _on(lanes: list[object], targets: TargetSet) -> list[object]:
    return [lane for target, lane in zip(ALL_TARGETS, lanes, strict=True) if target in targets]


def _gates(before: Tree, module: Module, after: Tree, edited: Module) -> NoFix | None:
    """No test of the program depends on the number: one that is compared with a limit of the device is meant."""
    if len(module.gates) != len(edited.gates) or len(module.guards) != len(edited.guards):
        return NoFix("the edited file has other tests than before")
    for old, new in zip(module.gates, edited.gates, strict=True):
        if before.sets(module, old) != after.sets(edited, new):
            return NoFix(f"the literal decides the test at line {old.at[0]} too")
    return None
