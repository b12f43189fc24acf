"""What other gates of the tree say of the same thing: the list on a definition, its own guard, gates around its calls.

A name or a comment says what its author had in mind; a second gate in front of the same thing says what the tree
counts on. Where the two disagree, one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import ChipSet
from bwlint.evaluate.objects import ClassValue, Frame, FunctionValue
from bwlint.facts import Gate, Module, Side, Use
from bwlint.judge import Context, Judged, refuses

MAX_HOPS = 3
"""Functions that only hand on, from a call to the definition that has a gate."""
NARROW = 6
"""A guard that leaves as many chips or fewer names them; one that leaves more has a bound and may not know them."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A gate of the tree that says for which chips a thing is: `name` is the definition that it belongs to."""

    module: Module
    gate: Gate
    name: str
    chips: ChipSet


def admission(context: Context, module: Module, use: Use) -> Admission | None:
    """What the definition that a call leads to is declared or guarded for; None where it does not say it."""
    place = context.evidence.place(module, use) if use.how == "call" else None
    for _ in range(MAX_HOPS):
        if place is None:
            return None
        found = declared(context, *place) or _guarded(context, *place)
        if found is not None:
            return found
        place = _handed_on(context, *place)
    return None


def declared(context: Context, module: Module, name: str) -> Admission | None:
    """The list on a definition, or the only one that its body passes on whatever it is called with."""
    lists = [gate for gate in module.gates if gate.kind == "list"]
    on_it = [gate for gate in lists if gate.name == name and gate.qualname == "<module>" and not gate.yes.rest]
    found = on_it or [gate for gate in lists if gate.qualname == name and not gate.path]
    sets = [evaluated for gate in found if (evaluated := context.tree.sets(module, gate)) is not None]
    if not sets or len(sets) != len(found) or len({entry.core for entry in sets}) > 1:
        return None  # several that differ: which one counts is not known
    return Admission(module, found[0], name, sets[0].core)


def _guarded(context: Context, module: Module, name: str) -> Admission | None:
    """The first guard of a body, where it names the chips that it lets pass and depends on nothing else."""
    for gate in module.gates:
        if gate.qualname != name or gate.path or gate.kind not in ("condition", "assert", "helper-call"):
            continue
        sets = context.tree.sets(module, gate)
        if sets is None or not sets.decided or sets.flags:
            continue
        judged = Judged(module, gate, sets, "")
        if refuses(judged.other) and judged.may == judged.must and len(judged.must) <= NARROW:
            return Admission(module, gate, name, judged.must)
    return None


def _handed_on(context: Context, module: Module, name: str) -> tuple[Module, str] | None:
    """What a function returns the result of, where that is all it does."""
    function = module.functions.get(name)
    if function is None or len(function.returns) != 1:
        return None
    path, value = function.returns[0]
    if path or value.op != "call":
        return None
    run = context.tree.interpreter
    run.start()
    called = run.evaluate(value.args[0], Frame(module)).only()
    if isinstance(called, FunctionValue):
        return called.module, called.function.qualname.partition(".")[0]
    if isinstance(called, ClassValue):
        return called.module, called.body.qualname.partition(".")[0]
    return None


def calls(context: Context, judged: Judged, side: Side) -> Iterator[Use]:
    """Calls that a side surely makes and that no gate below this one guards."""
    for use in side.uses:
        if use.how == "call" and use.sure and not _guarded_below(context, judged, use):
            yield use


def _guarded_below(context: Context, judged: Judged, use: Use) -> bool:
    return any(
        other is not judged and other.gate.at[:2] > judged.gate.at[:2] for other, _ in context.around(judged, use.at)
    )
