"""leak beside others: of several checks on one subject, one lets in chips that the others keep out; of two branches
named after generations, later chips take one whose instructions they lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from pathlib import PurePath

from bwlint.chips import EVERY, NONE, ChipSet, group, spelling, words
from bwlint.chips.wording import called, its, listed, plain, shortened, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.evidence import handed_out
from bwlint.judging.probes import turn_away
from bwlint.judging.siblings import calls
from bwlint.model.expr import walk
from bwlint.model.facts import Gate, Side, Use
from bwlint.model.findings import NoFix
from bwlint.model.kinds import NUMBER
from bwlint.rules.leak import own_words
from bwlint.rules.leak.bounds import bounded
from bwlint.world.builds import runs_on
from bwlint.world.gates import Judged, refuses

_ENOUGH = 2
"""Gates that have to agree against one: of two that differ nobody knows which is right."""
_SHOWN = 4
_MATCHING = NoFix("sizes have to match the kernel that is launched: change the check that picks it, too")
_DEFINED = ("function", "opaque", "class")
_OPENING = re.compile(r"\w+(?:[ '-]+\w+){3,8}")
"""The first words of a message. What follows may name chips, and differ with the test."""
_BACKEND = re.compile(r"backend|impl|kernel|runner|algo", re.I)
_HOPPER = group("hopper")
_DATACENTER = ChipSet.where(lambda chip: chip.major == 10)
_OPEN = re.compile(rf"{words.said('open-ended')}|\bplus\b", re.I)
_TUNED = re.compile(r"config|tun(?:e|ing)|tile", re.I)


def odd_one(context: Context, judged: Judged) -> Iterator[Draft]:
    """`< 10` where the other gates with this message, callee or backend ask `!= 10`."""
    wrong = judged.admitted & context.targets
    if not wrong or judged.in_test or not _decides(judged) or _spells_out(context, judged, wrong):
        return
    for subject in _subjects(context, judged):
        others = [other for other in _sisters(context, judged, subject) if not _nested(judged, other)]
        narrow = [other for other in others if not other.admitted & wrong and other.admitted & judged.admitted]
        if len(narrow) < _ENOUGH or len(narrow) < len(others):
            continue
        legal = reduce(or_, (other.admitted for other in narrow))
        if all(_first(other.admitted) == _first(judged.admitted) for other in narrow):
            yield _draft(context, judged, wrong, subject, narrow, legal)
            return


def _first(chips: ChipSet) -> int:
    """Where a bound is: gates that differ there ask different things."""
    return min(chip.joined for chip in chips)


def _decides(judged: Judged) -> bool:
    """The set is read from the device, and somebody is kept out."""
    sets = judged.sets
    return sets.decided and not sets.guessed and judged.admitted not in (sets.live, NONE)


def _spells_out(context: Context, judged: Judged, chips: ChipSet) -> bool:
    """Whether the test has the number of the chips, or asks a helper for them: its author meant them."""
    if own_words.asks_by_name(judged, chips):
        return True
    spelled = {number for chip in chips for number in (chip.major, chip.joined, chip.name, str(chip.joined))}
    asks = [
        node for node in walk(judged.gate.test) if node.op == "cmp" and context.tree.may(judged.module, node) != EVERY
    ]
    constants = (inner.args[0] for node in asks for inner in walk(node) if inner.op == "const")
    return any(isinstance(value, int | str) and value in spelled for value in constants)


def _subjects(context: Context, judged: Judged) -> Iterator[tuple[str, str]]:
    """What a gate is about: the message of its refusal, the backend that it picks, what it calls of the file's own."""
    if (opening := _opening(judged.gate, judged.denies)) is not None:
        yield "message", opening
    for use in judged.working.uses:
        if use.how == "text" and use.sure and _BACKEND.search(use.role):
            yield f"{use.role.rpartition('.')[2]}", use.name
    for use in calls(context, judged, judged.working):
        root = use.name.partition(".")[0]
        own = judged.module.names.get(root)
        if (own is not None and own.op in _DEFINED) or context.tree.module(root) is not None:
            yield "call", use.name


def _opening(gate: Gate, denies: bool) -> str | None:
    texts = (gate.yes if denies else gate.no).texts
    found = _OPENING.match(texts[0].text) if texts else None
    return found[0] if found is not None else None


