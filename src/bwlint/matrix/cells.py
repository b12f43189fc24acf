"""Decide one cell of the matrix: whether an operation works on a chip with a given backend.

A chip is refused where nothing is left to an operation but to raise, whatever else it is given; by a declared list on
it or on the check of its backend; or where its class answers that it does not work there. What is not decided
by the code stays open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.evaluate.objects import ClassValue, EvaluationFrame, FunctionValue, Instance
from bwlint.evaluate.values import CHIPS, Raises, Ref, Vec
from bwlint.matrix import arms
from bwlint.matrix.rows import ANSWERS, VALIDATES, ArmSite, DefinitionSite, Interfaces, RowEntry
from bwlint.model.expr import Expr, Span
from bwlint.model.facts import MAX_RETURNS, Function, Gate, Module, Side, Use
from bwlint.readers.python.calls import Call, Option
from bwlint.readers.python.interface import Offer
from bwlint.run.engine import Linked
from bwlint.world import proofs
from bwlint.world.definitions import Definitions
from bwlint.world.gates import refuses
from bwlint.world.outlines import Outlines
from bwlint.world.proofs import Graph
from bwlint.world.refusals import Refusals
from bwlint.world.tree import Tree

MAX_CALLS = 12
"""How deep calls are followed."""
MAX_BASES = 40
"""How many base classes are followed."""
_PROVING = frozenset({"operation", "library"})
_DECLARES = re.compile(r"support|admissible|allowed")
_ASKS = re.compile(r"_*(?:get|is|has|can|should|supports?|determine|select|choose|pick|default)_")
"""Functions that answer a question: what they choose among is the answer, and no way of working."""
_RUNS = ("__init__", "from_pretrained", "plan", "run", "forward", "__call__", "apply")
"""Methods that whoever uses a class calls."""


@dataclass(frozen=True, slots=True)
class GatePlace:
    """A gate: the real path of its file, and its span; `need` is what stands there instead that no gate can give."""

    path: str
    at: Span
    need: str = ""


Refused = Mapping[str, tuple[GatePlace, ...]]
"""The gates in the way of each chip, by its name, those that it meets first in front."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The gates of a row on every chip: `refused` by chip name, and one that decides for the others.

    `by` is None where nothing asks for the device: what is not refused is then open. `other` are chips that take an
    arm for whatever nobody names, with what that arm is called; `arms` are the others by name, each with its chips.
    `through` are the definitions that it surely runs, by the dotted name of their module and their qualified name.
    """

    refused: Refused = field(default_factory=dict)
    by: GatePlace | None = None
    other: Mapping[str, tuple[str, GatePlace]] = field(default_factory=dict)
    arms: Mapping[str, tuple[ChipSet, GatePlace]] = field(default_factory=dict, compare=False)
    through: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)

    def __bool__(self) -> bool:
        return self.by is not None or bool(self.refused)


OPEN = Ruling()
NOTHING: Mapping[Span, bool] = {}
_Answer = Callable[[object, int], "bool | None"]
"""What a returned value says on a chip (by its place among the chips): works, does not, or neither."""


def together(rulings: Iterable[Ruling]) -> Ruling:
    """All have to let a chip through."""
    found = list(rulings)
    refused: dict[str, tuple[GatePlace, ...]] = {}
    other: dict[str, tuple[str, GatePlace]] = {}
    arms: dict[str, tuple[ChipSet, GatePlace]] = {}
    through: frozenset[tuple[str, str]] = frozenset()
    for ruling in found:
        other |= ruling.other
        arms |= ruling.arms
        through |= ruling.through
        for chip, places in ruling.refused.items():
            refused[chip] = tuple(dict.fromkeys((*refused.get(chip, ()), *places)))
    return Ruling(refused, next((ruling.by for ruling in found if ruling.by), None), other, arms, through)


def either(rulings: Sequence[Ruling]) -> Ruling:
    """One that lets a chip through is enough; where one is open, so are the chips that not all refuse."""
    first, *rest = rulings
    refused = {chip: at for chip, at in first.refused.items() if all(chip in other.refused for other in rest)}
    return Ruling(refused, first.by if all(ruling.by for ruling in rulings) else None)


@dataclass(slots=True)
class Cells:
    tree: Tree
    interfaces: Interfaces
    outlines: Outlines
    graph: Graph
    refusals: Refusals
    definitions: Definitions
    _known: dict[tuple[Any, ...], Ruling] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, world: Linked, interfaces: Interfaces) -> Cells:
        return cls(world.tree, interfaces, world.outlines, world.graph, world.native.refusals, world.definitions)

    def ruling(self, entry: RowEntry) -> Ruling:
        names = {entry.module, entry.site.module if entry.site is not None else entry.module}
        return together((self._of_entry(entry), *(self._imported(name) for name in sorted(names))))

    def _imported(self, name: str) -> Ruling:
        """The errors in which the import of a module ends, or of a package around it."""
        names, rulings = name.split("."), []
        for dotted in (".".join(names[:count]) for count in range(1, len(names) + 1)):
            module, found = self.tree.module(dotted), self.interfaces.get(dotted)
            if module is None or found is None:
                continue
            for one in self.refusals.judged(module):
                is_error = one.gate.is_a("condition", "assert") and refuses(one.other) and one.sets.decided
                is_run = one.gate.qualname == "<module>" and not one.gate.name and not one.gate.path
                if is_error and is_run and not any(at.holds(one.gate.at) for at in found.caught):
                    place = GatePlace(one.module.path, one.at)
                    rulings.append(Ruling({chip.name: (place,) for chip in one.sets.live - one.may}, place))
        return together(rulings)

    def _of_entry(self, entry: RowEntry) -> Ruling:
        if entry.bound:
            return self._behind_proofs(self.graph.agreed(entry.bound))
        if entry.site is None:
            return self._of_definition(entry.check) if entry.check else OPEN
        if entry.backend is None and entry.by_arm:
            return self._by_arm(self.interfaces.ways(entry.module, entry.name), self._of_operation)
        if entry.backend is None:
            return self._of_operation(entry.site)
        bound = {entry.parameter: entry.backend.name}
        if entry.backend.stands_for:
            return self._of_choice(entry.site, entry.check, bound)
        own, any_other = self._of_definition(entry.site, bound), self._of_definition(entry.site)
        return OPEN if own == any_other else own  # the name decides nothing

    def _of_operation(self, site: DefinitionSite) -> Ruling:
        choices = site.offer.choices
        if not choices:
            return together((self._of_definition(site), self._dispatched(site)))
        checks = [self.interfaces.local(site.module, choice.stands_for) for choice in choices]
        own = [self._of_choice(site, check, {}) for check in checks]
        return together((self._of_definition(site, lists=False), either(own)))

    def _by_arm(self, ways: Sequence[ArmSite], rule: Callable[[DefinitionSite], Ruling]) -> Ruling:
        """Each chip has the definition of its own arm; one that comes to no arm has none, nor one that only raises."""
        able = [way for way in ways if way.site is None or not way.site.offer.only_raises]
        found = [(self._comes_to(way), rule(way.site) if way.site is not None else OPEN) for way in able]
        refused: dict[str, tuple[GatePlace, ...]] = {}
        last = self._gate_around(*ways[-1].arms[0]) if ways[-1].arms else None
        for chip in EVERY:
            own = [ruling for chips, ruling in found if chip in chips]
            places = either(own).refused.get(chip.name, ()) if own else (last,) if last is not None else ()
            if places:
                refused[chip.name] = places
        return Ruling(refused, last if len(refused) < len(EVERY) else None)

    def _comes_to(self, way: ArmSite) -> ChipSet:
        """The chips that may reach the arms of a definition."""
        chips = EVERY
        for name, at in way.arms:
            module = self.tree.module(name)
            chips &= self.refusals.passing(module, at) if module is not None else EVERY
        return chips

    def _gate_around(self, name: str, at: Span) -> GatePlace | None:
        """The last test of the device that decides whether a chip reaches a place."""
        module = self.tree.module(name)
        around = [
            one
            for one in (self.refusals.judged(module) if module is not None else ())
            if one.gate.yes.holds(at) or one.gate.no.holds(at)
        ]
        return GatePlace(around[-1].module.path, around[-1].gate.at) if around else None

    def _dispatched(self, site: DefinitionSite) -> Ruling:
        """What an operation chooses by itself, where it asks for the device and for nothing else."""
        module = self.module(site)
        if module is None or site.offer.kind != "function" or _ASKS.match(site.offer.name):
            return OPEN
        bound = {name: "auto" for name, values in site.offer.options if "backend" in name and "auto" in values}
        backends = {text: name for name, values in site.offer.options for text in values if "backend" in name}

        def name_of(gate: Gate, side: Side) -> str | None:
            if gate.kind == "expression":
                return arms.chosen(side)
            other = gate.no if side is gate.yes else gate.yes
            return arms.called(side, other, lambda name: self._is_own(site, name))

        parts = []
        for arm in arms.arms(self.tree, module, site.offer.name, bound, name_of):
            place = GatePlace(module.path, arm.at)
            other = {chip.name: (arm.name, place) for chip in arm.chips} if arm.general else {}
            parts.append(Ruling({}, place, other, {arm.name: (arm.chips, place)}))
            if arm.name in backends:
                behind = self._of_definition(site, {backends[arm.name]: arm.name})
                parts.append(Ruling({chip: at for chip, at in behind.refused.items() if chip in arm.chips}))
        return together(parts)

    def _is_own(self, site: DefinitionSite, name: str) -> bool:
        """Whether a name is a definition of the tree, and no function that gives the sizes of a launch."""
        found = self.interfaces.called(site.module, site.offer.name, name)
        return found is not None and not found.offer.gives_numbers

    def _of_choice(self, site: DefinitionSite, check: DefinitionSite | None, bound: Mapping[str, str]) -> Ruling:
        """A backend that has a check. What its check declares counts instead of what a check for all declares."""
        own = self._of_check(check)
        declared = check is not None and bool(self._declared(check))
        return together((own, self._of_definition(site, bound, lists=not declared)))

    def module(self, site: DefinitionSite) -> Module | None:
        """The facts of the file in which a definition stands."""
        found = self.tree.module(site.module)
        return found if found is not None and found.path == site.path else None

    def _of_definition(
        self, site: DefinitionSite, bound: Mapping[str, str] | None = None, lists: bool = True
    ) -> Ruling:
        """A definition and the checks for all its backends; `lists` says whether those count that they declare."""
        checks = (self.interfaces.local(site.module, name) for name in site.offer.checks)
        parts = [self._declared(site), *(self._of_check(check, lists) for check in checks if check is not None)]
        if site.offer.kind == "function":
            parts.append(self._runs(site, site.offer.name, bound or {}))
        else:
            parts += self._of_class(site, bound or {})
        return together(parts)

    def _of_check(self, site: DefinitionSite | None, lists: bool = True) -> Ruling:
        """A function that answers whether something may be used, or a class that does."""
        if site is None:
            return OPEN
        if site.offer.kind == "class":
            return self._of_definition(site)
        declared = self._declared(site) if lists else OPEN
        return together((declared, self._body(site, site.offer.name, {}, _says_no)))

    def _of_class(self, site: DefinitionSite, bound: Mapping[str, str]) -> Iterator[Ruling]:
        methods = {name for owner in self._line(site) for name in owner.offer.methods}
        for name in sorted(filter(ANSWERS.fullmatch, methods)):
            owner = self._owner(site, name)
            if owner is not None:
                answer = _says_least if "min" in name.split("_") else _answers_no
                yield self._body(owner, f"{owner.offer.name}.{name}", {}, answer, says_all=True, of=site)
        for name in (*_RUNS, *sorted(filter(VALIDATES.fullmatch, methods))):
            owner = self._owner(site, name)
            if owner is not None:
                yield self._runs(owner, f"{owner.offer.name}.{name}", bound)

    def _runs(self, site: DefinitionSite, qualname: str, bound: Mapping[str, str]) -> Ruling:
        """What a function and those that it calls let through, memorised."""
        key = (site.path, qualname, tuple(sorted(bound.items())))
        if key not in self._known:
            self._known[key] = OPEN  # a function that calls itself
            parts = [
                self._body(site, qualname, bound, _raises),
                self._listed(site, qualname),
                self._proved(site, qualname),
            ]
            itself = Ruling(through=frozenset({(site.module, qualname)}))
            parts += [*self._led_to(site, qualname, bound), *self._on_both_sides(site, qualname, bound)]
            self._known[key] = self._at_gates(site, together((itself, *parts)))
        return self._known[key]

    def _at_gates(self, site: DefinitionSite, ruling: Ruling) -> Ruling:
        """A ruling without values of a file that only fail because of what they are made by, where that is known."""
        module = self.module(site)
        gates = [gate.at for gate in module.gates] if module is not None else []
        refused = {}
        for chip, places in ruling.refused.items():
            asked = tuple(
                one for one in places if one.path != site.path or one.need or any(at.holds(one.at) for at in gates)
            )
            refused[chip] = asked or places
        return replace(ruling, refused=refused)

    def _on_both_sides(self, site: DefinitionSite, qualname: str, bound: Mapping[str, str]) -> Iterator[Ruling]:
        """What refuses a chip whichever way an `if` goes that an argument decides."""
        for at in dict.fromkeys(call.tests[0][0] for call in self._calls(site, qualname) if call.tests):
            if self._is_of_device(site, at):
                continue
            yes, no = (
                together(
                    (
                        self._body(site, qualname, bound, _raises, assumed={at: outcome}),
                        *self._led_to(site, qualname, bound, {at: outcome}),
                    )
                )
                for outcome in (True, False)
            )
            refused = ChipSet.of(*(chip for chip in yes.refused if chip in no.refused))
            if refused and refused != EVERY:
                yield replace(_only(together((yes, no)), refused), by=yes.by)

    def _is_of_device(self, site: DefinitionSite, at: Span) -> bool:
        """Whether the device alone decides a test."""
        module = self.module(site)
        gate = next((one for one in (() if module is None else module.gates) if one.at == at), None)
        sets = self.tree.sets(module, gate) if module is not None and gate is not None else None
        return sets is not None and sets.may == sets.must

    def _calls(self, site: DefinitionSite, qualname: str) -> Sequence[Call]:
        found = self.interfaces.get(site.module)
        is_other = found is not None and site.offer.name in found.offers and found.offers[site.offer.name] != site.offer
        return () if found is None or is_other or len(self._open) >= MAX_CALLS else found.calls.get(qualname, ())

    def _led_to(
        self, site: DefinitionSite, qualname: str, bound: Mapping[str, str], assumed: Mapping[Span, bool] = NOTHING
    ) -> Iterator[Ruling]:
        """The rulings of what a function surely calls, where tests come out as `assumed`."""
        for call in self._calls(site, qualname):
            if not all(bound.get(o.parameter) is not None and _holds(o, bound[o.parameter]) for o in call.under):
                continue
            ways = self.interfaces.ways_called(site.module, qualname, call.name)
            callee = self.interfaces.called(site.module, qualname, call.name)
            applied = self._applied(site, qualname, call) if callee is None else None
            compiled = self._compiled(site, qualname, call) if callee is None and applied is None else ()
            coming = self._coming(site, qualname, call, bound, assumed) if callee or applied or compiled else NONE
            if not coming:
                continue
            self._open.append(qualname)
            if callee is not None and len(ways) > 1:
                behind = self._by_arm(ways, self._of_definition)
            elif callee is not None:
                behind = self._of_definition(callee, _given(call, callee.offer.parameters, bound))
            elif applied is not None:
                behind = self._runs(applied, f"{applied.offer.name}.forward", {})
            else:
                behind = self._behind_proofs(self.graph.agreed(compiled))
            self._open.pop()
            yield behind if coming == EVERY else _only(behind, coming)

    def _applied(self, site: DefinitionSite, qualname: str, call: Call) -> DefinitionSite | None:
        """The function of torch's autograd whose `apply` is called, which runs its `forward`."""
        owner, _, method = call.name.rpartition(".")
        found = self.interfaces.called(site.module, qualname, owner) if method == "apply" and owner else None
        return found if found is not None and "forward" in found.offer.methods else None

    def _compiled(self, site: DefinitionSite, qualname: str, call: Call) -> tuple[proofs.Node, ...]:
        """The functions of C++ that a call runs, of a compiled module or registered with torch."""
        first, dot, rest = call.name.partition(".")
        found = self.interfaces.get(site.module)
        inner = found.inner.get((qualname, first)) if found is not None else None
        target = inner or (found.imports.get(first) if found is not None else None) or first
        return self.definitions.bound(site.path, Use(f"{target}{dot}{rest}", "call", site.offer.at))

    def _coming(
        self,
        site: DefinitionSite,
        qualname: str,
        call: Call,
        bound: Mapping[str, str],
        assumed: Mapping[Span, bool],
    ) -> ChipSet:
        """The chips that surely reach a call, by the tests around it that the device alone decides."""
        module = self.module(site)
        coming = EVERY
        for at, outcome in call.tests:
            if at in assumed and assumed[at] is not outcome:
                return NONE
            if at in assumed:
                continue
            gates = () if module is None else module.gates
            gate = next((gate for gate in gates if gate.at == at and gate.kind == "condition"), None)
            if module is None or gate is None:
                return NONE
            frame = EvaluationFrame(module, {(qualname, name): Vec((text,)) for name, text in bound.items()})
            self.tree.interpreter.start()
            lanes = self.tree.interpreter.truth(gate.test, frame).spread()
            coming &= ChipSet.joining(chip for chip, lane in zip(CHIPS, lanes, strict=True) if lane is outcome)
        return coming

    def _proved(self, site: DefinitionSite, qualname: str) -> Ruling:
        """What a function surely reaches in the end: instructions, and libraries, that not every chip has."""
        outline = self.outlines.named(site.module)
        definition = outline.definitions.get(qualname) if outline and outline.path == site.path else None
        if outline is None or definition is None:
            return OPEN
        return self._behind_proofs(self.graph.proofs(proofs.Node(outline, definition)))

    def _behind_proofs(self, found: Iterable[proofs.NeedProof]) -> Ruling:
        """What proofs refuse. Errors count where they stand in C++: those of Python are run here."""
        parts = []
        for proof in (one for one in found if one.legal and one.against and one.hops):
            end = proof.hops[-1]
            if proof.kind == "gate" and not end.path.endswith(".py"):
                place = GatePlace(end.path, end.at)
                parts.append(Ruling({chip.name: (place,) for chip in proof.against}, place))
            elif proof.kind in _PROVING and self._counts(proof):
                place = GatePlace(end.path, end.at, proof.what)
                parts.append(Ruling({chip.name: (place,) for chip in proof.against}))
        return together(parts)

    def _counts(self, proof: proofs.NeedProof) -> bool:
        """Not a string, which may be compared with, and not a module of the tree that is called like a library."""
        if proof.kind != "library":
            return True
        hop = proof.hops[-1]
        outline = self.outlines.of(hop.path, "")
        uses = [use for found in outline.definitions.values() for use in found.uses] if outline else []
        how = {use.how: use.name for use in uses if use.at == hop.at}
        name = how.get("call") or how.get("import")
        return name is not None and not self.interfaces.path(name.partition(".")[0])

    def _listed(self, site: DefinitionSite, qualname: str) -> Ruling:
        """Lists of what is supported that a function hands to what builds its kernels."""
        module = self.module(site)
        if module is None:
            return OPEN
        lists = {gate.at: gate.name for gate in module.gates if gate.kind == "list"}
        parts = []
        for refusal in self.refusals.of(module, qualname):
            if refusal.kind == "build" and _DECLARES.search(lists.get(refusal.at, "")):
                place = GatePlace(module.path, refusal.at)
                parts.append(Ruling({chip.name: (place,) for chip in EVERY - refusal.legal}, place))
        return together(parts)

    def _owner(self, site: DefinitionSite, method: str) -> DefinitionSite | None:
        """The class that defines a method, the class itself or the first of its bases."""
        return next((owner for owner in self._line(site) if method in owner.offer.methods), None)

    def _line(self, site: DefinitionSite) -> list[DefinitionSite]:
        """A class and its bases, each once, the bases of the first before the second."""
        found: dict[tuple[str, str], DefinitionSite] = {}
        waiting = [site]
        while waiting and len(found) < MAX_BASES:
            owner = waiting.pop()
            if (owner.path, owner.offer.name) in found:
                continue
            found[(owner.path, owner.offer.name)] = owner
            above = (self.interfaces.local(owner.module, base) for base in reversed(owner.offer.bases))
            waiting += [base for base in above if base is not None]
        return list(found.values())

    def _declared(self, site: DefinitionSite) -> Ruling:
        """The lists that decorators of a definition declare."""
        module = self.module(site)
        if module is None:
            return OPEN
        return together(self._list(module, gate) for gate in module.gates if _on(site.offer, gate))

    def _list(self, module: Module, gate: Gate) -> Ruling:
        sets = self.tree.sets(module, gate)
        if sets is None or not sets.decided:
            return OPEN
        place = GatePlace(module.path, gate.at)
        return Ruling({chip.name: (place,) for chip in EVERY - sets.may}, place)

    def _body(
        self,
        site: DefinitionSite,
        qualname: str,
        bound: Mapping[str, str],
        answer: _Answer,
        says_all: bool = False,
        of: DefinitionSite | None = None,
        assumed: Mapping[Span, bool] = NOTHING,
    ) -> Ruling:
        """What the ways out of a function say. With `says_all` its answer counts though it is one for all chips. Tests
        come out as `assumed`. `of` is the class of which it is asked where a base has it: what that class overrides is
        what it reads."""
        module = self.module(site)
        function = None if module is None else module.functions.get(qualname)
        if module is None or function is None or len(function.returns) >= MAX_RETURNS:
            return OPEN
        if not site.offer.at.holds(function.at):
            return OPEN  # another one of that name
        args = {(qualname, name): Vec((text,)) for name, text in bound.items() if name in function.params}
        if of is not None and of != site:
            args |= self._itself(of, function)
        frame = EvaluationFrame(module, args)
        ways = self._ways(module, function, frame, answer, assumed)
        behind = [OPEN if says_all else self._behind(way.value, frame) for way in ways]
        ways = [way.refusing(ruling.refused) for way, ruling in zip(ways, behind, strict=True)]
        own = GatePlace(module.path, function.at)
        found = (_refusals(ways, index, own if says_all else None) for index in range(len(CHIPS)))
        refused = {chip.name: places for chip, places in zip(CHIPS, found, strict=True) if places}
        if not refused or (len(refused) == len(CHIPS) and not says_all):
            granted = says_all and all(_grants(ways, index) for index in range(len(CHIPS)))
            return Ruling({}, own) if granted and of in (None, site) else OPEN  # a base's yes to all says nothing
        proved = {places[0] for ruling in behind if ruling.by is None for places in ruling.refused.values()}
        return Ruling(refused, next((places[0] for places in refused.values() if places[0] not in proved), None))

    def _itself(self, site: DefinitionSite, function: Function) -> dict[tuple[str, str], Vec]:
        """What `self` or `cls` of a method stands for where it is called on a class that inherits it."""
        if function.params[:1] not in (("self",), ("cls",)):
            return {}
        made = Instance if function.params[0] == "self" else ClassValue
        for owner in self._line(site):  # one that adds nothing is what its base is
            module = self.module(owner)
            body = module.classes.get(owner.offer.name) if module is not None else None
            if module is not None and body is not None:
                return {(function.qualname, function.params[0]): Vec((made(module, body),))}
        return {}

    def _ways(
        self,
        module: Module,
        function: Function,
        frame: EvaluationFrame,
        answer: _Answer,
        assumed: Mapping[Span, bool],
    ) -> list[_Way]:
        found = []
        run = self.tree.interpreter
        for path, value in function.returns:
            run.start()
            tests = [(test, _assumed(test, assumed) or run.truth(test, frame)) for test in path]
            outcome = run.evaluate(value, frame)
            lanes = outcome.spread()
            says = tuple(answer(lane, index) for index, lane in enumerate(lanes))
            found.append(_Way(module.path, tuple(tests), says, outcome.device, value))
        return found

    def _behind(self, value: Expr, frame: EvaluationFrame) -> Ruling:
        """The ruling of the definition whose result a function returns."""
        while value.op == "attr" or (value.op == "call" and value.args[0].op == "attr" and _on_call(value.args[0])):
            value = value.args[0]
        if value.op != "call" or len(self._open) >= MAX_CALLS:
            return OPEN
        self.tree.interpreter.start()
        target = self.tree.interpreter.evaluate(value.args[0], frame).only()
        site = None
        if isinstance(target, FunctionValue) and target.owner is None:
            site = self.interfaces.local(target.module.name, target.function.qualname)
        elif isinstance(target, Ref):
            site = self.interfaces.find(target.name)
        if site is None:
            return OPEN
        self._open.append(site.offer.name)
        found = self._of_definition(site)
        self._open.pop()
        return found


