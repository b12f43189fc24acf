"""leak: a gate lets in a chip although its own message or names say another generation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bwlint.chips import EVERY, NONE, ChipSet, group, spelling, words
from bwlint.chips.mentions import mentioned
from bwlint.chips.operations import on_the_host
from bwlint.chips.wording import called, have, only, plain, shortened
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.probes import turn_away
from bwlint.model.expr import Span, walk
from bwlint.model.facts import Side, Use
from bwlint.model.findings import NoFix, Severity
from bwlint.model.kinds import ANSWERS, ASSERTED, ATTEMPTED
from bwlint.rules.leak.bounds import bounded
from bwlint.world.gates import Judged, operands, refuses
from bwlint.world.libraries import called_after, instruction

_OLD_NAMES = group("renamed")
_THRESHOLD = group("blackwell-and-newer")
_OWN_KIND = group("hopper") | group("datacenter-blackwell") | group("thor") | group("announced") | _OLD_NAMES
"""Generations with instructions that no other has: who names one of them alone speaks of its kernels."""
_END = re.compile(r"[.;:](?:\s|$)|\s#:?\s*(?=[A-Z])")
_GUARDS = re.compile(rf"\W?((?:[\w.]+ ){{0,2}}[\w.]+) (?:(?:is|are) only\b|{words.said('demand')})", re.I)
_WHOLE = re.compile(r"(?i)(?<![a-z])blackwell(?![a-z])")
_ONLY = re.compile(r"\bonly\b", re.I)
_AGAINST = re.compile(words.said("refusal", "exception", "examples"), re.I)
_OPEN = re.compile(rf"\+|{words.said('open-ended', 'at-least')}", re.I)
_WAYS = re.compile(words.said("tensor-memory-ways"), re.I)
_OF_COMPILERS = re.compile(
    r"(?i)(?:^|[_/.])(?:transforms?|pass(?:es)?|lower(?:ing|ed)?|analysis|irmodule|assert_structural_equal|parser?|filecheck)"
    r"(?![a-z])"
)
_TABLES = ("table", "lookup", "list")
"""What has a row for each chip that somebody thought of; a comment beside it may speak of one row."""
_SHOWN = 100
"""Characters of words that are told."""
_BY_NAME = "has `{}` in its name, as code for 10.x has"
_CHOOSES = re.compile(r"backend|impl|kernel|runner|algo", re.I)


@dataclass(frozen=True, slots=True)
class _WordsBeside:
    """Words beside a gate: what they are, for a sentence, and where."""

    what: str
    text: str
    at: Span


def contradicted(context: Context, judged: Judged) -> Iterator[Draft]:
    """ "only supported on SM100" under a test that is true on 12.x too."""
    wrong = judged.admitted & context.targets & context.let_to(judged.module, judged.at, judged)
    if not wrong or judged.sets.guessed or not judged.sets.decided or judged.gate.kind in _TABLES:
        return
    if judged.gate.test.op == "cmp" and judged.gate.test.args[0] in ("is", "is not"):
        return  # whether there is a device is no test of it
    for said in _texts(judged):
        named = _for_one_generation(said.text, context.targets)
        if judged.in_test and _WHOLE.search(said.text):
            continue  # "10.0 (Blackwell)": what is only tested there may be meant for the whole generation
        if named & judged.admitted and named <= _OWN_KIND:
            yield _draft(
                context,
                judged,
                wrong,
                said,
                severity="note" if _asks_for_later(judged) else "warning",
                message=f"This check lets {called(wrong)} through, but {said.what} says {only(named)}.",
                legal=named,
            )
            return


def _asks_for_later(judged: Judged) -> bool:
    """Whether the helper that is asked lets later chips pass by its name: the words may then be the careless ones."""
    return any(_OPEN.search(name.replace("_", " ")) for name in judged.mentioned)


def answered(context: Context, judged: Judged) -> Iterator[Draft]:
    """`has_tcgen05`, `use_wgmma = sm >= 90`: an answer called after instructions, and yes where there are none."""
    name = judged.gate.name
    if judged.gate.kind not in ANSWERS or not judged.owns_comparison or judged.sets.guessed:
        return
    need = called_after(name, judged.at)
    yes = _says_yes(judged)
    wrong = yes & context.targets - need.legal if need is not None else NONE
    if need is None or not wrong or not yes & need.legal or context.works_there(judged):
        return
    yield _draft(
        context,
        judged,
        wrong,
        _WordsBeside(f"`{name}`", name, judged.at),
        severity="warning",
        message=f"`{name}` is true on {called(wrong)}, but only {plain(need.legal)} {have(need.legal)} {need.what}.",
        legal=need.legal,
    )


def _says_yes(judged: Judged) -> ChipSet:
    """The chips on which an answer is yes, if what it is given says so, too: `sm >= 100 and has_scatter`."""
    beside = (one for one in operands(judged.gate.test) if one.at != judged.gate.leaf)
    given = all(one.op in ("param", "const") for one in beside)
    return judged.must | (judged.may & judged.core) if given else judged.must


def guarded(context: Context, judged: Judged) -> Iterator[Draft]:
    """ "tmem is only available on Blackwell": a refusal says which instruction it guards, and chips without it pass."""
    for text in judged.other.texts[:1] if refuses(judged.other) else ():
        subject = _GUARDS.match(text.text)
        need = instruction(subject[1], text.at) if subject is not None else None
        if subject is None or need is None or not subject[1].startswith(need.use.name):
            continue
        wrong = judged.admitted & context.targets & context.reach(judged, judged.at) - need.legal
        if not wrong or not judged.admitted & need.legal or wrong & mentioned(text.text).named:
            continue
        found = _draft(
            context,
            judged,
            wrong,
            _WordsBeside("its own message", text.text, text.at),
            severity="warning",
            message=f"This check lets {called(wrong)} through. By its own message it guards `{need.use.name}`, "
            f"which only {plain(need.legal)} {have(need.legal)}.",
            legal=need.legal,
        )
        yield replace(found, cause=(judged.module.path, judged.at))


def open_bound(context: Context, judged: Judged) -> Iterator[Draft]:
    """A lower bound at 10.0 in front of what is called after ways of 10.x: a note, unless a test calls just that."""
    wrong = _beyond(context, judged)
    said = next(_signs(context, judged), None) if wrong else None
    if said is None or context.works_there(judged) or context.admitted_behind(judged, wrong):
        return
    if turn_away(context, judged, wrong):
        return
    calls_it = judged.in_test and any(use.at == said.at for use in judged.working.uses)
    tested = calls_it and not on_the_host(said.what)
    yield _draft(
        context,
        judged,
        wrong,
        said,
        severity="warning" if tested else "note",
        message=f"This lower bound at 10.0 lets {called(wrong)} through too, but {said.what} {said.text}.",
        legal=None,
    )


def instruction_tested(context: Context, judged: Judged) -> Iterator[Draft]:
    """A test of an instruction that only others have, by its name or what it looks for, runs on everything newer."""
    wrong = judged.admitted & context.targets & judged.may
    partial = judged.denies and not judged.sets.must  # it skips one configuration, and says nothing of the others
    if not wrong or partial or _asked_again(context, judged) or _is_attempt(judged):
        return
    last = judged.working.uses[-1].at if judged.working.uses else judged.at
    for name, at in _instruction_names(judged):
        need = called_after(name, at)
        coming = wrong & context.reach(judged, last if at == judged.at else at) if need is not None else NONE
        if need is None or not coming - need.legal or not judged.admitted & need.legal:
            continue
        if turn_away(context, judged, coming - need.legal):
            continue
        if judged.admitted & judged.may & _older(need.legal):
            continue  # it was made to run before there was such an instruction: the name says what it is about
        what = "them" if " and " in need.what else "it"
        found = _draft(
            context,
            judged,
            coming - need.legal,
            _WordsBeside(f"`{name}`", name, at),
            severity="note" if _never_runs(judged) else "warning",
            message=f"This test runs on {called(coming - need.legal)}, but `{name}` names {need.what}. "
            f"Only {plain(need.legal)} {have(need.legal)} {what}, so it fails there.",
            legal=need.legal,
        )
        yield replace(found, cause=(judged.module.path, need.what))  # the tests of a file are bounded together
        return


def _older(chips: ChipSet) -> ChipSet:
    oldest = min(chip.joined for chip in chips)
    return ChipSet.where(lambda chip: chip.joined < oldest)


def _is_attempt(judged: Judged) -> bool:
    """Whether a test calls what is named after an instruction to see it fail, or is skipped where it does."""
    tried = (use for use in judged.working.uses if use.role == ATTEMPTED)
    return any(called_after(use.name.rpartition(".")[2], use.at) is not None for use in tried)


def _instruction_names(judged: Judged) -> Iterator[tuple[str, Span]]:
    """The names under which a test says what it tests: its own, its file's, what it calls and looks for."""
    yield _test_of(judged), judged.at
    for use in judged.working.uses:
        if use.how in ("call", "define"):
            yield use.name.rpartition(".")[2], use.at
        elif use.how == "text" and use.role == ASSERTED:
            yield use.name, use.at
    yield PurePosixPath(judged.place).stem, judged.at


