"""Two names of targets that are one string for want of a comma: the comma, after which the list has both."""

from __future__ import annotations

import ast

from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.python.syntax import parse
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers.spans import span


def mend(job: Job) -> Fix | NoFix:
    syntax = parse(job.source)
    one = next((one for one in job.module.operations if one.kind == "glued" and one.at == job.at), None)
    if syntax is None or one is None:
        return NoFix("the text is not the one that was read")
    names = [half.args[0] for half in one.amounts]
    nodes = (node for node in syntax.within(job.at) if isinstance(node, ast.Constant) and node.value == one.name)
    node = next((node for node in nodes if span(node) == job.at), None)
    first = syntax.segment(node)[: len(names[0]) + 2] if node is not None else ""
    if node is None or first[1:-1] != names[0] or first[0] != first[-1]:
        return NoFix("the two strings are not written as plain literals")
    end = syntax.start(node) + len(first)
    edit = syntax.edit(job.module.path, end, end, ",")
    after = parse(apply(job.source, [edit]))
    if after is None or not _parted(syntax.tree, after.tree, one.name, names):
        return NoFix("more than the one string would change")
    before = tuple(chip.name for chip in job.draft.place.admitted)
    chips = job.remedy.chips.names
    return Fix("safe", "text", "Put the comma", (edit,), Proof(before, before, chips, chips, job.evidence))


def _parted(before: ast.Module, after: ast.Module, text: str, names: list[str]) -> bool:
    """Whether one string of a file became two, in the same list, and nothing else did."""
    whole, parts = repr(text), f"{names[0]!r}, {names[1]!r}"
    written = ast.unparse(after)
    return written.replace(parts, whole) == ast.unparse(before).replace(parts, whole) != written
