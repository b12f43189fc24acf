"""What a definition refuses by itself: its decorators' lists, its asserts, the checks that end in an error."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from bwlint.chips import EVERY, ChipSet
from bwlint.chips.wording import plain
from bwlint.model.expr import Expr, Span, negate
from bwlint.model.facts import REFUSING, Gate, GateKind, Module
from bwlint.world.gates import Judged
from bwlint.world.libraries import is_question
from bwlint.world.tree import Tree

_WORDS = {"list": "this list names", "build": "this is built for", "gate": "this refuses all but"}
_GUARDS: frozenset[GateKind] = frozenset({"assert", "condition", "helper-call"})


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
        self._judged: dict[int, tuple[Judged, ...]] = {}

    def of(self, module: Module, qualname: str) -> tuple[Refusal, ...]:
        """What a definition refuses on every way through it."""
        if id(module) not in self._known:
            self._known[id(module)] = self._all(module)
        return self._known[id(module)].get(qualname, ())

    def passing(self, module: Module, at: Span) -> ChipSet:
        """The chips that the gates around a place may let come to it."""
        reached = EVERY
        for judged in self.judged(module):
            for side in (judged.gate.yes, judged.gate.no):
                if side.holds(at):
                    reached &= judged.let_through(side)
        return reached

    def judged(self, module: Module) -> tuple[Judged, ...]:
        """The gates of a module with their sets."""
        if id(module) not in self._judged:
            found = ((gate, self._tree.sets(module, gate)) for gate in module.gates)
            self._judged[id(module)] = tuple(Judged(module, gate, sets, "") for gate, sets in found if sets is not None)
        return self._judged[id(module)]

    def _all(self, module: Module) -> dict[str, tuple[Refusal, ...]]:
        found: dict[str, list[Refusal]] = defaultdict(list)
        for judged in self.judged(module):
            owner = _owner(judged.gate)
            refusal = self._refusal(judged) if owner else None
            if refusal is not None:
                found[owner].append(refusal)
        return {name: tuple(refusals) for name, refusals in found.items()}

    def _refusal(self, judged: Judged) -> Refusal | None:
        raises = judged.other.ends == "raise" and judged.working.ends not in REFUSING
        if not judged.sets.decided or not raises:
            return None
        legal = EVERY - (self._always(judged.module, judged.gate) - judged.may)
        return Refusal(legal, judged.at, _kind(judged.gate)) if legal != EVERY else None

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
            asks = is_question(gate.name)  # `matches(device, ["120"])` has an answer and refuses nobody
            return "" if asks else gate.qualname.removeprefix("<module>")
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