def _never_runs(judged: Judged) -> bool:
    """Whether a test looks at what a compiler makes of a program, and runs nothing of it."""
    return any(_OF_COMPILERS.search(name) for name in (judged.place, *(use.name for use in judged.working.uses)))


def _asked_again(context: Context, judged: Judged) -> bool:
    """Whether the test asks for the device itself, too, and so knows of several ways."""
    test = _test_of(judged)
    return any(
        other.other.ends != "skip" and other.gate.qualname.rpartition(".")[2] == test
        for other in context.beside(judged.module)
    )


def _test_of(judged: Judged) -> str:
    """The name of the test that a skip is in, or that bears the mark."""
    return judged.gate.qualname.rpartition(".")[2] if judged.gate.is_a("condition") else judged.gate.name


def _beyond(context: Context, judged: Judged) -> ChipSet:
    """The targets that a bound at 10.0 lets through together with everything newer."""
    bound = judged.core - _OLD_NAMES
    owns = judged.owns_comparison or judged.gate.kind == "helper-call"
    if judged.gate.kind == "list" or not owns or bound not in (_THRESHOLD, EVERY - _THRESHOLD - _OLD_NAMES):
        return NONE
    if judged.core == ~_THRESHOLD and not judged.denies:
        return NONE
    return judged.admitted & context.targets & _by_other_bounds(context, judged)


