"""What is known of a question: review, open or pass, and why in one sentence; a finding of `check` makes it fail."""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.ledger.question import Question
from bwlint.model.ledger import Answer, RowKind

_COMPARED = ("8.9", "9.0", "10.0")
"""To which neighbours the asked chips are compared."""
_TWINS = "12.0 and 12.1"
_BUILT = "what is built for these targets loads on"
_UNKNOWN = {
    "asked": "recognised by its spelling alone",
    "name": "names a generation: what that decides is not known",
    "product": "names a product: the code does not say which capability that stands for",
    "unit": "speaks of an instruction, a library or a link: whether that depends on the chip is not known",
    "word": "a number stands beside it that may be a chip's",
    "text": "names an asked chip: nothing compares the text with the code",
    "amount": "asks for what chips differ in: nothing proves that it fits",
    "build": "what is built is known, what needs it is not",
}
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
        return KnownKind("open", question.unknown or "the test could not be evaluated")
    return KnownKind("open", question.unknown or _UNKNOWN.get(question.form, "what stands behind it is not known"))


def _passes(question: Question, asked: ChipSet) -> str:
    """Why a question cannot matter; "" where it may."""
    if question.passes:
        return question.passes
    answers = {*_answers(question, asked).values()}
    if answers == {"-"}:
        return "no asked chip gets here"
    shown = dict(question.table)
    told = {shown.get(chip, "?") for chip in (*asked.names, *_others(question, asked))}
    if (
        question.form in ("gate", "guard")
        and len(answers | {*_others(question, asked).values()}) == 1
        and len(told) == 1  # what depends on more for some of them is not alike
        and not answers & {"?", "error"}
    ):
        if "is-helper-call" in question.marks:
            return "a call that asks nothing itself: what it asks inside is a row of its own"
        return f"{_and(plain(asked), *reversed(_others(question, asked)))} get the same answer"
    if question.form == "word" and not question.marks & {"has-a-number", "is-handed-on"}:
        return "no number and no chip is compared here: where that is done, it is a row of its own"
    if question.form == "text" and not question.marks & {"names-asked", "names-one-twin"}:
        return "a comment or a text that names no asked chip decides nothing"
    return ""


def _unlike(question: Question, asked: ChipSet) -> str:
    """How the asked chips are treated unlike each other or unlike their neighbours; "" where that is not known."""
    own = set(_answers(question, asked).values())
    if "?" in own or own == {"-"}:
        return ""
    if "splits-family" in question.marks:
        return f"{_BUILT} one of {_TWINS}" if question.form == "build" else f"different answers for {_TWINS}"
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
    part = "as far as the chip decides, " if len({answer for _, answer in question.table}) == 1 else ""
    if like:
        take, rest = ("takes" if len(chips) == 1 else "take" for chips in (asked, unlike))
        return f"{part}{plain(asked)} {take} the branch of {_and(*like)}; {_and(*unlike)} {rest} another"
    if len({others[chip] for chip in unlike}) > 1:
        return f"{part}{plain(asked)} goes a way of its own, and nothing shows that it is right"
    return f"{part}{plain(asked)} is treated unlike {_and(*unlike)}{', which are treated alike' if unlike[1:] else ''}"


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