@dataclass(frozen=True, slots=True)
class _Way:
    """One way out of a function: the tests on it, what it says on each chip, and whether that depends on the chip."""

    path: str
    tests: tuple[tuple[Expr, Vec], ...]
    says: tuple[bool | None, ...]
    device: bool
    value: Expr
    gates: tuple[tuple[GatePlace, ...], ...] = ()
    """What refuses each chip further on."""

    def refusing(self, refused: Refused) -> _Way:
        """The same way where what it leads to refuses some chips."""
        says = tuple(False if chip.name in refused else said for chip, said in zip(CHIPS, self.says, strict=True))
        return replace(self, says=says, gates=tuple(refused.get(chip.name, ()) for chip in CHIPS))

    def taken(self, index: int, opened: frozenset[Span | None] = frozenset()) -> bool | None:
        """Whether a chip takes it; None where that is open. The tests at `opened` keep nobody."""
        sure = True
        for test, outcome in self.tests:
            if test.at in opened:
                continue
            lane = outcome.spread()[index]
            if lane is False:
                return False
            sure = sure and lane is True
        return True if sure else None

    def against(self, index: int, near: bool) -> tuple[GatePlace, ...]:
        """What it leads to that refuses a chip, or a test on it that asks for the device. With `near` only the last
        test counts: others may just stand above."""
        if self.gates and self.gates[index]:
            return self.gates[index]
        tests = self.tests[-1:] if near else self.tests
        asking = [test.at for test, outcome in tests if outcome.device and outcome.spread()[index] is True]
        at = self.value.at if self.device else asking[-1] if asking else None
        return () if at is None else (GatePlace(self.path, at),)


