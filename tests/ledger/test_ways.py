"""What a chip gets on one side of a gate, in words."""

from __future__ import annotations

import pytest

from bwlint.ledger import ways
from bwlint.model.expr import Span, const
from bwlint.model.facts import Prose, Side, Use

AT = Span(1, 0, 1, 9)


def texts(*said: str) -> tuple[Prose, ...]:
    return tuple(Prose(one, AT) for one in said)


def calls(*names: str) -> tuple[Use, ...]:
    return tuple(Use(name, "call", AT) for name in names)


@pytest.mark.parametrize(
    ("side", "says", "marks"),
    [
        (Side(ends="raise", texts=texts("needs SM90")), 'raises "needs SM90"', "is-refused"),
        (Side(ends="raise", texts=texts("needs\n   SM90", "or newer")), 'raises "needs SM90"', "is-refused"),
        (Side(ends="raise", texts=texts("x" * 99)), f'raises "{"x" * 77}..."', "is-refused"),
        (Side(ends="raise"), "raises an error", "is-refused"),
        (Side(ends="raise", uses=calls("RuntimeError")), "raises an error", "is-refused"),
        (Side(ends="skip", texts=texts("needs SM90")), 'skips the test "needs SM90"', "is-refused"),
        (Side(ends="exit"), "ends the program", "is-refused"),
        (Side(ends="return", value=const(False)), "returns False", "is-told-no"),
        (Side(ends="return", value=const(None)), "returns None", "is-told-no"),
        (Side(ends="return", value=const(True)), "returns True", ""),
        (Side(ends="return", value=const("fa3")), 'returns "fa3"', ""),
        (Side(ends="return", value=const("not here")), 'returns "not here"', "is-told-no"),
        (Side(ends="return", uses=calls("a", "b", "c")), "calls `a`, `b` and returns", ""),
        (Side(ends="return", uses=calls("a", "a"), choices=calls("z")), "calls `z`, `a` and returns", ""),
        (Side(ends="return", value=const(1), uses=calls("a")), "returns 1", ""),
        (Side(ends="return"), "returns something else", ""),
        (Side(ends="fall", uses=calls("a", "b")), "calls `a`, `b`", ""),
        (Side(ends="fall", uses=(Use("x", "import", AT), *calls("a"))), "calls `a`", ""),
        (Side(ends="fall", value=const(3)), "sets 3", ""),
        (Side(ends="fall", value=const(False), disables=True), "sets False", "is-told-no switches-off"),
        (Side(ends="fall", tuning=True), "sets other numbers", "only-numbers"),
        (Side(ends="continue"), "skips this one", "is-told-no"),
        (Side(ends="fall", empty=True), "does nothing of its own", "does-nothing"),
        (Side(ends="fall", rest=True), "does nothing of its own", ""),
        (Side(ends="fall"), "goes on", ""),
    ],
)
def test_a_side(side: Side, says: str, marks: str) -> None:
    assert (ways.does(side), set(ways.marks(side))) == (says, set(marks.split()))
