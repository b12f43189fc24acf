"""Open a check for all of its block but one statement, which gets a check of its own.

`if has_sm120: own(); shared()` becomes `if has_sm120: own()` and `if has_sm120 or has_sm121: shared()`.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.expr import Span
from bwlint.model.findings import Fix, NoFix
from bwlint.readers.spans import span


def kept_apart(job: Job, fix: Fix, own: Span) -> Fix | NoFix:
    """A fix that opens a test, without what stands at `own`; `NoFix` where that is not first or last behind it."""
    syntax, judged = parse(job.source), job.judged
    node = _tested(syntax, job.draft.at, own) if syntax is not None else None
    if syntax is None or node is None or judged is None or len(fix.edits) != 1:
        return NoFix("the statement is not one of those behind the test alone")
    place = next(n for n, one in enumerate(node.body) if span(one).holds(own))
    is_first, is_last = place == 0, place == len(node.body) - 1
    old = job.source[syntax.start(node) : syntax.start(node.body[0])]
    longer = apply(job.source, fix.edits)
    new = longer[syntax.start(node) : syntax.start(node.body[0]) + len(longer) - len(job.source)]
    if is_first == is_last or node.orelse or old.count("\n") != 1:
        return NoFix("the statement stands among others")
    last = node.body[0 if is_first else -2].end_lineno or 0
    at = syntax.offset(last + 1, 0)
    longer_by = len(longer) - len(job.source) if is_first else 0
    header = (new if is_first else old)[: syntax.end(node.test) - syntax.start(node) + longer_by] + ":\n"
    again = syntax.edit(job.module.path, at, at, syntax.indent(node.lineno) + header)
    edits = (again,) if is_first else (*fix.edits, again)
    edited = edited_module(job.module, apply(job.source, edits))
    tree = job.context.tree.edited(edited)
    had, has = ([tree.sets(one, gate) for gate in one.gates] for one in (job.module, edited))
    sets = {tuple(one.may.names) for one in has if one is not None}
    if len(has) != len(had) + 1 or not {fix.proof.before_may, fix.proof.after_may} <= sets:
        return NoFix("the edited file has other tests than wanted")
    return replace(fix, edits=edits, title=f"{fix.title}, in a test of its own")


def _tested(syntax: Syntax, at: Span, own: Span) -> ast.If | None:
    """The `if` at a place, one of whose statements holds another place."""
    for node in ast.walk(syntax.tree):
        tests = isinstance(node, ast.If) and (span(node.test).holds(at) or at.holds(span(node.test)))
        if isinstance(node, ast.If) and tests and any(span(one).holds(own) for one in node.body):
            return node
    return None
