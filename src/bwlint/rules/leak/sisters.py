"""leak: of several checks on one subject, one lets in chips that the others keep out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from operator import or_
from pathlib import PurePath

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.chips.wording import called, plain, shortened, them
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan
from bwlint.judging.siblings import calls
from bwlint.model.expr import walk
from bwlint.model.facts import Gate
from bwlint.rules.leak import RULE, own_words
from bwlint.rules.leak.bounds import bounded
from bwlint.world.gates import Judged

_ENOUGH = 2
"""Gates that have to agree against one: of two that differ nobody knows which is right."""
_SHOWN = 4
_DEFINED = ("function", "opaque", "class")
_OPENING = re.compile(r"\w+(?:[ '-]+\w+){3,8}")
"""The first words of a message. What follows may name chips, and differ with the test."""
_BACKEND = re.compile(r"backend|impl|kernel|runner|algo", re.I)


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
        rule=RULE,
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
