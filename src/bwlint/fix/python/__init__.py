"""Tests of a running Python program: an edit is tried on every chip before anybody sees it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import PurePath
from typing import Literal

from bwlint.chips import NONE, ChipSet
from bwlint.chips.spelling import IN_NAMES, PREFIX
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.meant import said_exactly
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import compares_limit, prove
from bwlint.fix.python.syntax import Syntax, parse
from bwlint.judging.siblings import MAX_DEFINITIONS, asks
from bwlint.model.expr import Expr, Span, is_text, walk, walk_through
from bwlint.model.facts import Path
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.model.kinds import GateKind
from bwlint.readers.spans import span
from bwlint.sources.read import SourceText
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged

__all__ = ["TABLES", "UNKNOWN", "Spelling", "bounded_at", "first_proved", "mend", "origin", "propose"]

Spelling = Callable[[ConditionPlace], Iterable[Candidate] | NoFix]
"""Proposes new texts of a test, the most idiomatic first; `NoFix` says why there can be none."""

TABLES: frozenset[GateKind] = frozenset({"table", "lookup"})
_LONGEST_TITLE = 110
UNKNOWN = NoFix("bwlint has no rewrite for this spelling", technical=True)
_XFAIL = re.compile(r"(?<!\w)xfail(?!\w)")
_MAY_NAME_CHIP = re.compile(rf"(?<!\w)\d|['\"]{PREFIX}?\d|\.{IN_NAMES}\d")


def mend(job: Job) -> Fix | NoFix:
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    place = origin(job, judged)
    doubt = remedy.unsafe or _known_to_fail(job, place)
    leaves_out = bool(remedy.chips - judged.core) == judged.denies and remedy.chips != judged.core
    beyond: Literal["admit", "bound"] | None = "bound" if leaves_out else "admit" if doubt else None
    wanted = _wanted(judged, place, remedy.chips)
    change = WantedChange.between(judged.sets, remedy.chips, beyond)
    if isinstance(change, WantedChange):
        told = (said_exactly(one.gate.comment, change) for one in deciding(job, judged))
        if (said := next(filter(None, told), None)) is not None:
            return said
    if remedy.at is not None:
        whole = propose(job, place, wanted, None)
        parted = _kept_apart(job, whole, remedy.at) if isinstance(whole, Fix) else whole
        if isinstance(parted, Fix):
            return parted
    if leaves_out:
        return _left_out(job, judged, place, doubt)
    fix = propose(job, place, wanted, doubt, beyond)
    return _decided_elsewhere(job, place) or fix if fix == UNKNOWN else fix


def _left_out(job: Job, judged: Judged, place: Judged, doubt: str | None) -> Fix | NoFix:
    """The bound where the test is decided; else beside what it asks, for this test alone."""
    change, told = WantedChange.between(judged.sets, job.remedy.chips, "bound"), list[NoFix]()
    if any(node.op == "attr" and node.args[1] == "param" for node in walk(judged.gate.test)):
        return NoFix("this skips one value of a fixture's parameter only: add a skip to the tests that use the fixture")
    if _known_to_fail(job, place):
        return NoFix("this marks an expected failure (xfail): skip these chips in a check of their own")
    there = decider(job, place) if isinstance(change, WantedChange) and change.kind == "bound" else None
    for one in (there, place, None) if there is not None else (place, None):
        found = _bound(job, judged, one or judged, doubt, beside=one is None)
        if isinstance(found, Fix):
            return found
        told.append(found)
    apart = _at_callers(job, judged, there or place, doubt)
    if isinstance(apart, Fix):
        return apart
    marked = import_module(f"{__name__}.marks").bounded(job, judged) if judged.gate.kind == "skipif" else UNKNOWN
    if isinstance(marked, Fix):
        return marked
    gone = plain(judged.core - job.remedy.chips | job.remedy.chips - judged.core)
    only = doubt or f"other tests that ask `{_named(there or place)}` may work on {gone}, and would be skipped too"
    if isinstance(skipped := _bound(job, judged, there or place, only, tests=True), Fix):
        return skipped
    said = next((one for one in told if not one.technical), None)
    asked = place.gate.text or _named(place)
    unwritten = NoFix(f"no edit of `{asked}` keeps {gone} out of this alone: add a check of the capability beside it")
    if judged.is_declared:
        unwritten = NoFix(f"only an oldest capability is declared: declare a newest one too, which keeps {gone} out")
    return said or _decided_elsewhere(job, place) or _asked_elsewhere(judged, place) or unwritten


def _bound(
    job: Job, judged: Judged, place: Judged, doubt: str | None, *, beside: bool = False, tests: bool = False
) -> Fix | NoFix:
    """The bound at a gate that `judged` asks, with the words of all who ask it; `beside` what it asks, at `judged`."""
    from bwlint.fix.beside import with_words
    from bwlint.fix.python.askers import askers, contrary, patched

    if beside and (said := patched(job, judged)) is not None:
        return said

    wanted = _wanted(judged, place, job.remedy.chips)
    gone = wanted - place.core | place.core - wanted
    users = list(askers(job, judged, place))
    if (said := contrary(job, users, place, gone, tests=tests)) is not None:
        return said
    found: list[Fix] = []
    for one in (place, *_set_again(job, place)):
        fix = propose(job, one, wanted, doubt, "bound", beside=beside)
        if isinstance(fix, NoFix) and not found:
            return fix
        found += [fix] if isinstance(fix, Fix) else []
    for one in (other for other in job.context.beside(job.module) if other.at in job.remedy.also):
        apart = _wanted(judged, one, job.remedy.chips)
        tried = (propose(job, one, apart, doubt, "bound", beside=beside) for beside in (False, True))
        bound = next((fix for fix in tried if isinstance(fix, Fix)), None)
        if bound is None:
            return NoFix(f"line {one.at.line} sends {plain(gone & job.context.targets)} there too: bound both checks")
        found.append(bound)
    users += [place] if place is not judged else []
    whole = replace(found[0], edits=tuple(edit for one in found for edit in one.edits))
    return with_words(job, whole, users, place, gone)


def _at_callers(job: Job, judged: Judged, place: Judged, doubt: str | None) -> Fix | NoFix:
    """The bound beside each call of a helper behind which chips surely fail; all of them or none."""
    from bwlint.fix.beside import with_words
    from bwlint.fix.python.askers import askers, patched, surely_fails

    change = WantedChange.between(judged.sets, job.remedy.chips, "bound")
    gone = change.chips & job.context.targets if isinstance(change, WantedChange) else NONE
    users = [one for one in askers(job, judged, place) if one is not place and gone and surely_fails(job, one, gone)]
    found: list[Fix] = []
    for user in users:
        if (said := patched(job, user)) is not None:
            return said
        source = job.source if user.module is job.module else Texts().source(user.module.path) or ""
        draft = replace(job.draft, place=replace(job.draft.place, module=user.module))
        theirs = replace(job, draft=draft, source=source, judged=user)
        fix = propose(theirs, user, _wanted(judged, user, job.remedy.chips), doubt, "bound", beside=True)
        whole = with_words(theirs, fix, (user,), user, gone) if isinstance(fix, Fix) else fix
        if isinstance(whole, NoFix):
            return whole
        found.append(whole)
    if not found:
        return UNKNOWN
    edits = tuple(dict.fromkeys(edit for one in found for edit in one.edits))
    return replace(next((one for one in found if one.applicability == "unsafe"), found[0]), edits=edits)


def bounded_at(job: Job, judged: Judged, fix: Fix) -> Judged:
    """The gate that a bound was written at."""
    place = origin(job, judged)
    there, lines = decider(job, place), {edit.region.line for edit in fix.edits if edit.path == job.module.path}
    return there if there is not None and lines & {*range(there.gate.at[0], there.gate.at[2] + 1)} else place


def deciding(job: Job, judged: Judged) -> Iterator[Judged]:
    """The gates whose answer a test only hands on: of its own file, then of the helpers of others that it calls."""
    module, context = judged.module, job.context
    yield from (one for one in context.beside(module) if one is not judged and one.stands_here and asks(judged, one))
    for node in walk_through(judged.gate.test, module.slots, MAX_DEFINITIONS):
        found = context.tree.function(module, node.args[0]) if node.op == "call" else None
        if found is not None and found.module is not module:
            own = context.judged.get(found.module.path, ())
            yield from (one for one in own if one.gate.qualname == found.function.qualname)


def decider(job: Job, judged: Judged) -> Judged | None:
    """The gate of the same file whose answer a test only hands on."""
    return next((one for one in deciding(job, judged) if one.module is judged.module), None)


def _decided_elsewhere(job: Job, judged: Judged) -> NoFix | None:
    """Where what a test asks is decided, if it only hands an answer on."""
    one = next(deciding(job, judged), None)
    if one is None:
        return None
    if one.module is judged.module:
        return NoFix(f"`{_named(one)}` decides this at line {one.at.line}: mend it there")
    at = f"{PurePath(one.module.path).name}:{one.gate.at.line}"
    if any(is_text(value) for _, value in _returns(one)):
        return NoFix(f"`{_named(one)}` ({at}) decides this and returns the reason: bound it there")
    return NoFix(f"`{_named(one)}` ({at}) decides this, and other files use it too: add a check of the capability here")


def _returns(judged: Judged) -> tuple[tuple[Path, Expr], ...]:
    function = judged.module.functions.get(judged.gate.qualname)
    return function.returns if function is not None else ()


def _set_again(job: Job, place: Judged) -> Iterator[Judged]:
    """The other places that set a flag by the same name to the same chips."""
    for one in job.context.judged[job.module.path] if place.gate.kind == "flag" and place.gate.name else ():
        same = (one.gate.kind, one.gate.name, one.gate.qualname) == ("flag", place.gate.name, place.gate.qualname)
        if same and one.gate is not place.gate and one.core == place.core:
            yield one


def _named(judged: Judged) -> str:
    return judged.gate.name or judged.gate.qualname.rpartition(".")[2]


def _asked_elsewhere(judged: Judged, place: Judged) -> NoFix | None:
    """Why a test cannot be bounded where it stands: what it asks is the answer of something else."""
    gate = place.gate
    if judged.admitted >= judged.sets.live:
        return NoFix("nothing here checks the chip: add a check")
    if gate.kind == "helper-call":
        return NoFix(f"other code calls `{gate.name}` too: add a skip or an error here")
    if gate.kind == "predicate" and gate.test.op == "const":
        return NoFix(f"`{_named(place)}` returns a minimum and has no upper bound: bound it where it is used")
    return None


def _wanted(judged: Judged, origin: Judged, chips: ChipSet) -> ChipSet:
    """The set wanted of the gate to mend: the same chips change there, whichever way round it asks."""
    if origin is judged:
        return chips
    changed = (chips | judged.core) - (chips & judged.core)
    return (origin.core | changed) - (origin.core & changed)


def _known_to_fail(job: Job, judged: Judged) -> str | None:
    """Whether who is left out is expected to fail: somebody has seen that."""
    at = judged.other.at
    if at is None or judged.other.ends != "skip":
        return None
    text = SourceText(job.source)
    lines = " ".join(text.line(number) for number in range(at[0], at[2] + 1))
    return "the test is expected to fail there" if _XFAIL.search(lines) else None


def origin(job: Job, judged: Judged) -> Judged:
    """The gate to mend: the test in the helper, the flag or the predicate that the finding is at, and not its use."""
    leaf, gate = judged.gate.leaf, judged.gate
    if job.draft.at in (judged.at, gate.at):
        return judged
    beside = [other for other in job.context.judged[job.module.path] if other.gate is not gate]
    flags = (one for one in beside if one.gate.kind == "flag" and leaf and one.gate.at.holds(leaf))
    return next(flags, None) or next((one for one in beside if one.gate.at == job.draft.at), judged)


def propose(
    job: Job,
    judged: Judged,
    wanted: ChipSet,
    doubt: str | None,
    beyond: Literal["admit", "bound"] | None = None,
    *,
    beside: bool = False,
) -> Fix | NoFix:
    """The fix after which a test in the file of `job` holds on exactly the chips `wanted`: safe without a `doubt`.

    `beyond` is what it does more than to complete a family; `beside` bounds what a helper answers where it is asked.
    """
    change, gate = WantedChange.between(judged.sets, wanted, beyond), judged.gate
    if isinstance(change, NoFix):
        return change
    place = ConditionPlace.of(job, judged, change, gate.at if beside else None)
    if isinstance(place, NoFix):
        return place
    if compares_limit(gate, place.span, job.module):
        return NoFix("the literal is compared with a queried shared-memory limit")
    untold = import_module(f"{__name__}.rows").untold if gate.kind in TABLES and not doubt else None
    if untold is not None and isinstance(why := untold(place), NoFix):
        return why
    spellings = (_of("rows"),) if gate.kind in TABLES else (_of("asked"),) if beside else _SPELLINGS
    evidence = job.remedy.evidence
    proved = first_proved(place, spellings, f"{evidence} (unsafe: {doubt})" if doubt else evidence)
    if isinstance(proved, NoFix):
        return proved
    candidate, proof = _with_words(place, *proved, proved=not doubt)
    return Fix("unsafe" if doubt else "safe", change.kind, titled(change, candidate), candidate, proof)


def _with_words(place: ConditionPlace, candidate: Candidate, proof: Proof, *, proved: bool) -> tuple[Candidate, Proof]:
    """An edit with those of the words beside the gate; if it is not `proved`, only what the words demand moves."""
    from bwlint.fix.beside import demands, moved, stale

    change, module, source = place.change, place.module, place.source
    refusal = Judged(module, place.gate, place.sets, "").other
    spoken = change.twins and place.gate.kind not in TABLES  # what is said of a row stays true of that row
    found = stale(module, source, place.gate, refusal, change.twins, change.chips) if spoken else []
    meant = [one for one in found if proved or one.literal or demands(source[one.start : one.end])]
    edits = [edit for words in meant for edit in moved(module, source, words, change.chips | change.twins)]
    both = prove(place, (*edits, *candidate), proof.evidence) if edits else None
    return ((*edits, *candidate), both) if isinstance(both, Proof) else (candidate, proof)


def _literals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """Literals that name a chip, rewritten in their own spelling."""
    text = SourceText(place.source)
    # most helper calls hold no literal, and libcst is slow
    if not any(_MAY_NAME_CHIP.search(text.line(number)) for number in range(place.span[0], place.span[2] + 1)):
        return ()
    from bwlint.fix.python.locate import edits

    found = edits(place.module.path, place.source, place.span, place.change)
    return found if isinstance(found, NoFix) else ((edit,) for edit in found)


def _of(name: str) -> Spelling:
    """The proposals of a module of this package, which is loaded when they are asked for."""

    def spelling(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
        found: Iterable[Candidate] | NoFix = import_module(f"{__name__}.{name}").proposals(place)
        return found

    return spelling


_SPELLINGS: tuple[Spelling, ...] = (
    _of("admits"),
    _literals,
    _of("listed"),
    _of("helpers"),
    _of("flags"),
    _of("bounds"),
)


def first_proved(
    place: ConditionPlace, spellings: Iterable[Spelling], evidence: str
) -> tuple[Candidate, Proof] | NoFix:
    """The first proposal that holds, with its proof; else why the first one does not."""
    if place.change.kind != "bound" and (said := place.misnamed) is not None:
        return said
    refusal: NoFix | None = None
    for spelling in spellings:
        candidates = spelling(place)
        if isinstance(candidates, NoFix):
            refusal = refusal or candidates
            continue
        for candidate in candidates:
            proof = prove(place, candidate, evidence)
            if isinstance(proof, Proof):
                return candidate, proof
            refusal = refusal or proof
    return refusal or UNKNOWN


def titled(change: WantedChange, candidate: Candidate) -> str:
    """What a change does, and what to write for it where that is short."""
    edit = candidate[-1]
    text = " ".join(edit.text.split()).strip(", ")
    if len(text) > _LONGEST_TITLE:
        return change.title
    region = edit.region
    inserted = (region.line, region.column) == (region.end_line, region.end_column)
    return f"{change.title}: {'add' if inserted else 'write'} `{text}`"


def _kept_apart(job: Job, fix: Fix, own: Span) -> Fix | NoFix:
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
