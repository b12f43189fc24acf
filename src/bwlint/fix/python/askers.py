"""Who asks what a bound narrows: what is behind them, and the words that they say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from bwlint.chips import NONE, ChipSet
from bwlint.chips.mentions import mentioned
from bwlint.chips.operations import operation_in
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.beside import comments
from bwlint.fix.change import unsafe
from bwlint.fix.edited import edited
from bwlint.fix.python.place import named_in
from bwlint.fix.python.surely import surely
from bwlint.fix.python.syntax import Syntax, between, parse
from bwlint.fix.text import closed, tests
from bwlint.judging.behind import hits
from bwlint.judging.siblings import asking, is_global
from bwlint.model.expr import walk
from bwlint.model.facts import Use
from bwlint.model.findings import Edit, Fix, NoFix
from bwlint.model.kinds import ANSWERS
from bwlint.readers import ReadError
from bwlint.readers.spans import span
from bwlint.rules.leak.bounds import SHOWN_BY_TREE
from bwlint.rules.leak.contract import is_asked
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import PROOF

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def askers(job: Job, judged: Judged, origin: Judged) -> Iterator[Judged]:
    """The gates that ask the one to be mended, `judged` first; itself, where nobody else does."""
    yield judged
    if origin is not judged or is_global(judged.gate):
        name = origin.gate.name
        for one in asking(job.context, origin):
            own = one.module.names.get(name) if one.module is not job.module else None
            if one.gate != judged.gate and (own is None or own.op == "import"):
                yield one
        helpers = (one for one in job.context.beside(job.module) if one.gate.kind == "helper-call")
        yield from (one for one in helpers if one.gate.name == origin.gate.qualname and one.gate != judged.gate)


def contrary(job: Job, users: Sequence[Judged], asked: Judged, gone: ChipSet) -> NoFix | None:
    """Why a gate is not bounded: a user has an arm for the chips, runs on them, or has no such need; or its name."""
    evidence, said = job.context.evidence, plain(gone & job.context.targets)
    if (own := next(filter(None, (_own_arm(job, user, gone) for user in users)), None)) is not None:
        return NoFix(f"{own} has a path of its own for {said}, which the bound would cut off")
    name, gone = asked.gate.name or asked.gate.qualname.rpartition(".")[2], gone & job.context.targets
    promised = named_in(name) if users[0] is not asked else NONE
    if promised & gone:
        return NoFix(f"the name of `{name}` promises {said}: give the test at {place(users[0])} its own check")
    for user in users[1:]:
        by_name = evidence.libraries.by_name(user.module.path, (user.gate.name, user.gate.qualname), user.at)
        needs = list(evidence.of(user.module, user.working))
        fails = any(one.strength == PROOF and gone <= one.arriving - one.legal for one in needs)
        works = job.context.works_there(user) or job.context.admitted_behind(user, gone)
        alike = not promised or any(one is not None and not one.legal & gone for one in (*needs, by_name))
        if not fails and (works or not alike):
            told = f"where {said} work" if works else f"where nothing shows that {said} fail"
            return NoFix(f"`{name}` is asked at {place(user)} too, {told}: give this its own question")
    return None


def _own_arm(job: Job, user: Judged, gone: ChipSet) -> str | None:
    """Where a gate, or something that it leads to, does for chips that are to go what it does for no other."""
    calls = {use.name.rpartition(".")[2]: use for use in user.working.uses if use.how == "call"}
    behind = (one for use in calls.values() for one in job.context.evidence.gates(user.module, use))
    called = (one for one in behind if one.gate.qualname.rpartition(".")[2] in calls)
    inside = (one for one in job.context.beside(user.module) if user.working.holds(one.at))
    for one in (user, *inside, *called):
        for side in (one.gate.yes, one.gate.no):
            own = one.on(side) & job.context.targets and one.on(side) <= gone and not side.empty
            if own and not refuses(side) and not answers_no(side):
                return place(one)
    return None


def unproved(job: Job, judged: Judged, origin: Judged, gone: ChipSet) -> str | None:
    """Where somebody might lose by a bound what works today; None where all who ask come to what surely fails."""
    users, answers = list(askers(job, judged, origin)), is_global(judged.gate)
    if answers and not _is_known(job, judged, users):
        return f"`{judged.gate.name}` may be asked where nothing here looks"
    for user in users[1:] if answers else users:
        if not refuses(user.other) and (answers or judged.gate.kind in ANSWERS):
            return f"chips kept out at {place(user)} may need another code path"
        source = job.source if user.module is job.module else Texts().source(user.module.path)
        syntax = parse(source or "")
        fails = [use.at for use in user.working.uses if use.sure and _is_shown(job, user, use, gone)]
        if syntax is not None and _nothing_works(job, user, syntax, gone):
            continue
        if syntax is None or not all(any(surely(run, at, user.gate.at) for at in fails) for run in _runs(syntax, user)):
            return f"nothing shows that all behind {place(user)} fails on {plain(gone)}"
    return None


def _is_known(job: Job, judged: Judged, users: Sequence[Judged]) -> bool:
    """Whether all lines of the project that name a predicate or flag import it, set it, or ask it in a known gate."""
    own = re.compile(rf"^\s*(?:def {judged.gate.name}\b|from |import |[({{]?\w+,?\s*$)")
    asked = {(one.module.path, line) for one in users for line in range(one.gate.at[0], one.gate.at[2] + 1)}
    found = (one for one in hits(job.context, job.module, judged.gate.name) if not own.match(one.text))
    return len(users) > 1 and asked >= {(one.file.real, one.line) for one in found}


def _nothing_works(job: Job, user: Judged, syntax: Syntax, gone: ChipSet) -> bool:
    """Whether a class that answers for its chips can do nothing on some: each of its methods surely fails there, or
    reads what only one that fails has made.
    """
    owner = user.gate.qualname.rpartition(".")[0]
    shown = job.context.evidence.methods(user.module, owner) if owner in user.module.classes else ()
    fails = {name for name, needs in shown if any(one.kind in SHOWN_BY_TREE and gone <= one.against for one in needs)}
    body = next((one for one in ast.walk(syntax.tree) if isinstance(one, ast.ClassDef) and one.name == owner), None)
    methods = [one for one in body.body if isinstance(one, ast.FunctionDef)] if body is not None and fails else []
    made = {name for one in methods if one.name in fails for name in _attributes(one, ast.Store)}
    other = [one for one in methods if not (one.name in fails or one.name.startswith("_") or is_asked(one.name))]
    return bool(methods) and all(made & _attributes(one, ast.Load) for one in other)


def _attributes(node: ast.AST, use: type[ast.expr_context]) -> set[str]:
    found = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, use))
    return {one.attr for one in found if isinstance(one.value, ast.Name) and one.value.id == "self"}


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
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
                yield node.body


def place(user: Judged) -> str:
    return f"{PurePath(user.module.path).name}:{user.gate.at[0]}"


def with_words(job: Job, fix: Fix, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Fix | NoFix:
    """A bound with what the reasons, comments and docstrings beside it say of it: "SM100+" is not true any more."""
    edits: list[Edit] = []
    asked = gone & job.context.targets
    for start, end, is_reason in dict.fromkeys(_words(job, users, origin, gone)):
        said = mentioned(job.source[start:end])
        line = job.source.count("\n", 0, start) + 1
        if not said.named & asked:
            continue
        hits = closed(job.source, start, end, gone) if said.open_ended else []
        if is_reason and not hits and not said.open_ended:
            return NoFix(f"the text at line {line} speaks of {plain(asked)} too: rewrite it by hand")
        if not hits:
            fix = unsafe(fix, f"the words at line {line} still speak of {plain(asked)}")
        edits += [between(SourceText(job.source), job.module.path, *hit) for hit in hits]
    for user in (one for one in users if one.module is not job.module):
        side = user.gate.no if gone & user.core else user.gate.yes
        if any(one.open_ended and one.named & asked for one in (mentioned(prose.text) for prose in side.texts)):
            fix = unsafe(fix, f"the words beside {place(user)} still speak of {plain(asked)}")
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


def _words(job: Job, users: Sequence[Judged], origin: Judged, gone: ChipSet) -> Iterator[tuple[int, int, bool]]:
    """Where words stand that speak of a gate, and whether they are those of a refusal."""
    text = SourceText(job.source)
    for user in (one for one in users if one.module is job.module):
        side = user.gate.no if gone & user.core else user.gate.yes
        nodes = walk(side.value) if side.value is not None else ()
        answers = [node.at for node in nodes if node.op == "const" and isinstance(node.args[0], str)]
        for at in (*(prose.at for prose in side.texts), *filter(None, answers)):
            start, end = text.bounds(text.region(*at))
            is_reason = refuses(side) or answers_no(side)
            yield from [(start, end, is_reason)] if is_reason or mentioned(job.source[start:end]).open_ended else ()
        for near in comments(job.module, job.source, user.gate):
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
