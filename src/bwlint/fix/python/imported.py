"""Flags that an import alone sets, and helpers that answer by it: `HAS_FA3 = True` asks for the chip too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span
from bwlint.model.facts import Module
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.readers.spans import span
from bwlint.world.tree import Sets

_UNSEEN = NoFix("no flag says whether it is used: put the import under a check of the compute capability")
_NO_TORCH = NoFix("nothing above imports torch: add the check where the device is known")
_INSTEAD = NoFix("the handler imports what is used instead, and only where this import fails: import both first")


def mend(job: Job) -> Fix | NoFix:
    """The flag as a test of the major version, for the chips on which the library works."""
    syntax = parse(job.source)
    answer = _answer(syntax, job) if syntax is not None else None
    if syntax is None or answer is None:
        return _UNSEEN
    if not any(_imports_torch(one) for one in syntax.tree.body if one.lineno < answer.lineno):
        return _NO_TORCH
    if any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in _handled(syntax, answer)):
        return _INSTEAD
    majors = sorted({chip.major for chip in job.remedy.chips})
    if ChipSet.where(lambda chip: chip.major in majors) & job.context.targets:
        return _UNSEEN
    asked = f"== {majors[0]}" if len(majors) == 1 else f"in ({', '.join(map(str, majors))})"
    test = f"torch.cuda.is_available() and torch.cuda.get_device_capability()[0] {asked}"
    edit = syntax.edit(job.module.path, syntax.start(answer), syntax.end(answer), test)
    try:
        edited = edited_module(job.module, apply(job.source, (edit,)))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}", technical=True)
    sets = _sets(job, edited, answer.lineno)
    if sets is None or sets.may & job.context.targets:
        return NoFix("the edited answer would still be yes there", technical=True)
    place = job.draft.place
    proof = Proof(place.admitted.names, place.certain.names, sets.may.names, sets.must.names, job.evidence)
    title = f"Ask for {plain(job.remedy.chips)}: write `{test}`"
    return Fix(job.applicability, "bound", title, (edit,), proof)


def _sets(job: Job, edited: Module, line: int) -> Sets | None:
    """The chips of the answer that is written on a line of the edited file."""
    tree = job.context.tree.edited(edited)
    asking = (gate for gate in edited.gates if gate.is_a("flag", "predicate") and gate.at.line == line)
    return next((one for gate in asking if (one := tree.sets(edited, gate)) is not None), None)


def _answer(syntax: Syntax, job: Job) -> ast.expr | None:
    """The one True that a flag is set to at the place of the finding, or that the function there returns."""
    at = next((span(one) for one in ast.walk(syntax.tree) if _begins(one, job.at)), job.at)
    yes = [one for one in syntax.within(at) if isinstance(one, ast.Constant) and one.value is True]
    stands_alone = len(yes) == 1 and isinstance(syntax.parents.get(yes[0]), (ast.Assign, ast.Return))
    return yes[0] if stands_alone else None


def _handled(syntax: Syntax, answer: ast.expr) -> Iterator[ast.AST]:
    """What is done where the attempts around an answer fail."""
    attempts = (one for one in syntax.around(answer) if isinstance(one, ast.Try))
    yield from (node for one in attempts for handler in one.handlers for node in ast.walk(handler))


def _begins(node: ast.AST, at: Span) -> bool:
    return isinstance(node, ast.FunctionDef) and span(node)[:2] == at[:2]


def _imports_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and any(one.name == "torch" and not one.asname for one in node.names)