def _refusals(ways: Sequence[_Way], index: int, anyway: GatePlace | None) -> tuple[GatePlace, ...]:
    """The gates that refuse a chip, each with those before it opened; none where some way may be left to it. `anyway`
    is what refuses it where no gate asks for the device."""
    found: dict[GatePlace, None] = {}
    opened: frozenset[Span | None] = frozenset()
    while places := _refusal(ways, index, None if found else anyway, opened):
        found.update(dict.fromkeys(places))
        now = ({place.at for place in places} & {_last(way) for way in ways}) - opened
        if not now:
            break
        opened |= now
        ways = [way for way in ways if way.says[index] is not False or _last(way) not in now]
    return tuple(found)


def _assumed(test: Expr, assumed: Mapping[Span, bool]) -> Vec | None:
    """How a test comes out that is what is assumed, or its negation."""
    inner = test.args[0] if test.op == "not" else test
    for at, outcome in assumed.items():
        if test.at == at and test.op != "cmp":
            return Vec((outcome is not (inner is not test and inner.at == at),))  # `not x`, or what an else adds to x
        if inner.at is not None and (inner.at == at or inner.at == (at.line, at.column + len("not "), *at[2:])):
            return Vec((not outcome,)) if inner.op != "cmp" else None
    return None


def _last(way: _Way) -> Span | None:
    return way.tests[-1][0].at if way.tests else None


