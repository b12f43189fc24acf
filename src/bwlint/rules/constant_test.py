"""constant-test: comparisons of the device that are joined so that every chip gets the same answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bwlint.chips import EVERY, NONE
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.judging.foregone import Foregone, Reading, foregone, is_constant
from bwlint.judging.guards import Guarded
from bwlint.model.expr import Expr, walk
from bwlint.model.facts import Function, Gate, Module
from bwlint.model.findings import NoFix
from bwlint.model.kinds import LISTED, UNASKED, Language
from bwlint.model.rule import RuleTraits
from bwlint.world.gates import Judged, operands

RULE = RuleTraits("constant-test", explains=1)
_JOINED = Remedy("meaning", evidence="joined so, every chip gets one answer", unsafe="a number may be wrong instead")
_NAMED = frozenset({"function", "import"})


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    gate, module, tree = judged.gate, judged.module, context.tree
    if gate.kind in LISTED | UNASKED:
        return

    def constant(node: Expr) -> object:
        found = tree.value(module, node)
        return found.lanes[0] if found.uniform and not found.device and is_constant(found.lanes[0]) else None

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.value(module, node).lanes

    for found in foregone(gate.test, Reading(constant, on_chips)):
        at = found.node.at or gate.at
        if gate.at.holds(at) and tree.value(module, found.subject).device:
            sets = (EVERY, EVERY) if found.holds else (NONE, NONE)
            rest = [one for one in operands(gate.test) if one.at is None or not at.holds(one.at)]
            place = DraftPlace(module=module, at=at, admitted=sets[0], certain=sets[1], gate=gate)
            yield _draft(found, place, is_alone=not any(tree.value(module, one).device for one in rest))


def check_guard(context: Context, guarded: Guarded) -> Iterator[Draft]:
    module, tree = guarded.module, context.tree

    def on_chips(node: Expr) -> Sequence[object]:
        return tree.numbers(module, node)

    for found in foregone(guarded.guard.test, Reading(_literal, on_chips)):
        if tree.asks_target(module, found.subject):
            yield _draft(found, DraftPlace.of_guard(guarded), is_alone=found.node == guarded.guard.test)


def _literal(node: Expr) -> object:
    return node.args[0] if node.op == "const" and is_constant(node.args[0]) else None


def _draft(found: Foregone, place: DraftPlace, *, is_alone: bool) -> Draft:
    subject = found.subject
    name = subject.args[1] if subject.op in ("param", "var", "attr") else subject.args[0]
    named = subject.op in ("param", "var", "attr", "name", "macro") and isinstance(name, str) and name
    what = f"whatever {f'`{name}`' if named else 'the device'} is"
    outcome, how, fate = ("true", "always", "holds") if found.holds else ("false", "never", "fails")
    return Draft(
        rule=RULE,
        place=place,
        severity="warning",
        confidence="high",
        message=f"This condition is {how} true: {what}, one of these comparisons {fate}.",
        label=f"{outcome} on every chip",
        advice=_advice(found, place.module.language, is_alone=is_alone),
        remedy=_JOINED
        if is_alone and found.node.op != "cmp"
        else NoFix("only you know which comparison is wrong here"),
        claims=(Claimed(claims.other(f"this is {outcome} {what}", EVERY), place.at, place.module),),
    )


def _advice(found: Foregone, language: Language, *, is_alone: bool) -> str:
    if found.node.op == "cmp":
        return "Swap the bounds."
    both, one = ("&&", "||") if language == "cuda" else ("and", "or")
    if is_alone:
        return f"Join them with `{both if found.holds else one}`."
    return "Rewrite the whole condition: this part of it decides nothing."


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    """A helper that asks for the device, named in a condition and not called: a function is true."""
    for gate in module.gates if module.language == "python" else ():
        for asked in operands(gate.test) if not gate.is_a(*LISTED | UNASKED) else ():
            if (helper := _helper(context, module, asked)) and _is_meant(module, gate, asked):
                yield _uncalled(module, gate, asked, helper)


def _helper(context: Context, module: Module, asked: Expr) -> Function | None:
    """The function that answers by a test of the device."""
    found = context.tree.function(module, asked) if asked.op in _NAMED else None
    asking = [(one.kind, one.name) for one in found.module.gates] if found is not None else []
    return found.function if found is not None and ("predicate", found.function.qualname) in asking else None


def _is_meant(module: Module, gate: Gate, asked: Expr) -> bool:
    """Whether it is no question whether the helper is there: one is imported perhaps, `if helper and helper():`."""
    near = (one.test for one in module.gates if one.qualname == gate.qualname)
    calling = [test for test in near if any(one.op == "call" and _same(one.args[0], asked) for one in walk(test))]
    guarded = any(_same(one, asked) for test in calling for one in operands(test))
    return not guarded and (asked.op == "function" or bool(calling) or _is_there(module, asked))


def _is_there(module: Module, asked: Expr) -> bool:
    """Whether a file imports a name whatever happens: at its left edge, so in no attempt and under no test."""
    imports = (one.at for one in module.names.values() if _same(one, asked))
    return any(at is not None and at.column == 0 for at in imports)


def _same(one: object, other: Expr) -> bool:
    return isinstance(one, Expr) and (one.op, one.args) == (other.op, other.args)


def _uncalled(module: Module, gate: Gate, asked: Expr, helper: Function) -> Draft:
    says = f"This condition is always true: `{asked.args[-1]}` is a function and is not called here."
    at = asked.at if asked.at is not None and gate.at.holds(asked.at) else gate.at
    return Draft(
        rule=RULE,
        place=DraftPlace(module=module, at=at, admitted=EVERY, certain=EVERY, gate=gate),
        severity="warning",
        confidence="high",
        message=says,
        label="true on every chip",
        advice="Call it.",
        remedy=_called(helper),
        claims=(Claimed(claims.other(says, EVERY), at, module),),
    )


def _called(helper: Function) -> Remedy | NoFix:
    """The call of a helper that asks for nothing; its name is true, and what it answers need not be."""
    wanted = next((name for name, given in zip(helper.params, helper.defaults, strict=False) if given is None), None)
    if wanted is not None:
        return NoFix(f"the call needs a value for `{wanted}`: pass the one that is meant here")
    return Remedy("meaning", evidence="it needs no arguments", unsafe="the other branch runs where it returns false")
