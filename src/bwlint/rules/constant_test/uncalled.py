"""constant-test: a helper that asks for the device, named in a condition and not called: a function is true."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import EVERY
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Gate, Module
from bwlint.model.kinds import LISTED, UNASKED
from bwlint.rules.constant_test import RULE

_NAMED = frozenset({"function", "import"})


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    for gate in module.gates if module.language == "python" else ():
        for asked in _operands(gate.test) if not gate.is_a(*LISTED | UNASKED) else ():
            if asked.op in _NAMED and _is_helper(context, module, asked) and _is_meant(module, gate, asked):
                yield _draft(module, gate, asked)


def _operands(test: Expr) -> Iterator[Expr]:
    if test.op in ("and", "or"):
        yield from (one for item in test.args[0] for one in _operands(item))
    elif test.op == "not":
        yield from _operands(test.args[0])
    else:
        yield test


def _is_helper(context: Context, module: Module, asked: Expr) -> bool:
    """Whether it is a function that answers by a test of the device."""
    found = context.tree.function(module, asked)
    name = found.function.qualname if found is not None else ""
    return found is not None and any(one.kind == "predicate" and one.name == name for one in found.module.gates)


def _is_meant(module: Module, gate: Gate, asked: Expr) -> bool:
    """Whether it is no question whether the helper is there: one is imported perhaps, `if helper and helper():`."""
    near = (one.test for one in module.gates if one.qualname == gate.qualname)
    calling = [test for test in near if any(one.op == "call" and _same(one.args[0], asked) for one in walk(test))]
    guarded = any(_same(one, asked) for test in calling for one in _operands(test))
    return not guarded and (asked.op == "function" or bool(calling))


def _same(one: object, other: Expr) -> bool:
    return isinstance(one, Expr) and (one.op, one.args) == (other.op, other.args)


def _draft(module: Module, gate: Gate, asked: Expr) -> Draft:
    says = f"always true: `{asked.args[-1]}` is a function, and nobody calls it here"
    at = asked.at if asked.at is not None and gate.at.holds(asked.at) else gate.at
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=at, admitted=EVERY, certain=EVERY, gate=gate),
        severity="warning",
        confidence="high",
        message=says,
        label="true on every chip",
        advice="call it",
        claims=(Claimed(claims.other(says, EVERY), at, module),),
    )