def _sisters(context: Context, judged: Judged, subject: tuple[str, str]) -> Iterator[Judged]:
    kind, words = subject
    for other in context.beside(judged.module):
        if other.gate is not judged.gate and _decides(other) and subject in _subjects(context, other):
            yield other
    if kind == "message":
        yield from _beside(context, judged, words)


def _beside(context: Context, judged: Judged, words: str) -> Iterator[Judged]:
    """Gates with the same message in the other C++ files of the folder: each is a program of its own."""
    module = judged.module
    if module.language != "cuda":
        return
    for other in context.native.naming(words, module.path, str(PurePath(module.path).parent)):
        if other.path != module.path:
            for found in context.gates(other, [gate for gate in other.gates if gate.yes.texts or gate.no.texts]):
                if _decides(found) and _opening(found.gate, found.denies) == words:
                    yield found


def _nested(one: Judged, other: Judged) -> bool:
    """Whether one gate stands in an arm of the other: the two pick a variant together."""
    if one.module is not other.module:
        return False
    holds = [side.holds(other.gate.at) for side in (one.gate.yes, one.gate.no)]
    return any(holds) or any(side.holds(one.gate.at) for side in (other.gate.yes, other.gate.no))


def _draft(
    context: Context, judged: Judged, wrong: ChipSet, subject: tuple[str, str], narrow: list[Judged], legal: ChipSet
) -> Draft:
    kind, name = subject
    told = {"message": f"with the message `{shortened(name)}`", "call": f"in front of `{name}`"}
    what = told.get(kind, f"for {kind} `{name}`")
    says = f"the code behind the checks {what} does not work on {plain(wrong)}"
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning",
        confidence="medium",
        message=f"This check lets {called(wrong)} through. {len(narrow)} other checks {what} keep {them(wrong)} out.",
        label=judged.told(judged.working, judged.admitted),
        advice=f"Check for {plain(legal)} as the others do, or open all of them.",
        legal=legal,
        related=tuple(
            RelatedSpan(other.module, other.at, other.told(other.working, other.admitted)) for other in narrow[:_SHOWN]
        ),
        remedy=bounded(
            context, judged, judged.working, wrong, says, doubt=f"only the other gates {what} speak against it"
        ),
        claims=(Claimed(claims.need(name, wrong, NONE, says), judged.at, judged.module),),
    )


def taken_for_older(context: Context, judged: Judged) -> Iterator[Draft]:
    """`gemm_sm90` taken from 9.0 on, beside a `gemm_sm80` that runs everywhere; `gemm_sm100` from 10.0 on."""
    if judged.sets.guessed or not judged.sets.decided or judged.in_test:
        return
    for side, beside in ((judged.gate.yes, judged.gate.no), (judged.gate.no, judged.gate.yes)):
        if refuses(beside) or judged.on(side) >= judged.sets.live:
            continue
        for use in _named_alone(side):
            wrong = judged.on(side) & context.targets & context.reach(judged, use.at)
            other = _partner(use, beside)
            if not wrong or _only_tunes(judged, use) or (other is not None and _of(other) & wrong):
                continue
            if turn_away(context, judged, wrong, use.at):
                continue
            if _of(use) == _HOPPER and other is not None:
                built = _built_alone(context, judged, _of(use), wrong) if use.role == NUMBER else None
                yield _draft_of_older(context, judged, side, wrong, use, other, built)
                return
            if _of(use) == _DATACENTER and _asks_for(judged, side) and _says_all(context, judged, use, beside):
                yield _draft_of_older(context, judged, side, wrong, use, other)
                return


def _asks_for(judged: Judged, side: Side) -> bool:
    """Whether a gate tells all of 10.x from older chips; who sends 9.0 there, too, does not go by the name."""
    here = judged.on(side)
    return not here & _HOPPER and bool(judged.sets.live - here - _DATACENTER)


def _says_all(context: Context, judged: Judged, use: Use, beside: Side) -> bool:
    """Whether a function does what its name says, and the other side does not reach it too."""
    if use.how == "text" or context.evidence.is_made_for_all(judged.module, use):
        return False  # a library called sm100 may have more in it
    return all(other.name != use.name for other in handed_out(beside))


