"""What a definition refuses by itself: its decorators' lists, its asserts, the checks that end in an error."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.evaluate.expr import Expr, Span, negate
from bwlint.facts import Gate, Module
from bwlint.judged import REFUSING, Judged
from bwlint.link import Tree
from bwlint.wording import plain

_WORDS = {"list": "this list names", "build": "this is built for", "gate": "this refuses all but"}
_GUARDS = frozenset({"assert", "condition", "helper-call"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """A definition works on `legal` at most, by a gate of its own.

    `kind` is list (its decorator names the chips), build (it passes a list to what builds a kernel) or gate.
    """

    legal: ChipSet
    at: Span
    kind: str

    @property
    def text(self) -> str:
        """A sentence for reports."""
        return f"{_WORDS[self.kind]} {plain(self.legal)}"


class Refusals:
    """The refusals of each module, by qualified name of the definition, computed when they are asked for."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[int, dict[str, tuple[Refusal, ...]]] = {}

    def of(self, module: Module, qualname: str) -> tuple[Refusal, ...]:
        """What a definition refuses on every way through it."""
        if id(module) not in self._known:
            self._known[id(module)] = self._all(module)
        return self._known[id(module)].get(qualname, ())

    def _all(self, module: Module) -> dict[str, tuple[Refusal, ...]]:
        found: dict[str, list[Refusal]] = defaultdict(list)
        for gate in module.gates:
            owner = _owner(gate)
            refusal = self._refusal(module, gate) if owner else None
            if refusal is not None:
                found[owner].append(refusal)
        return {name: tuple(refusals) for name, refusals in found.items()}

    def _refusal(self, module: Module, gate: Gate) -> Refusal | None:
        sets = self._tree.sets(module, gate)
        if sets is None or not sets.decided:
            return None
        judged = Judged(module, gate, sets, "")
        if judged.other.ends not in REFUSING or judged.working.ends in REFUSING:
            return None
        legal = EVERY - (self._always(module, gate) - judged.may)
        return Refusal(legal, judged.at, _kind(gate)) if legal != EVERY else None

    def _always(self, module: Module, gate: Gate) -> ChipSet:
        """The chips that come to a gate or to an error above it, whatever else is not known."""
        errors = _error_exits(module, gate.qualname)
        reached = EVERY
        for test in gate.path:
            if test not in errors:
                reached &= self._tree.must(module, test)
        return reached


def _error_exits(module: Module, qualname: str) -> frozenset[Expr]:
    """What holds after each check of a function that ends in an error."""
    function = module.functions.get(qualname)
    exits = function.returns if function is not None else ()
    return frozenset(negate(path[-1]) for path, value in exits if path and value.op == "raise")


def _owner(gate: Gate) -> str:
    """The definition that a gate speaks for; "" where it is none's."""
    if gate.kind == "list":
        if _is_passed(gate):
            return gate.qualname.removeprefix("<module>")
        if gate.yes.at is None:
            return ""  # what reads it decides
        return gate.name if gate.qualname == "<module>" else f"{gate.qualname}.{gate.name}"
    return gate.qualname.removeprefix("<module>") if gate.kind in _GUARDS else ""


def _is_passed(gate: Gate) -> bool:
    """Whether a list is an argument of a call, and not a decorator's."""
    return any(use.how == "define" for use in gate.yes.uses)


def _kind(gate: Gate) -> str:
    if gate.kind != "list":
        return "gate"
    return "build" if _is_passed(gate) else "list"
