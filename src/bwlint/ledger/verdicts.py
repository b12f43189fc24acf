"""What is known of a question: fail, review, open or pass, and why in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bwlint.ledger.question import Question
from bwlint.model.ledger import RowKind

_UNLIKE = {
    "splits-family": "12.0 and 12.1 get different answers",
    "unlike-8-and-9-and-10": "12.x is treated unlike 8.9, 9.0 and 10.0, which are treated alike",
    "unlike-all": "12.x goes a way of its own, which nothing shows to be right",
    "with-10-unlike-9": "12.x goes with 10.0 and not with 9.0",
    "with-10-and-8-unlike-9": "12.x goes with 10.0 and 8.9, and 9.0 does not",
    "with-9-unlike-10": "12.x goes with 9.0 and not with 10.0",
    "with-8-unlike-9-and-10": "12.x goes with 8.9, and 9.0 and 10.0 go elsewhere",
    "with-8-and-9-unlike-10": "12.x goes with 8.9 and 9.0, and 10.0 goes elsewhere",
    "with-9-and-10-unlike-8": "12.x goes with 9.0 and 10.0, and 8.9 goes elsewhere",
}
_WORDS = {
    "asked": "recognised by its spelling only",
    "name": "names a generation; who gets here is decided by the gates in front of it",
    "product": "names a product; which chip that is, is not looked up",
    "unit": "names what not all chips have; whether an asked chip gets here is not known",
    "text": "a text or comment about chips; nothing compares it with the code",
    "word": "an architecture is handed on; who compares it is not seen here",
    "amount": "an amount or a link that chips differ in; nothing proves that it fits",
    "build": "what is built is known, what needs it is not",
}


_SHAPES = frozenset({*_UNLIKE, "all-alike", "nobody-gets-here", "not-evaluated"})


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: RowKind
    why: str


def verdict(question: Question) -> Verdict:
    """What is known of a question that `check` has no finding about."""
    for holds, why in _PASSES: tuple[tuple[Callable[[Question], bool], str], ...] = (
    (lambda one: one.form in ("gate", "guard") and _is_alike(one.marks), "12.x, 10.0, 9.0 and 8.9 get the same answer"),
    (lambda one: {"nobody-gets-here"} == one.marks & _SHAPES, "no asked chip gets here"),
    (lambda one: one.form == "word", "no number and no chip is compared here; who compares it is a row of its own"),
    (
        lambda one: one.form == "text" and not one.marks & {"names-asked", "names-one-twin"},
        "a comment or text that names no asked chip decides nothing",
    ),
)


def _is_alike(marks: frozenset[str]) -> bool:
    return marks & _SHAPES == {"all-alike"}