def _named_alone(side: Side) -> Iterator[Use]:
    for use in handed_out(side):
        if use.sure and use.how in ("call", "name", "text") and _of(use):
            yield use


def _only_tunes(judged: Judged, use: Use) -> bool:
    """Whether a name is that of sizes that are tried; in C++ a configuration is the type of a kernel."""
    return judged.module.language == "python" and _TUNED.search(use.name.rpartition(".")[2]) is not None


def _of(use: Use) -> ChipSet:
    """The chips of the one generation that the last part of a name says; `sm100_or_later` says none."""
    name = use.name.rpartition(".")[2]
    numbers = spelling.numbers(name) if not _OPEN.search(name.replace("_", " ")) else ()
    majors = {number // 10 for number in numbers}
    return ChipSet.where(lambda chip: chip.major in majors) if len(majors) == 1 else NONE


def _partner(use: Use, beside: Side) -> Use | None:
    """What the other side has by the same name, for another generation."""
    stem = spelling.numberless(use.name)
    for other in handed_out(beside):
        if other.name != use.name and other.sure and stem is not None and spelling.numberless(other.name) == stem:
            return other
    return None


def _built_alone(context: Context, judged: Judged, named: ChipSet, wrong: ChipSet) -> RelatedSpan | None:
    """The build of what is called after a generation, where none of it runs on some chips."""
    builds = context.builds.above(judged.module.path) if judged.module.language == "cuda" else ()
    found = [(build, carry) for build in builds for carry in build.carries if _are_of(carry.sources, named)]
    if not found or runs_on(carry for _, carry in found) & wrong:
        return None
    build, carry = found[0]
    names = listed([f"sm_{name}" for name in carry.sass])
    return RelatedSpan(build, carry.at, f"{carry.sources[0].rpartition('/')[2]} is compiled for {names}")


def _are_of(sources: Sequence[str], named: ChipSet) -> bool:
    numbers = [number for source in sources for number in spelling.numbers(source.rpartition("/")[2])]
    return any(chip.joined in numbers for chip in named)


def _draft_of_older(
    context: Context,
    judged: Judged,
    side: Side,
    wrong: ChipSet,
    use: Use,
    other: Use | None,
    built: RelatedSpan | None = None,
) -> Draft:
    name = use.name.rpartition(".")[2]
    fails = (
        f"{plain(wrong)} get sizes of a kernel for {plain(_of(use))}"
        if use.role == NUMBER
        else f"it fails on {plain(wrong)}"
    )
    beside = f" The other branch uses `{other.name.rpartition('.')[2]}`." if other is not None else ""
    short = judged.falls_short_of(side)
    falls = "does not pass this check and uses" if len(wrong) == 1 else "do not pass this check and use"
    way = f"{called(wrong)} {falls}" if short else f"This check lets {called(wrong)} use"
    return Draft(
        place=DraftPlace.of_side(judged, side),
        severity="note" if use.role == NUMBER and not built else "warning",  # sizes go with the dispatch that launches
        confidence="medium",
        message=f"{way} `{name}`. Its name says {plain(_of(use))}. If the name is right, {fails}.{beside}",
        label=judged.told(side),
        advice=f"Give {called(wrong)} a branch or an error of {its(wrong)} own."
        if short
        else f"Keep {called(wrong)} out of this case. Give {them(wrong)} a kernel of {its(wrong)} own or an error.",
        legal=_of(use),
        related=(
            RelatedSpan(judged.module, use.at, f"used on {judged.on(side)}"),
            *((RelatedSpan(judged.module, other.at, "the other case"),) if other is not None else ()),
            *((built,) if built is not None else ()),
        ),
        remedy=_MATCHING
        if use.role == NUMBER
        else bounded(
            context,
            judged,
            side,
            wrong,
            f"`{name}` is named for {_of(use)}",
            lacking=wrong if built is None else judged.on(side) - _of(use),
            doubt=f"only its name says what `{name}` is for",
        ),
        cause=(judged.module.path, f"{judged.gate.qualname} {judged.gate.text}" if built is None else built.at),
        claims=(
            Claimed(claims.need(name, wrong, NONE, f"`{name}` does not work on {plain(wrong)}"), use.at, judged.module),
        ),
    )
