"""Wrap a call whose status is ignored in the macro that the file uses for its other calls."""

from __future__ import annotations

import re
from collections import Counter

from bwlint.fix import Job
from bwlint.fix.cuda.terms import edits, offsets
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers.cuda.lexer import Code, clean, matching

_STATEMENT = r"(?<=[;{})])\s*"
_CHECK = re.compile(rf"{_STATEMENT}((?!if|while|switch|return|void)\w+)\(\s*(?:cuda|hip|cu)[A-Z]\w*\(")
_CALL = re.compile(rf"{_STATEMENT}(?:\(void\)\s*)?((?:cuda|hip|cu)[A-Z]\w*\()")
_NEAR = 400


def mend(job: Job) -> Fix | NoFix:
    code = clean(job.source)
    start, end = offsets(code, job.at)
    calls = [match for match in _CALL.finditer(code.text, max(0, start - _NEAR), end) if match.start(1) <= end]
    checks = Counter(match[1] for match in _CHECK.finditer(code.text, 0, start))
    if not checks:
        return NoFix("no other call shows how this file reports errors: check this one by hand")
    close = matching(code.text, calls[-1].end() - 1) if calls else -1
    if close < end - 1 or not code.text[close + 1 :].lstrip().startswith(";"):
        return NoFix("the call is part of a larger expression: check its status by hand")
    name, first = checks.most_common(1)[0][0], calls[-1].start(1)
    made = edits(job.module.path, code, [(first, close + 1, _wrapped(code, name, first, close + 1))])
    edited = edited_module(job.module, apply(job.source, made))
    before, after = (
        sum(one.kind == "launch" and not one.checked for one in module.operations) for module in (job.module, edited)
    )
    if (len(edited.gates), len(edited.guards), after) != (len(job.module.gates), len(job.module.guards), before - 1):
        return NoFix("the edit would change other code too")
    admitted, certain = job.draft.place.admitted.names, job.draft.place.certain.names
    proof = Proof(admitted, certain, admitted, certain, job.evidence)
    return Fix(job.applicability, "check", f"Check the status: write `{name}(...)`", made, proof)


def _wrapped(code: Code, name: str, start: int, end: int) -> str:
    """The call in another one; what is aligned below its first line moves along."""
    lines = code.source[start:end].split("\n")
    column = start - code.line_start(start)
    moved = [" " * (len(name) + 1) + line if _indent(line) > column else line for line in lines[1:]]
    return name + "(" + "\n".join([lines[0], *moved]) + ")"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