def _refusal(
    ways: Sequence[_Way], index: int, anyway: GatePlace | None, opened: frozenset[Span | None]
) -> tuple[GatePlace, ...]:
    """What refuses a chip first that the tests at `opened` keep no more."""
    left: list[_Way] = []
    for way in ways:
        taken = way.taken(index, opened)
        if taken is False:
            continue
        if way.says[index] is not False:
            return ()
        left.append(way)
        if taken:
            break
    near = (way.against(index, near=True) for way in left)
    far = (way.against(index, near=False) for way in left)
    found = next((places for places in (*near, *far) if places), ())
    if not found and not left and (stopped := _stopped(ways, index, opened)) is not None:
        return (stopped,)
    return found or ((anyway,) if anyway is not None and ways else ())


def _stopped(ways: Sequence[_Way], index: int, opened: frozenset[Span | None]) -> GatePlace | None:
    """The call that does not return on a chip, where that leaves no way out; not one of those at `opened`."""
    for way in ways:
        for test, outcome in way.tests:
            is_asked = test.op == "completes" and test.at not in opened and outcome.device
            if is_asked and test.at and outcome.spread()[index] is False:
                return GatePlace(way.path, test.at)
    return None


def _grants(ways: Sequence[_Way], index: int) -> bool:
    taken = [way for way in ways if way.taken(index) is not False]
    return bool(taken) and all(way.says[index] is True for way in taken)


