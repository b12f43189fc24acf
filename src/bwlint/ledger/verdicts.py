"""What is known of a question: review, open or pass, and why in one sentence; a finding of `check` makes it fail."""

from __future__ import annotations

from dataclasses import dataclass

from bwlint.ledger.question import Question
from bwlint.model.ledger import RowKind

_UNLIKE = {
    "splits-family": "12.0 and 12.1 get different answers",
    "unlike-8-and-9-and-10": "12.x is treated unlike 8.9, 9.0 and 10.0, which are treated alike",
    "unlike-all": "12.x goes a way of its own, and nothing shows that it is right",
    "with-10-unlike-9": "12.x goes with 10.0 and not with 9.0",
    "with-10-and-8-unlike-9": "12.x goes with 10.0 and 8.9, and 9.0 does not",
    "with-9-unlike-10": "12.x goes with 9.0 and not with 10.0",
    "with-8-unlike-9-and-10": "12.x goes with 8.9, and 9.0 and 10.0 go elsewhere",
    "with-8-and-9-unlike-10": "12.x goes with 8.9 and 9.0, and 10.0 goes elsewhere",
    "with-9-and-10-unlike-8": "12.x goes with 9.0 and 10.0, and 8.9 goes elsewhere",
}
_BUILDS = {
    "with-9-and-10-unlike-8": "this builds for 12.x, 9.0 and 10.0, and not for 8.9",
    "with-10-unlike-9": "this builds for 12.x as it does for 10.0, and otherwise for 9.0",
    "with-8-and-9-unlike-10": "this builds for 10.0, and not for 12.x, 9.0 and 8.9",
    "with-10-and-8-unlike-9": "this builds for 9.0, and not for 12.x, 10.0 and 8.9",
    "with-8-unlike-9-and-10": "this builds for 9.0 and 10.0, and not for 12.x and 8.9",
    "splits-family": "what this builds loads on one of 12.0 and 12.1",
}
_UNKNOWN = {
    "asked": "recognised by its spelling alone",
    "name": "names a generation: the tests in front of it decide who gets here",
    "product": "names a product: the code does not say which capability that stands for",
    "unit": "names what not all chips have: whether an asked chip gets here is not known",
    "word": "a number stands beside it that may be a chip's",
    "text": "names an asked chip: nothing compares the text with the code",
    "amount": "asks for what chips differ in: nothing proves that it fits",
    "build": "what is built is known, what needs it is not",
}
_EVALUATED = frozenset({"gate", "guard", "list", "table"})
_SHAPES = frozenset({*_UNLIKE, "all-alike", "nobody-gets-here", "not-evaluated"})


@dataclass(frozen=True, slots=True)
class KnownKind:
    """A kind and its reason."""

    kind: RowKind
    why: str


def verdict(question: Question) -> KnownKind:
    """What is known of a question that `check` has no finding about."""
    why = _passes(question)
    if why:
        return KnownKind("pass", why)
    if question.doubt:
        return KnownKind("review", question.doubt)
    for mark, why in (_UNLIKE | _BUILDS if question.form == "build" else _UNLIKE).items():
        if mark in question.marks:
            return KnownKind("review", why)
    if question.form in _EVALUATED and "not-evaluated" in question.marks:
        return KnownKind("open", "the test could not be evaluated")
    return KnownKind("open", question.unknown or _UNKNOWN.get(question.form, "what stands behind it is not known"))


def _passes(question: Question) -> str:
    """Why a question cannot matter; "" where it may."""
    shape = question.marks & _SHAPES
    if question.passes:
        return question.passes
    if question.form in ("gate", "guard") and shape == {"all-alike"}:
        if "is-helper-call" in question.marks:
            return "this call lets 12.x, 10.0, 9.0 and 8.9 through; what it asks inside is a row of its own"
        return "12.x, 10.0, 9.0 and 8.9 get the same answer"
    if shape == {"nobody-gets-here"}:
        return "no asked chip gets here"
    if question.form == "word" and not question.marks & {"has-a-number", "is-handed-on"}:
        return "no number and no chip is compared here: where that is done, it is a row of its own"
    if question.form == "text" and not question.marks & {"names-asked", "names-one-twin"}:
        return "a comment or a text that names no asked chip decides nothing"
    return ""