def _by_other_bounds(context: Context, judged: Judged) -> ChipSet:
    """What the other bounds leave that a class declares beside one: `MAX_CAPABILITY = (10, 3)` below the oldest."""
    admitted = EVERY
    if judged.gate.qualname in judged.module.classes:
        for other in context.beside(judged.module):
            if other.gate.kind == "predicate" and other.gate.qualname == judged.gate.qualname and other is not judged:
                admitted &= other.core
    return admitted


def _texts(judged: Judged) -> Iterator[_WordsBeside]:
    if refuses(judged.other) and judged.other.texts:
        yield _WordsBeside("its own message", judged.other.texts[0].text, judged.other.texts[0].at)
    if judged.gate.comment:
        yield _WordsBeside(
            f"the comment `{shortened(judged.gate.comment.strip('#/* '), 100)}`", judged.gate.comment, judged.at
        )
    if judged.gate.kind in ANSWERS:
        function = judged.module.functions.get(judged.gate.qualname)
        if function is not None and function.doc:
            yield _WordsBeside("the docstring of its function", function.doc, judged.at)


def _for_one_generation(text: str, targets: ChipSet) -> ChipSet:
    """The chips that a sentence of a text says it is for, and no later ones; none where the text names `targets`."""
    said = mentioned(text)
    if said.open_ended or said.named & targets or _OPEN.search(text) or _AGAINST.search(text):
        return NONE
    for sentence in _END.split(text):
        if _ONLY.search(sentence) or _WAYS.search(sentence):
            named = mentioned(sentence).named
            if named:
                return named
    return NONE


