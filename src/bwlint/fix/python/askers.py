"""Who asks what a bound narrows: what is behind them, and the words that they say."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from bwlint.chips import ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.beside import comments
from bwlint.fix.edited import edited
from bwlint.fix.python.syntax import between, parse
from bwlint.fix.text import closed, tests
from bwlint.judging.siblings import asking
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.readers import ReadError
from bwlint.sources.read import SourceText
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import PROOF
from bwlint.world.proofs import Node


def askers(job: Job, judged: Judged, origin: Judged) -> Iterator[Judged]:
    """The gates that ask the one to be mended, `judged` first; itself, where nobody else does."""
    yield judged
    if origin is not judged:
        yield from (one for one in asking(job.context, origin) if one.gate != judged.gate)
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
        tests = _skipped(job, user)
        failing = all(job.context.evidence.fails(test, gone) for test in tests) if tests else lacks(job, user, gone)
        if not failing:
            return f"nothing shows that all behind {place(user)} fails on {plain(gone)}"
    return None


def _skipped(job: Job, user: Judged) -> list[Node]:
    """The tests that a skip of a whole file, or the mark of a class, is for."""
    gate = user.gate
    whole = gate.qualname == "<module>" and gate.kind != "skipif"
    if user.other.ends != "skip" or not (whole or gate.name in user.module.classes or gate.name == "pytestmark"):
        return []
    owner = "" if whole or gate.name == "pytestmark" else f"{gate.name}."
    return [one for one in job.context.evidence.tests(user.module) if one.definition.qualname.startswith(owner)]


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


def _words(job: Job, users: Sequence[Judged], origin: Judged) -> Iterator[tuple[int, int, bool]]:
    """Where words stand that speak of a gate, and whether they are those of a refusal."""
    text = SourceText(job.source)
    for user in (one for one in users if one.module is job.module and (refuses(one.other) or answers_no(one.other))):
        for prose in user.other.texts:
            yield (*text.bounds(text.region(*prose.at)), True)
    for near in comments(job.module, job.source, origin.gate):
        yield near.start, near.end, False
    syntax, name = parse(job.source), origin.gate.qualname.rpartition(".")[2]
    for node in ast.walk(syntax.tree) if syntax is not None else ():
        named = isinstance(node, ast.FunctionDef) and node.name == name
        if syntax is not None and isinstance(node, ast.FunctionDef) and named and ast.get_docstring(node):
            inside = node.lineno <= origin.gate.at[0] <= (node.end_lineno or 0)
            yield from [(syntax.start(node.body[0]), syntax.end(node.body[0]), False)] if inside else ()