def _raises(value: object, index: int) -> bool | None:
    return False if isinstance(value, Raises) else None


def _says_no(value: object, index: int) -> bool | None:
    """A check function: it raises, or returns False, None or a pair that begins with one of them."""
    return _answers_no(value, index) if value is not None else None


def _answers_no(value: Any, index: int) -> bool | None:
    if isinstance(value, Raises):
        return False
    if isinstance(value, tuple) and value:
        value = value[0]
    if value is None or isinstance(value, bool):
        return bool(value)
    return None


def _says_least(value: Any, index: int) -> bool | None:
    """A method that returns the lowest capability, as joined digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return CHIPS[index].joined >= value
    return None


def _on(offer: Offer, gate: Gate) -> bool:
    """Whether a list stands in a decorator of a definition, of what a class runs as it is used, or under a name that
    one is given, or a bound in the body of a class."""
    if gate.kind == "predicate":
        return offer.kind == "class" and gate.qualname == offer.name
    if gate.kind != "list":
        return False
    if offer.kind == "class" and gate.qualname == offer.name:
        return gate.name in _RUNS
    assigned = gate.yes.at is None and gate.qualname == "<module>"
    named = assigned and gate.name in offer.given
    return named or any(span.holds(gate.at) for span in offer.decorators)


def _on_call(node: Expr) -> bool:
    """Whether an attribute is one of a result: `f().g`."""
    while node.op == "attr":
        node = node.args[0]
    return node.op == "call"


def _only(ruling: Ruling, chips: ChipSet) -> Ruling:
    """What a ruling refuses of some chips; it says nothing of the others."""
    refused = {chip: places for chip, places in ruling.refused.items() if chip in chips}
    return Ruling(refused, through=ruling.through)


def _given(call: Call, parameters: Sequence[str], bound: Mapping[str, str]) -> dict[str, str]:
    given = {key: bound[name] for key, name in call.handed_on if name in bound} | dict(call.strings)
    places = {str(place): name for place, name in enumerate(parameters)}
    return {places.get(key, key): text for key, text in given.items() if not key.isdigit() or key in places}


def _holds(option: Option, value: str) -> bool:
    return (value in option.values) == option.inside
