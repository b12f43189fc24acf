"""Who asks what a bound narrows: what is behind them, and the words that they say."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from bwlint.chips import ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.operations import operation_in
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.beside import comments
from bwlint.fix.edited import edited
from bwlint.fix.python.surely import surely
from bwlint.fix.python.syntax import Syntax, between, parse
from bwlint.fix.text import closed, tests
from bwlint.judging.siblings import asking
from bwlint.model.expr import walk
from bwlint.model.facts import Use
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.readers import ReadError
from bwlint.readers.spans import span
from bwlint.rules.leak.bounds import SHOWN_BY_TREE
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import PROOF

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def askers(job: Job, judged: Judged, origin: Judged) -> Iterator[Judged]:
    """The gates that ask the one to be mended, `judged` first; itself, where nobody else does."""
    yield judged
    if origin is not judged:
        name = origin.gate.name
        for one in asking(job.context, origin):
            own = one.module.names.get(name) if one.module is not job.module else None
            if one.gate != judged.gate and (own is None or own.op == "import"):
                yield one
        helpers = (one for one in job.context.beside(job.module) if one.gate.kind == "helper-call")
        yield from (one for one in helpers if one.gate.name == origin.gate.qualname and one.gate != judged.gate)


def contrary(job: Job, users: Sequence[Judged], name: str, gone: ChipSet) -> NoFix | None:
    """Another user for whom what is asked is right: what it leads to is known to run on chips that are to go."""
    gone &= job.context.targets
    for user in users[1:]:
        if not lacks(job, user, gone) and (job.context.works_there(user) or job.context.admitted_behind(user, gone)):
            return NoFix(
                f"`{name}` is asked at {place(user)} too, where {plain(gone)} work: give this its own question"
            )
    return None


def lacks(job: Job, user: Judged, gone: ChipSet) -> bool:
    """Whether what a gate surely leads to is proved not to run on any of some chips."""
    needs = job.context.evidence.of(user.module, user.working)
    return any(one.strength == PROOF and gone <= one.arriving - one.legal for one in needs)


def unproved(job: Job, judged: Judged, origin: Judged, gone: ChipSet) -> str | None:
    """Where somebody might lose by a bound what works today; None where all who ask come to what surely fails."""
    for user in askers(job, judged, origin):
        source = job.source if user.module is job.module else Texts().source(user.module.path)
        syntax = parse(source or "")
        fails = [use.at for use in user.working.uses if use.sure and _is_shown(job, user, use, gone)]
        if syntax is None or not all(any(surely(run, at, user.gate.at) for at in fails) for run in _runs(syntax, user)):
            return f"nothing shows that all behind {place(user)} fails on {plain(gone)}"
    return None


def _is_shown(job: Job, user: Judged, use: Use, gone: ChipSet) -> bool:
    """Whether a use surely comes to what the tree itself shows to fail on all of some chips."""
    direct = operation_in(use.name) if use.how == "call" else None
    if direct is not None and not direct.chips & gone:
        return True
    shown = job.context.evidence.shown(user.module, use) if use.how == "call" else ()
    return any(one.kind in SHOWN_BY_TREE and gone <= one.against for one in shown)


def _runs(syntax: Syntax, user: Judged) -> Iterator[Sequence[ast.stmt]]:
    """What runs where a gate lets through: the tests that bear a mark, or what follows it in its function or file."""
    gate, defined = user.gate, [node for node in ast.walk(syntax.tree) if isinstance(node, _DEFINITIONS)]
    around = [node for node in defined if span(node).holds(gate.at) and not isinstance(node, ast.ClassDef)]
    if around and gate.kind != "skipif":
        yield around[-1].body
    elif user.other.ends != "skip":
        yield syntax.tree.body
    else:
        named = [node for node in defined if gate.kind == "skipif" and node.name == gate.name]
        marked: Sequence[ast.AST] = named or [syntax.tree]
        for node in (inner for one in marked for inner in ast.walk(one)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                yield node.body


def place(user: Judged) -> str:
    return f"{PurePath(user.module.path).name}:{user.gate.at[0]}"


def with_words(job: Job, fix: Fix, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Fix | NoFix:
    """A bound with what the reasons, comments and docstrings beside it say of it: "SM100+" is not true any more."""
    edits: list[Edit] = []
    asked = gone & job.context.targets
    for start, end, is_reason in _words(job, users, origin):
        said = mentioned(job.source[start:end])
        line = job.source.count("\n", 0, start) + 1
        if not said.named & asked:
            continue
        hits = closed(job.source, start, end, gone) if said.open_ended else []
        if is_reason and not hits:
            return NoFix(f"the words at line {line} speak of {plain(asked)} too: what they are to say is for a person")
        edits += [between(SourceText(job.source), job.module.path, *hit) for hit in hits]
    if not edits:
        return fix
    both = (*fix.edits, *dict.fromkeys(edits))
    try:
        alone, together = (edited(job.module, apply(job.source, each)) for each in (fix.edits, both))
    except ReadError:
        return NoFix("the words beside it stand in the way of the edit")
    same = tests(alone) == tests(together)
    return replace(fix, edits=both) if same else NoFix("the words beside it are more than words")


def _reasons(syntax: Syntax, user: Judged) -> Iterator[str]:
    """The names by which a mark gives its reason: `skipif(..., reason=OLD)`."""
    for node in ast.walk(syntax.tree):
        if isinstance(node, ast.Call) and span(node).holds(user.gate.at) and user.gate.kind == "skipif":
            yield from (each.value.id for each in node.keywords if isinstance(each.value, ast.Name))


def _words(job: Job, users: Sequence[Judged], origin: Judged) -> Iterator[tuple[int, int, bool]]:
    """Where words stand that speak of a gate, and whether they are those of a refusal."""
    text = SourceText(job.source)
    for user in (one for one in users if one.module is job.module and (refuses(one.other) or answers_no(one.other))):
        nodes = walk(user.other.value) if user.other.value is not None else ()
        answers = [node.at for node in nodes if node.op == "const" and isinstance(node.args[0], str)]
        for at in (*(prose.at for prose in user.other.texts), *filter(None, answers)):
            yield (*text.bounds(text.region(*at)), True)
    for near in comments(job.module, job.source, origin.gate):
        yield near.start, near.end, False
    syntax, name = parse(job.source), origin.gate.qualname.rpartition(".")[2]
    if syntax is None:
        return
    reasons = {one for user in users for one in _reasons(syntax, user)}
    for given in syntax.tree.body:
        target = given.targets[0] if isinstance(given, ast.Assign) else None
        if isinstance(given, ast.Assign) and isinstance(target, ast.Name) and target.id in reasons:
            yield syntax.start(given.value), syntax.end(given.value), True
    for node in ast.walk(syntax.tree):
        if isinstance(node, ast.FunctionDef) and node.name == name and ast.get_docstring(node):
            inside = node.lineno <= origin.gate.at[0] <= (node.end_lineno or 0)
            yield from [(syntax.start(node.body[0]), syntax.end(node.body[0]), False)] if inside else ()
