"""Callers that a narrowed function affects: their code, and the messages they show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from bwlint.chips import NONE, ChipSet
from bwlint.chips.operations import operation_in
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.beside import place
from bwlint.fix.python.place import named_in
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.judging.behind import hits
from bwlint.judging.siblings import asking, is_global
from bwlint.model.expr import Span, walk_through
from bwlint.model.facts import Use
from bwlint.model.findings import NoFix
from bwlint.model.kinds import ANSWERS
from bwlint.readers.spans import span
from bwlint.rules.leak.bounds import SHOWN_BY_TREE, is_named_for_others
from bwlint.rules.leak.contract import is_asked
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.libraries import PROOF

_PATCHES = re.compile(r"\b(?:patch|setattr)\b|\bmock\.")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHOOSING = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WHOLE = (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield)
_EXITS = ("exit", "_exit", "quit")


def askers(job: Job, judged: Judged, origin: Judged) -> Iterator[Judged]:
    """The gates that ask the one to be mended, `judged` first; itself, where nobody else does."""
    yield judged
    if origin is judged and not is_global(judged.gate):
        return
    name = origin.gate.name
    found = list(asking(job.context, origin))
    helpers = (one for one in job.context.beside(job.module) if one.gate.kind == "helper-call")
    found += (one for one in helpers if one.gate.name == origin.gate.qualname and one not in found)
    for one in found:
        own = one.module.names.get(name) if one.module is not job.module else None
        if one.gate != judged.gate and (own is None or own.op == "import"):
            yield one


def contrary(job: Job, users: Sequence[Judged], asked: Judged, gone: ChipSet, *, tests: bool = False) -> NoFix | None:
    """Why a gate is not bounded: who asks it, or its name; with `tests` up to half of them may be unknown."""
    said = plain(gone & job.context.targets)
    if (own := next(filter(None, (_own_arm(job, user, gone) for user in users)), None)) is not None:
        return NoFix(f"the bound would cut off the path for {said} at {own}")
    name, gone = asked.gate.name or asked.gate.qualname.rpartition(".")[2], gone & job.context.targets
    promised = named_in(name) if users[0] is not asked else NONE
    if promised & gone:
        return NoFix(f"the name of `{name}` promises {said}: give the test at {place(users[0])} its own check")
    unknown = 0
    for user in users[1:]:
        works = job.context.works_there(user) or job.context.admitted_behind(user, gone)
        skipped = tests and user.in_test and refuses(user.other)
        if surely_fails(job, user, gone) or _only_says_so(job, user):
            continue
        known = not works and _alike(job, user, gone)
        unknown += not known
        if works or not (skipped or known) or unknown > len(users) / 2:
            told = f"where {said} {'work' if works else 'may work'}"
            return NoFix(f"`{name}` is also used at {place(user)}, {told}: add a check for this use alone")
    return None


def _only_says_so(job: Job, user: Judged) -> bool:
    """Whether nothing but a message hangs on a gate: the lines of a log are no work that a chip could lose."""
    yes, no = user.gate.yes, user.gate.no
    if not (yes.ends == no.ends == "fall" and yes.texts and no.empty) or yes.uses:
        return False
    source = job.source if user.module is job.module else Texts().source(user.module.path)
    syntax = parse(source or "")
    tests = (node for node in ast.walk(syntax.tree) if isinstance(node, ast.If)) if syntax is not None else ()
    asked = next((node for node in tests if span(node.test).holds(user.gate.at)), None)
    return asked is not None and all(isinstance(one, ast.Expr) for one in asked.body)


def patched(job: Job, judged: Judged) -> NoFix | None:
    """Why no check of the device goes beside what a gate asks: a test answers for that, on a machine without a GPU."""
    calls = (node.args[0] for node in walk_through(judged.gate.test, judged.module.slots, 1) if node.op == "call")
    helpers = [one for one in calls if job.context.tree.function(judged.module, one) is not None]
    for name in dict.fromkeys(str(one.args[-1]) for one in helpers):
        for hit in hits(job.context, judged.module, name):
            if _PATCHES.search(hit.text):
                at = f"{PurePath(hit.file.real).name}:{hit.line}"
                return NoFix(f"{at} patches `{name}`, on a machine without a GPU too: bound it where it is decided")
    return None


def surely_fails(job: Job, user: Judged, gone: ChipSet) -> bool:
    """Whether chips that a gate lets through come to what is proved to have nothing for them."""
    needs = job.context.evidence.of(user.module, user.working)
    return any(one.strength == PROOF and gone <= one.arriving - one.legal for one in needs)


def _alike(job: Job, user: Judged, gone: ChipSet) -> bool:
    """Whether what is behind a gate, or its name, has a need that some chips lack."""
    evidence = job.context.evidence
    by_name = evidence.libraries.by_name(user.module.path, (user.gate.name, user.gate.qualname), user.at)
    needs = (*evidence.of(user.module, user.working), by_name)
    return any(one is not None and not one.legal & gone for one in needs)


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
    """A caller that a bound might cut off from what works today; None where all callers reach code that fails."""
    users, answers = list(askers(job, judged, origin)), is_global(judged.gate)
    if answers and not _is_known(job, judged, users):
        return f"callers of `{judged.gate.name}` outside of what was read get another answer"
    for user in users[1:] if answers else users:
        if user.in_test and user.denies and user.sets.core - user.sets.must:
            return f"{place(user)} skips under another condition too, and without it {plain(gone)} come there"
        if not refuses(user.other) and (answers or judged.gate.kind in ANSWERS):
            return f"chips kept out at {place(user)} may need another code path"
        source = job.source if user.module is job.module else Texts().source(user.module.path)
        syntax = parse(source or "")
        fails = [use.at for use in user.working.uses if use.sure and _is_shown(job, user, use, gone)]
        if any(is_named_for_others(name, gone) for name in user.gate.qualname.split(".")):
            continue
        if syntax is not None and _nothing_works(job, user, syntax, gone):
            continue
        if syntax is None or not all(any(surely(run, at, user.gate.at) for at in fails) for run in _runs(syntax, user)):
            if user.in_test:
                return f"this skips all of {place(user)} on {plain(gone)}, and some of it may work there"
            return f"this keeps {plain(gone)} out of all behind {place(user)}, and some of that may work there"
    return None


def _is_known(job: Job, judged: Judged, users: Sequence[Judged]) -> bool:
    """Whether all lines of the project that name a predicate or flag import it, set it, or ask it in a known gate."""
    own = re.compile(rf"^\s*(?:def {judged.gate.name}\b|from |import |[({{]?\w+,?\s*$)")
    asked = {(one.module.path, line) for one in users for line in range(one.gate.at[0], one.gate.at[2] + 1)}
    found = (one for one in hits(job.context, job.module, judged.gate.name) if not own.match(one.text))
    return len(users) > 1 and asked >= {(one.file.real, one.line) for one in found}


def _nothing_works(job: Job, user: Judged, syntax: Syntax, gone: ChipSet) -> bool:
    """Whether each method of a class surely fails on some chips, or reads what only one that fails has made."""
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
    """Whether a use surely reaches code that the tree (in a test: a known library) shows to fail on some chips."""
    evidence, called = job.context.evidence, use.how == "call"
    direct = operation_in(use.name) if called else None
    if direct is not None and not direct.chips & gone:
        return True
    need = evidence.of_use(user.module, use) if called and user.in_test and user.other.ends == "skip" else None
    if need is not None and need.strength == PROOF and not need.legal & gone:
        return True
    shown = evidence.shown(user.module, use) if called else ()
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


def surely(body: Sequence[ast.stmt], at: Span, gate: Span) -> bool:
    """Whether who is let through by a gate reaches `at`: no other test is around it, and nothing before it leaves."""
    for statement in body:
        place = span(statement)
        if place.holds(at):
            return _within(statement, at, gate)
        if place[2:] > gate[:2] and not place.holds(gate) and _leaves(statement):
            return False
    return False


def _within(statement: ast.stmt, at: Span, gate: Span) -> bool:
    if isinstance(statement, _WHOLE):
        return surely(statement.body, at, gate)
    if isinstance(statement, ast.If):
        arms = (statement.body, statement.orelse)
        return span(statement).holds(gate) and any(surely(arm, at, gate) for arm in arms)
    if not isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Assert)):
        return False
    choosing = (node for node in ast.walk(statement) if isinstance(node, _CHOOSING))
    return not any(span(node).holds(at) for node in choosing)


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may end what it stands in otherwise than by an error or a skip."""
    for node in ast.walk(statement):
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if isinstance(node, _LEAVING) or name in _EXITS:
            return True
    return False
