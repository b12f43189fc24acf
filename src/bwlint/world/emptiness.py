"""Tests that ask whether there is anything to do: `m == 0`, `not x.numel()`, `tokens.empty()`, `len(rows) < 1`."""

from __future__ import annotations

import re

from bwlint.chips import words
from bwlint.model.expr import Expr
from bwlint.model.naming import spoken

_AMOUNT = re.compile(rf"(?:^|[_.]){words.said('amounts')}(?:[_.]|$)|^[bklmnst]$", re.I)
_EMPTY = re.compile(r"(?:^|_)empty$", re.I)
_NOTHING = {("==", 0), ("<=", 0), ("<", 1)}


def asks_for_nothing(test: Expr) -> bool:
    """Whether a test holds where an input is empty, and nowhere else."""
    if test.op == "or":
        return all(map(asks_for_nothing, test.args[0]))
    if test.op == "and":
        return any(map(asks_for_nothing, test.args[0]))
    if test.op == "not":
        return _is_amount(test.args[0])
    if test.op == "call":
        return _EMPTY.search(spoken(_name(test.args[0]))) is not None
    if test.op != "cmp" or len(test.args[1]) != 2:
        return False
    left, right = test.args[1]
    return right.op == "const" and (test.args[0], right.args[0]) in _NOTHING and _is_amount(left)


def _is_amount(node: Expr) -> bool:
    """A name, a member or a call that says how much there is: `num_tokens`, `x.shape[0]`, `a.size(0)`."""
    if node.op == "call":
        node = node.args[0]
    while node.op == "index":
        node = node.args[0]
    return _AMOUNT.search(spoken(_name(node))) is not None


def _name(node: Expr) -> str:
    """The last name of what is asked."""
    return str(node.args[-1]) if node.op in ("var", "param", "attr", "name", "import", "opaque") else ""