def _signs(context: Context, judged: Judged) -> Iterator[_WordsBeside]:
    """What is said or named at a gate by which 10.x does what 12.x does otherwise."""
    for said in _texts(judged):
        if (found := _WAYS.search(said.text)) is not None:
            yield _WordsBeside(said.what, f"mentions {found[0]}", said.at)
    for use in judged.working.uses:
        if use.sure and use.how in ("call", "import", "text") and (found := _WAYS.search(use.name)):
            yield _WordsBeside(f"`{use.name.rpartition('.')[2]}`", _BY_NAME.format(found[0]), use.at)
    for name in (judged.gate.name, *judged.gate.qualname.split(".")[-2:]):
        if found := _WAYS.search(name):
            yield _WordsBeside(f"`{name}`", _BY_NAME.format(found[0]), judged.at)
    if refuses(judged.other) and context.near_tcgen05(judged):
        yield _WordsBeside("this file", "uses tcgen05, at least in part", judged.at)
    chosen = _backend(judged.gate.yes), _backend(judged.gate.no)
    if chosen[0] and chosen[1] and chosen[0].name != chosen[1].name:
        picked = chosen[0] if judged.working is judged.gate.yes else chosen[1]
        yield _WordsBeside(f"the backend `{picked.name}`", "is picked for all of them", picked.at)


def _backend(side: Side) -> Use | None:
    """The backend that a side picks by its name."""
    return next((use for use in side.uses if use.how == "text" and use.sure and _CHOOSES.search(use.role)), None)


def behind(judged: Judged, chips: ChipSet, *, works: bool) -> Claimed:
    """What is said of whatever a gate leads to, where nothing shows what that is."""
    subject = judged.gate.name or judged.gate.qualname
    says = f"the code behind the check {'works' if works else 'does not work'} on {plain(chips)}"
    return Claimed(claims.need(subject, chips, chips if works else NONE, says), judged.at, judged.module)


def _draft(
    context: Context,
    judged: Judged,
    wrong: ChipSet,
    said: _WordsBeside,
    *,
    severity: Severity,
    message: str,
    legal: ChipSet | None,
) -> Draft:
    return Draft(
        category="test-gate" if judged.in_test else None,
        place=DraftPlace.of_gate(judged),
        severity=severity,
        confidence="medium" if severity == "warning" else "low",
        message=message,
        label=judged.told(judged.working, judged.admitted),
        advice=f"Keep {called(wrong)} out, or say in the text that it works there."
        if legal
        else "Bound the check to 10.x if the code behind it uses tcgen05 or a kernel for 10.x.",
        legal=legal,
        related=(RelatedSpan(judged.module, said.at, said.what),) if said.at != judged.at else (),
        remedy=_remedy(context, judged, wrong, said, legal) if severity != "note" else None,
        claims=(behind(judged, wrong, works=False),),
    )


def _remedy(
    context: Context, judged: Judged, wrong: ChipSet, said: _WordsBeside, legal: ChipSet | None
) -> Remedy | NoFix:
    owner = judged.gate.qualname.rpartition(".")[0]
    alike = (one for one in context.beside(judged.module) if one.gate is not judged.gate and one.core == judged.core)
    same = (one for one in alike if owner and one.gate.qualname.rpartition(".")[0] == owner)
    again = next((one for one in same if one.mentioned & judged.mentioned and not refuses(one.other)), None)
    if again is not None and not refuses(judged.other):
        return NoFix(f"line {again.gate.at[0]} makes the same check, and may rely on this one")
    lacking = judged.admitted - legal if legal else NONE
    why = f'{said.what} says "{said.text[:_SHOWN]}"' if said.what.strip("`") != said.text else said.what
    doubt = f"nothing but {said.what} speaks against it"
    return bounded(context, judged, judged.working, wrong, why, lacking=lacking, doubt=doubt)


def lists(judged: Judged, wrong: ChipSet) -> bool:
    """The list names the chip, or its generation, by number: the same holds."""
    numbers = {node.args[0] for node in walk(judged.gate.test) if node.op == "const"}
    return judged.gate.kind == "list" and all({chip.major, chip.joined} & numbers for chip in wrong)


def asks_by_name(judged: Judged, wrong: ChipSet) -> bool:
    """The test asks a helper for the chip by name: its author meant it, and a name is no proof against that."""
    spelled = re.compile("|".join(spelling.in_names(chip.joined) for chip in wrong), re.I)
    return any(spelled.search(name) for name in judged.mentioned)
