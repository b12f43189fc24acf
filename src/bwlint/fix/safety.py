"""Downgrade a safe fix to unsafe: by the code behind it, the words beside it, and the file afterwards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

from bwlint.chips import ChipSet, Target, TargetSet, chip_of_number, group, known_targets, siblings
from bwlint.chips.mentions import mentioned
from bwlint.chips.spelling import spelled
from bwlint.chips.wording import plain
from bwlint.chips.words import said
from bwlint.fix import Job
from bwlint.fix.beside import stale, touched
from bwlint.fix.change import unsafe
from bwlint.fix.edited import MOST_KEPT, apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python import bounded_at, origin
from bwlint.fix.python.askers import unproved
from bwlint.fix.python.proof import reached, written
from bwlint.fix.together import changed, together
from bwlint.judging.behind import kept_away, kept_out, tested
from bwlint.judging.compiled import behind
from bwlint.judging.context import Context, instead
from bwlint.judging.drafts import Draft, Remedy
from bwlint.judging.guards import guards_of
from bwlint.model.expr import walk
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import SEVERITIES, Fix, NoFix
from bwlint.model.kinds import ACCEPTING
from bwlint.readers import ReadError
from bwlint.rules import checks, file_checks, guard_checks
from bwlint.rules.family_split import guard as family_split
from bwlint.sources.tree import is_project
from bwlint.world.gates import Judged

_REASON = re.compile(rf"\b(?:{said('on-purpose', 'tried', 'untried')})\b", re.I)
_TWINS = group("consumer-blackwell")
_MACRO = re.compile(r"(?<=defined\()\w+|(?<=defined )\w+|\b[A-Z]\w*_\w+")
_LONGEST_TEXT = 80
_PLACE = re.compile(r"\bline \d+|:\d+\b")
_MOST_FILES = 60
_WORD = re.compile(r"\w+")
_EXACT = rb"__CUDA_ARCH(?:__\s*==\s*|_FEAT_SM|_FAMILY_SPECIFIC__\s*==\s*)%d"


def settled(job: Job, fix: Fix) -> Fix:
    """A fix that is called safe, with those that belong to it; unsafe where something speaks against one of them."""
    if job.judged is not None and job.remedy.how == "test" and fix.kind != "bound":
        job = replace(job, judged=origin(job, job.judged))
    if (doubt := _guessed(job)) is not None:
        return unsafe(fix, doubt)
    parts = together(job, fix)
    if isinstance(parts, NoFix):
        return unsafe(fix, parts.reason)
    edits = tuple(dict.fromkeys(edit for _, part in parts for edit in part.edits))
    fix = replace(fix, edits=edits)
    doubts = (check(each, replace(part, edits=edits)) for each, part in parts for check in _CHECKS)
    doubt = next(filter(None, doubts), None) or _untried(parts)
    return fix if doubt is None else unsafe(fix, doubt)


def _guessed(job: Job) -> str | None:
    if job.judged is None or not job.judged.sets.guessed or job.judged.sets.flags or job.remedy.how == "order":
        return None
    if job.module.language == "cuda" and "DeviceProp" in job.source:
        parts = {node.args[1] for node in reached(job.judged.gate.test, job.module) if node.op == "attr"}
        if parts & {"major", "minor"}:
            return None  # its type says what it is
    if _says_what_it_is(job.judged):
        return None
    return "the name suggests a capability, and nothing here sets it to one"


def _says_what_it_is(judged: Judged) -> bool:
    """Whether what stands beside a value tells that it is a part: `"sm_120"`, or a list of the numbers of several."""
    gate = judged.gate
    test = next((node for node in walk(gate.test) if node.at is not None and node.at == gate.leaf), gate.test)
    literals = [node.args[0] for node in walk(test) if node.op == "const"]
    if literals and all(isinstance(one, str) for one in literals):
        return all((name := spelled(one)) is not None and name.prefix for one in literals)
    chips = [chip_of_number(one) for one in literals if type(one) is int]
    return None not in chips and len({chip.major for chip in chips if chip}) > 1 and len(chips) == len(literals)


def _meant(job: Job, fix: Fix) -> str | None:
    """A refusal or a comment gives a reason for the exact part."""
    if job.judged is None or fix.kind != "family":
        return None
    words = " ".join((job.judged.gate.comment, *(prose.text for prose in job.judged.other.texts)))
    found = _REASON.search(words)
    return None if found is None else f"its words say `{found[0]}`"


def _moves_others(job: Job, fix: Fix) -> str | None:
    """An order that is asked for in another way has the set that it had."""
    if job.remedy.how != "order" or fix.proof.before_may == fix.proof.after_may:
        return None
    return "the test changes on " + " and ".join(sorted({*fix.proof.before_may} ^ {*fix.proof.after_may}))


def _behind(job: Job, fix: Fix) -> str | None:
    """The next gate, list or build takes one of the twins alone."""
    judged = job.judged
    parts = changed(job, fix)
    if judged is None or parts is None:
        return None
    held, missing = parts
    if (own := job.remedy.at) is not None:  # what is kept apart from the rest gets what it got
        rest = tuple(use for use in judged.gate.yes.uses if use.at != own)
        judged = replace(judged, gate=replace(judged.gate, yes=replace(judged.gate.yes, uses=rest)))
    names = (judged.gate.name, *judged.gate.qualname.split("."))
    need = job.context.evidence.libraries.by_name(judged.module.path, names, judged.at)
    if need is not None and not need.legal & held:
        return f"its name is for {need.what}, which does not run on {plain(held)} either"
    stopped = kept_out(job.context, judged, held, missing)
    if stopped is not None:
        return stopped
    return None if judged.in_test else kept_away(job.context, judged, held, missing)


def _untried(parts: Sequence[tuple[Job, Fix]]) -> str | None:
    """Neither what a test calls nor the reason of a skip says that it is for the other twin."""
    opened = [
        (job.context, job.judged, *moved)
        for job, fix in parts
        if job.judged is not None and job.judged.in_test and (moved := changed(job, fix)) is not None
    ]
    for context, judged, held, missing in opened:
        reasons = [mentioned(prose.text) for prose in judged.other.texts]
        named = any(missing <= said.named and not said.exact & held for said in reasons)
        if named or tested(context, judged, missing):
            return None
    return "nothing that the test calls says that it is for both" if opened else None


def _loses(job: Job, fix: Fix) -> str | None:
    """Somebody else is kept out by a bound, or more is than what fails."""
    if job.judged is None or fix.kind != "bound" or job.remedy.how != "test":
        return None
    if job.module.language != "python":
        return "bwlint does not show in C++ that everything behind the check fails there"
    before, after = (ChipSet.of(*names) for names in (fix.proof.before_may, fix.proof.after_may))
    if before == after:  # `x or old()` may refuse everybody: who surely is has changed
        before, after = (ChipSet.of(*names) for names in (fix.proof.before_must, fix.proof.after_must))
    gone = before - after | after - before
    if not gone:
        return "whom it keeps out hangs on something else too"
    stays = after if gone <= before else ~after
    if min(chip.joined for chip in gone) < max((chip.joined for chip in stays), default=0):
        return "it keeps out more than the newest chips"
    return unproved(job, job.judged, bounded_at(job, job.judged, fix), gone)


def _headers(job: Job, fix: Fix) -> str | None:
    """An included header has a guard for one of the twins alone: what is behind the edited one may rest on it."""
    if job.remedy.how != "guard" or not {*fix.proof.after_may} - {*fix.proof.before_may}:
        return None
    edited = {edit.path for edit in fix.edits}
    for header in job.context.tree.headers.included(job.module):
        guards = job.context.guards.setdefault(header.path, guards_of(job.context.tree, header))
        parted = [one for one in guards if one.chips & _TWINS and _TWINS & one.refused]
        named = {(one.chips & _TWINS).names for one in parted}
        if len(named) != 1 or header.path in edited:
            continue
        told = next((one for one in parted if any(family_split.check_guard(job.context, one))), None)
        if told is not None:  # the others ask for a macro that is told where it is defined, or are served otherwise
            return f"{PurePath(header.path).name}:{told.guard.at[0]} tells the twins apart, too"
    return None


def _undefined(job: Job, fix: Fix) -> str | None:
    """A guard asks for a macro that this file does not define, and nothing tells what lies around the file."""
    if job.remedy.how != "guard" or is_project(job.module.path, job.root):
        return None
    tree, module = job.context.tree, job.module
    new = {name for edit in fix.edits for name in _MACRO.findall(edit.text) if name not in job.source}
    name = next((one for one in sorted(new) if not one.startswith("__") and not tree.definers(module, one)), None)
    return None if name is None else f"this file is no part of a project here: nothing shows who defines `{name}`"


def _words(job: Job, fix: Fix) -> str | None:
    """Words beside the gate still name the one twin."""
    parts = changed(job, fix)
    if job.judged is None or parts is None:
        return None
    here = [edit for edit in fix.edits if edit.path == job.module.path]
    for words in stale(job.module, job.source, job.judged.gate, job.judged.other, *parts):
        if not touched(job.source, words, here):
            line = job.source.count("\n", 0, words.start) + 1
            return f"the words at line {line} name {plain(parts[0])} alone"
    return None


class Leftover(NamedTuple):
    """What speaks against a fix: the findings in the file as it leaves it. `of_words`: only about a text."""

    reason: str
    of_words: bool = False


def another(job: Job, fix: Fix) -> Leftover | None:
    """The finding itself, where a fix leaves it, or one that was not there; what is only about a text comes last."""
    module, context = job.module, job.context
    embedded = module.path.endswith(".py") != (module.language == "python")
    # what stands in other files was judged by its own proof
    others = job.remedy.how in ("carry", "wrapper", "macros") or job.remedy.home is not None
    if others or module.path not in context.judged or embedded:
        return None
    edits = [edit for edit in fix.edits if edit.path == module.path]
    if not edits:
        return None
    text = apply(job.source, edits)
    try:
        edited = edited_module(module, text)
    except ReadError as error:
        return Leftover(f"the edited file does not parse: {error}")
    if fix.kind == "bound" and text.count("\n") != job.source.count("\n"):
        return None  # rules look into the file on the disk, where other lines stand
    before = Counter(map(_key, _said(context, module, is_edited=False)))
    lines = written(edits)
    told = (one for one in _said(context, edited, is_edited=True) if _weighs(job, fix, one, lines))
    if fix.kind == "admit":  # what knew the edited functions as closed says so still
        gates = [one.gate for one in context.beside(module)]
        inside = [gate for gate in gates if any(gate.at[0] <= edit.region.line <= gate.at[2] for edit in edits)]
        opened = {f"`{gate.qualname.rpartition('.')[2]}`" for gate in inside}
        told = (one for one in told if not any(name in one.message for name in opened))
    # what else there is to say of a guard or a comparison was there before, behind the graver fault
    graver = {job.draft.at[0]} if job.remedy.how == "guard" or fix.kind == "type" else set[int]()
    after = Counter(_key(one) for one in told if one.rule == job.draft.rule or one.at[0] not in graver)
    if after[_key(job.draft)] >= before[_key(job.draft)] > 0:
        return Leftover("the finding would remain")
    new = min(after - before, key=lambda one: one[0] == "message", default=None)
    same = job.remedy.how == "order" and fix.proof.before_may == fix.proof.after_may
    if new is None or same:
        return None
    if new[0] == "message":
        return Leftover(f"the text{new[2][:_LONGEST_TEXT]} would not fit the edited test", True)
    return Leftover(f"the edit alone does not help. Another finding would take its place: {new[2]}")


def _told_again(job: Job, fix: Fix) -> str | None:
    left = another(job, fix)
    return None if left is None else left.reason


def _weighs(job: Job, fix: Fix, new: Draft, lines: Sequence[tuple[int, int]]) -> bool:
    """Whether a finding after a fix of these lines speaks against it: it is as severe, elsewhere, or now reached."""
    if fix.kind == "admit" or SEVERITIES.index(new.severity) >= SEVERITIES.index(job.draft.severity):
        return True
    if fix.kind == "bound":
        return not (isinstance(new.remedy, Remedy) and new.remedy.how == "text")
    return not any(new.at[0] <= last and first <= new.at[2] for first, last in lines)


def _said(context: Context, module: Module, *, is_edited: bool) -> tuple[Draft, ...]:
    """What the rules say of a file: asked once for all fixes that come to the same text."""
    known = context.said.pop(id(module), None)
    if known is None:
        world = _with(context, module) if is_edited else context
        known = module, tuple(_drafts(world, module))
    context.said[id(module)] = known  # the last one now
    if len(context.said) > MOST_KEPT:
        del context.said[next(iter(context.said))]
    return known[1]


def _key(draft: Draft) -> tuple[str, str, str]:
    if draft.rule.name == "message" and draft.cause is not None:  # whatever is wrong about it: it is the same text
        return draft.rule.name, "", str(draft.cause[1]).removeprefix(f"{draft.message}:")
    return draft.rule.name, draft.gate.qualname if draft.gate else "", _PLACE.sub("", draft.message)


def _with(context: Context, edited: Module) -> Context:
    """The world with a file in another state."""
    tree, path = context.tree.edited(edited), edited.path
    gates = ((gate, tree.sets(edited, gate)) for gate in edited.gates)
    judged = [Judged(edited, gate, sets, context.places[path]) for gate, sets in gates if sets is not None]
    return replace(
        context,
        tree=tree,
        judged=instead(context.judged, path, judged),
        guards=instead(context.guards, path, guards_of(tree, edited)),
        placed={},
        harms={},
    )


def _drafts(context: Context, module: Module) -> Iterable[Draft]:
    """What the rules say of a file."""
    for judged in context.judged[module.path]:
        if judged.module is module:
            for rule, check in checks():
                if rule.asks_builds or not judged.sets.flags:
                    yield from check(context, judged)
    for guarded in context.guards[module.path]:
        if guarded.module is module:
            for _, check_guard in guard_checks():
                yield from check_guard(context, guarded)
    for _, check_file in file_checks():
        yield from check_file(context, module)


def _unaware(job: Job, fix: Fix) -> str | None:
    """What is compiled for a name that a fix adds, and knows its twin alone, as a sentence; None: nothing."""
    carry = next((one for one in job.module.carries if one.at == job.at and one.kind in ACCEPTING), None)
    if job.remedy.how != "carry" or carry is None:
        return None
    accepted = TargetSet.of(*(target.name for target in known_targets(carry.sass)))
    for new in known_targets(word for edit in fix.edits for word in _WORD.findall(edit.text)):
        for twin in siblings(new.chip):
            old = Target(twin.joined, new.suffix)
            said = _told_apart(job, carry, old, new) if old in accepted else None
            if said is not None:
                return said
    return None


def _told_apart(job: Job, carry: Carry, old: Target, new: Target) -> str | None:
    kernels = [one for one in job.module.carries if one.kind == "kernel" and old in known_targets(one.sass)]
    if kernels and not any(new.chip in target.loads_on() for one in kernels for target in known_targets(one.sass)):
        return f"line {kernels[0].at[0]} compiles for {old} and nothing for {new.chip}"
    context = job.context
    for module in behind(context, job.module, carry).modules or _asking(job, old):
        for guarded in context.guards.setdefault(module.path, guards_of(context.tree, module)):
            lacks = old in guarded.admitted and new not in guarded.admitted
            if lacks and family_split.parts(context, guarded) is not None:
                place = f"{PurePath(module.path).name}:{guarded.guard.at[0]}"
                return f"{place} compiles code for {old} and not for {new}"
    return None


def _asking(job: Job, target: Target) -> Iterator[Module]:
    """The C++ files of the project that ask the compiler for the part of a target."""
    found = job.context.search(job.module).matches("cuda", re.compile(_EXACT % target.chip.joined))
    for path in islice(dict.fromkeys(file.real for file, _ in found), _MOST_FILES):
        module = job.context.tree.headers.at(path)
        if module is not None:
            yield module


_CHECKS: tuple[Callable[[Job, Fix], str | None], ...] = (
    _meant,
    _moves_others,
    _behind,
    _loses,
    _headers,
    _undefined,
    _unaware,
    _words,
    _told_again,
)
