"""The verdict of a row (review, open or pass) and its reason in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bwlint.chips import ChipSet, group
from bwlint.chips.wording import kib, plain, them
from bwlint.ledger.question import Question
from bwlint.model.ledger import Answer, RowKind

_COMPARED = ("8.9", "9.0", "10.0")
"""To which neighbours the asked chips are compared."""
_TWINS = "12.0 and 12.1"
_BUILT = "code for these targets loads on"
_UNKNOWN = {
    "asked": "bwlint knows it by its spelling alone",
    "name": "names a generation; bwlint does not know what that decides",
    "product": "names a product; the code does not say its compute capability",
    "unit": "names an instruction, a library or a link that may depend on the chip",
    "word": "a number beside it may name a chip",
    "text": "names a checked chip; nothing compares the text with the code",
    "amount": "needs something that chips differ in; nothing proves that it fits",
    "build": "bwlint knows what this builds, but not what needs it",
}
_CALLS = re.compile(r"calls (`[^`]+`(?:, `[^`]+`)*)")
_EVALUATED = frozenset({"gate", "guard", "list", "table"})


@dataclass(frozen=True, slots=True)
class KnownKind:
    kind: RowKind
    why: str


def verdict(question: Question, asked: ChipSet) -> KnownKind:
    """What is known for the asked chips of a question that `check` has no finding about."""
    why = _passes(question, asked)
    if why and not question.doubt:
        return KnownKind("pass", why)
    why = question.doubt or _unlike(question, asked)
    if why:
        return KnownKind("review", why)
    if question.form in _EVALUATED and "?" in _answers(question, asked).values():
        return KnownKind("open", question.unknown or "bwlint could not evaluate this check")
    return KnownKind("open", question.unknown or _UNKNOWN.get(question.form, "bwlint does not know the code behind it"))


def _passes(question: Question, asked: ChipSet) -> str:
    """Why a question cannot matter; "" where it may."""
    if question.passes:
        return question.passes
    answers = {*_answers(question, asked).values()}
    if answers == {"-"}:
        return "no checked chip gets here"
    shown = dict(question.table)
    told = {shown.get(chip, "?") for chip in (*asked.names, *_others(question, asked))}
    if (
        question.form in ("gate", "guard")
        and len(answers | {*_others(question, asked).values()}) == 1
        and len(told) == 1  # what depends on more for some of them is not alike
        and not answers & {"?", "error"}
    ):
        if "is-helper-call" in question.marks:
            return "this call checks nothing itself; the check inside has its own row"
        return f"{_and(plain(asked), *reversed(_others(question, asked)))} get the same answer"
    if question.form == "word" and not question.marks & {"has-a-number", "is-handed-on"}:
        return "compares no number and no chip; a comparison elsewhere has its own row"
    if question.form == "text" and not question.marks & {"names-asked", "names-one-twin"}:
        return "a comment or a text that names no checked chip decides nothing"
    return ""


def _unlike(question: Question, asked: ChipSet) -> str:
    """How the asked chips are treated unlike each other or unlike their neighbours; "" where that is not known."""
    own = set(_answers(question, asked).values())
    if "?" in own or own == {"-"}:
        return ""
    if "splits-family" in question.marks:
        return f"{_BUILT} only one of {_TWINS}" if question.form == "build" else f"different answers for {_TWINS}"
    if len(own) > 1:
        return f"different answers for {_and(*asked.names)}"
    others = {chip: answer for chip, answer in _others(question, asked).items() if answer != "?"}
    like = [chip for chip, answer in others.items() if answer in own]
    unlike = [chip for chip in others if chip not in like]
    if not unlike:
        return ""
    if question.form == "build":
        same, rest = _and(plain(asked), *like), _and(*unlike)
        built, left = (rest, same) if own == {"no"} else (same, rest)
        return f"{_BUILT} {built}, and not on {left}"
    of_chip = "The chip's part of this check treats" if len({answer for _, answer in question.table}) == 1 else "Treats"
    if "is-refused" in question.marks:
        stop, do = ("stops", "would it") if len(asked) == 1 else ("stop", "would they")
        left = f"{_and(*unlike)} {'does' if len(unlike) == 1 else 'do'} not"
        return f"{plain(asked)} {stop} here; {left}. If let in, {do} run the code behind it?"
    if like:
        said = f"{of_chip} {_and(plain(asked), *like)} alike, and {_and(*unlike)} differently."
        if question.form == "list" and own == {"no"}:
            return f"{said} Would {plain(asked)} run what {_and(*unlike)} get?"
        return f"{said} {_to_find_out(question, like, asked)}"
    if len({others[chip] for chip in unlike}) > 1:
        return f"{of_chip} {plain(asked)} like no neighbour. Is there a reason?"
    return f"{of_chip} {plain(asked)} unlike {_and(*unlike)}. Is there a reason?"


def _to_find_out(question: Question, like: Sequence[str], asked: ChipSet) -> str:
    """What somebody has to know of code that the asked chips share with these neighbours, and with no other."""
    if not asked <= group("consumer-blackwell"):
        return "Is there a reason?"
    lack = f"which {plain(asked)} {'lacks' if len(asked) == 1 else 'lack'}"
    if "8.9" in like:
        return f"Would {plain(asked)} run what the others get, or is this the right way for {them(asked)}?"
    does = f"Does {_behind(question)} need"
    if "10.0" not in like:
        return f"{does} wgmma, {lack}?"
    if "9.0" in like:
        return f"{does} wgmma or tcgen05, {lack}? TMA and clusters are there."
    room = kib(max(chip.smem_per_block_optin or 0 for chip in asked))
    return f"{does} tcgen05, tensor memory or more than {room} of shared memory, {lack}?"


def _behind(question: Question) -> str:
    """What the asked chips get, as far as it is known: calls, else whatever rests on the answer."""
    called = [found[1] for way in question.ways if (found := _CALLS.match(way.does))]
    return f"the call of {called[0]}" if called else "code that depends on this"


def _answers(question: Question, asked: ChipSet) -> dict[str, Answer]:
    """What the chip decides for those asked about."""
    of = dict(question.decided or question.table)
    return {chip: of.get(chip, "?") for chip in asked.names}


def _others(question: Question, asked: ChipSet) -> dict[str, Answer]:
    """The same for the neighbours that they are compared to."""
    of = dict(question.decided or question.table)
    return {chip: of.get(chip, "?") for chip in _COMPARED if chip not in asked.names}


def _and(*names: str) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
