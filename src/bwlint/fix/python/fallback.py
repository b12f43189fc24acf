"""Questions that a chip has no answer to: the function's `else` branch, in an exception handler too."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bwlint.chips.products import memory_error
from bwlint.fix import Job
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.model.facts import Module
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.readers import ReadError
from bwlint.readers.spans import span
from bwlint.settings import catalog

_STEP = "    "


def mend(job: Job) -> Fix | NoFix:
    """The fix that takes the function's other way where the question raises; the rule's reason where it has none."""
    syntax = parse(job.source)
    branch = _branch(syntax, job) if syntax is not None else None
    if syntax is None or branch is None:
        return NoFix(catalog.lookup(job.draft.rule.name).fix.rpartition("none: ")[2].rstrip("."))
    node, first, binding = branch
    asking = node.body[node.body.index(first) :]
    indent, newline = syntax.indent(first.lineno), syntax.newline
    lines = [
        f"{indent}try:",
        *(f"{_STEP}{line}" if line else line for line in _lines(syntax, asking)),
        f"{indent}except {binding}.{memory_error()}:",
        *(f"{indent}{_STEP}{line}".rstrip() for line in _dedented(_lines(syntax, node.orelse))),
    ]
    start, end = syntax.offset(first.lineno, 0), syntax.end(asking[-1])
    edit = syntax.edit(job.module.path, start, end, newline.join(lines))
    try:
        edited = edited_module(job.module, apply(job.source, (edit,)))
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}", technical=True)
    if len(edited.gates) != len(job.module.gates) or _open(edited) != _open(job.module) - 1:
        return NoFix("the edit would change other code too", technical=True)
    admitted, certain = job.draft.place.admitted.names, job.draft.place.certain.names
    proof = Proof(admitted, certain, admitted, certain, job.evidence)
    title = f"Take the other branch where {binding} gives no answer: add `except {binding}.{memory_error()}`"
    return Fix(job.applicability, "check", title, (edit,), proof)


def _branch(syntax: Syntax, job: Job) -> tuple[ast.If, ast.stmt, str] | None:
    """The `if` whose other branch does without the binding, its statement that asks, and the binding."""
    calls = (one for one in syntax.within(job.at) if isinstance(one, ast.Call) and span(one) == job.at)
    call = next(calls, None)
    owner = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is None or not isinstance(owner, ast.Name):
        return None
    around = [call, *syntax.around(call)]
    node = next((one for one in around if isinstance(one, ast.If)), None)
    first = next((one for one in node.body if one in around), None) if node is not None else None
    if node is None or first is None or not node.orelse or not _speaks_of(node.test, owner.id):
        return None
    asking = node.body[node.body.index(first) :]
    raises = any(isinstance(inner, ast.Raise) for one in node.orelse for inner in ast.walk(one))
    free = not raises and not any(_speaks_of(one, owner.id) for one in node.orelse)
    free = free and not any(map(_has_text_of_lines, (*asking, *node.orelse)))
    return (node, first, owner.id) if free and _ends(node.body[-1]) == _ends(node.orelse[-1]) != () else None


def _speaks_of(node: ast.AST, name: str) -> bool:
    names = {one.id.lower() for one in ast.walk(node) if isinstance(one, ast.Name)}
    return any(name.lower() in one or "nvml" in one for one in names)


def _has_text_of_lines(node: ast.AST) -> bool:
    """Whether a literal of several lines stands there, which another indent would change."""
    texts = (one for one in ast.walk(node) if isinstance(one, (ast.Constant, ast.JoinedStr)))
    return any(one.lineno != one.end_lineno for one in texts)


def _ends(statement: ast.stmt) -> tuple[str, ...]:
    """What a branch gives at its end: what it returns, or the names that it sets; nothing else is known."""
    if isinstance(statement, ast.Return):
        return ("return",)
    return tuple(map(ast.unparse, statement.targets)) if isinstance(statement, ast.Assign) else ()


def _lines(syntax: Syntax, body: Sequence[ast.stmt]) -> list[str]:
    return [syntax.text.line(number) for number in range(body[0].lineno, (body[-1].end_lineno or 0) + 1)]


def _dedented(lines: Sequence[str]) -> list[str]:
    least = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return [line[least:] for line in lines]


def _open(module: Module) -> int:
    """How many questions of a file nothing handles."""
    return sum(one.kind == "memory-query" and not one.checked for one in module.operations)
