"""What a chip gets on one side of a gate, in words: an error, a value, a call."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from bwlint.chips.wording import shortened
from bwlint.model.expr import Expr
from bwlint.model.facts import Side
from bwlint.world.gates import answers_no, refuses

NOTHING, SOMETHING, ON = "does nothing of its own", "returns something else", "goes on"
VAGUE = frozenset({NOTHING, SOMETHING, ON})
"""Phrases that say nothing of what is done."""
_BUILT_IN = frozenset(dir(builtins))
_FEW = 2
_MOST = 80
"""Characters of a message that are told."""


def does(side: Side) -> str:
    """A phrase: raises "needs SM90", returns None, calls `a`, `b`."""
    said = f' "{shortened(side.texts[0].text, _MOST)}"' if side.texts else ""
    if refuses(side):
        verb = {"raise": "raises an error", "skip": "skips the test", "exit": "ends the program"}[side.ends]
        return f"{verb.split(' ')[0]}{said}" if said and side.ends == "raise" else f"{verb}{said}"
    calls = ", ".join(f"`{name}`" for name in _called(side))
    value = _value(side.value)
    if side.ends == "return":
        return f"returns {value}" if value else f"calls {calls} and returns" if calls else SOMETHING
    if calls:
        return f"calls {calls}"
    if value:
        return f"sets {value}"
    if side.tuning:
        return "sets other numbers"
    if side.ends == "continue":
        return "skips this one"
    return NOTHING if side.empty or side.rest else ON


def marks(side: Side) -> Iterator[str]:
    """What the scores of rows rest on."""
    if refuses(side):
        yield "is-refused"
    elif answers_no(side):
        yield "is-told-no"
    if side.disables:
        yield "switches-off"
    if side.tuning:
        yield "only-numbers"
    if side.empty:
        yield "does-nothing"


def _called(side: Side) -> list[str]:
    names = dict.fromkeys(
        use.name.lstrip(".")
        for use in (*side.choices, *side.uses)
        if use.how in ("call", "instruction", "atom") and use.name not in _BUILT_IN
    )
    return list(names)[:_FEW]


def _value(value: Expr | None) -> str:
    if value is None or value.op != "const":
        return ""
    found = value.args[0]
    return f'"{shortened(found, _MOST)}"' if isinstance(found, str) else repr(found)
