"""Tests of a running Python program, rewritten by codemods.

A spelling is only a proposal. What decides is the interpreter, which runs the edited text: an edit whose set
is not exactly what is wanted does not leave this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bwlint.chips import ChipSet
from bwlint.evaluate.expr import Span
from bwlint.facts import Gate, Module
from bwlint.findings import Edit, Fix, Proof
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.python.change import Change
from bwlint.fix.python.meant import meant_exactly
from bwlint.fix.python.proof import Checker, compares_limit
from bwlint.link import Sets, Tree
from bwlint.sources.read import Text

__all__ = ["mend", "propose"]

_TABLES = frozenset({"table", "lookup"})
_LONGEST_TITLE = 60
_UNKNOWN_SPELLING = "no known rewrite for this spelling"
_MAY_NAME_CHIP = re.compile(r"(?<!\w)\d|['\"](?:sm_?|compute_)?\d|\.sm_?\d", re.IGNORECASE)


def mend(job: Job) -> Fix | str:
    """The fix of a test; a string says why there is none."""
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return "nothing here tells which test to mend"
    return propose(
        job.context.tree,
        job.module,
        job.root,
        judged.gate,
        judged.sets,
        remedy.chips,
        job.source,
        remedy.evidence,
        remedy.unsafe,
    )


def propose(
    tree: Tree,
    module: Module,
    root: str,
    gate: Gate,
    sets: Sets,
    wanted: ChipSet,
    source: str,
    evidence: str,
    unsafe_reason: str | None,
) -> Fix | str:
    """The fix after which the test of `gate` holds on exactly the chips `wanted`, or why there is none.

    `source` is the text that `module` was read from, without a byte order mark. The fix is safe unless
    `unsafe_reason` says why not; the words of both stand in its proof.
    """
    change = Change.between(sets, wanted)
    if isinstance(change, str):
        return change
    if gate.kind in _TABLES:
        return "rows of a table are not copied"
    span = gate.leaf or gate.at
    if said := meant_exactly(gate, span, source, change):
        return said
    if compares_limit(gate, span, module):
        return "the literal is compared with a queried shared-memory limit"
    if not _may_name_chip(source, span):
        return _UNKNOWN_SPELLING
    edits = _edits(module.path, source, span, change)
    if isinstance(edits, str):
        return edits
    proved = _first_proved(Checker(tree, module, root, gate, sets, change), source, edits, evidence, unsafe_reason)
    if isinstance(proved, str):
        return proved
    edit, proof = proved
    return Fix("unsafe" if unsafe_reason else "safe", change.kind, _title(change, edit), (edit,), proof)


def _may_name_chip(source: str, span: Span) -> bool:
    """Whether the lines of a span hold a literal at all: most helper calls do not, and libcst is slow."""
    text = Text(source)
    return any(_MAY_NAME_CHIP.search(text.line(number)) for number in range(span[0], span[2] + 1))


def _edits(path: str, source: str, span: Span, change: Change) -> Iterable[Edit] | str:
    """Every edit that a known spelling suggests, the most idiomatic first."""
    from bwlint.fix.python.locate import edits

    return edits(path, source, span, change)


def _first_proved(
    checker: Checker, source: str, edits: Iterable[Edit], evidence: str, unsafe_reason: str | None
) -> tuple[Edit, Proof] | str:
    """The first edit that holds, with its proof; else why the first one does not."""
    refusal = ""
    words = f"{evidence} (unsafe: {unsafe_reason})" if unsafe_reason else evidence
    for edit in edits:
        proof = checker.prove(apply(source, [edit]), words)
        if isinstance(proof, Proof):
            return edit, proof
        refusal = refusal or proof
    return refusal or _UNKNOWN_SPELLING


def _title(change: Change, edit: Edit) -> str:
    text = " ".join(edit.text.split()).strip(", ")
    if len(text) > _LONGEST_TITLE:
        return change.title
    region = edit.region
    inserted = (region.line, region.column) == (region.end_line, region.end_column)
    return f"{change.title}: {'add' if inserted else 'write'} `{text}`"
