"""The code paths of an operation: the gates that keep a chip out of each, and what is missing behind them."""

# Paths are plain strings here, as in `sources.tree`.

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.matrix.cells import GatePlace, Ruling
from bwlint.matrix.rows import RowEntry
from bwlint.model.expr import Span, negate, walk
from bwlint.model.facts import Module, Side
from bwlint.model.kinds import UNASKED
from bwlint.model.outline import Definition
from bwlint.port.behind import BeyondGate
from bwlint.port.choices import taken
from bwlint.port.gates import PortGates
from bwlint.port.reasons import FINAL, OpenWay, Reasons
from bwlint.port.sources import CompiledSources, Lacking
from bwlint.readers import ReadError
from bwlint.readers.python.reached import branches
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF, Need
from bwlint.world.proofs import NeedProof, Node

_GATES = frozenset({"list", "gate", "build"})
_NAMING = frozenset({"list"})
"""Those in which somebody names the chips that it is for. That no error refuses a chip is no sign that it works, nor
that it is built for: kernels for `arch::Sm100` are compiled for 12.x, too, where a list of flags says so.
"""
NEWER = ChipSet.where(lambda one: one.joined >= 100)
"""What is for Hopper alone is wgmma by custom, and so is no gate to open."""
MAX_HELPERS = 5
"""Helpers that ask the next that are looked into."""
MAX_GATES = 60
"""Gates of one way that are looked behind."""


@dataclass(slots=True)
class Ways:
    """Finds the ways of rows for one chip."""

    gates: PortGates
    reasons: Reasons
    beyond: BeyondGate
    _branches: dict[tuple[str, str], tuple[Span, ...]] = field(default_factory=dict)

    def of(self, entry: RowEntry, ruling: Ruling) -> list[OpenWay]:
        """The ways of a row that the chip is refused, or that falls back for it."""
        if self.gates.chip in ruling.refused:
            return self._with_arms(self._refused(entry, ruling), ruling.refused[self.gates.chip])
        arms = {name: found for name, found in ruling.arms.items() if self.gates.chip not in found[0]}
        return [self._of_arm(name, chips, place) for name, (chips, place) in arms.items()]

    def files_of(self, node: Node) -> Iterator[str]:
        """The files that a definition may reach, with what is compiled for it."""
        for one in self.gates.world.definitions.may_lead(node):
            yield one.outline.path
            for start in self.gates.world.native.sources_of(one.outline.path, one.definition.qualname):
                yield from CompiledSources(self.gates.world, self.gates.chip).files(start)

    def behind(self, place: GatePlace, users: Iterable[Node] = ()) -> OpenWay:
        """The way through one gate, to what its working side reaches, and what `users` of the definition around do:
        where an argument decides whether it is met, the chip comes there today."""
        judged = self.gates.gate(place)
        asked = (node for test in (judged.gate.path if judged is not None else ()) for node in walk(test))
        behind = users if all(node.op not in ("param", "var") for node in asked) else ()
        way = self._looked_behind(OpenWay("in some uses", {place: None}))
        told = (*self.reasons.asked_around(judged), *self.reasons.told_at(judged)) if judged is not None else ()
        told = (*told, *self.beyond.lacking(judged)) if judged is not None and not (told or way.arms) else told
        for find in (told, self.reasons.further(way.gates, behind), self.reasons.alone(way.gates, behind)):
            way.may_end_in(find)
        return way

    def _refused(self, entry: RowEntry, ruling: Ruling) -> OpenWay:
        way = OpenWay(f'with "{entry.backend.name}"' if entry.backend else "as it is")
        for place in ruling.refused[self.gates.chip]:
            if place.need:
                way.lacks[place] = Lacking(place, place.need, ChipSet.of())
            else:
                self._meets(way, place)
        nodes = list(self._run(entry, ruling))
        own = list(self._named(nodes, entry.backend.name)) if entry.backend is not None else nodes
        for node in nodes:
            self._add(way, self.gates.world.graph.proofs(node), tells=entry.backend is None)
        for node in own if entry.backend is not None else ():
            self._add(way, self.gates.world.graph.proofs(node), tells=True)
        self._looked_behind(way)
        for node in nodes:
            self.choose(way, node)
        name = entry.backend.name if entry.backend is not None else ""
        backends = [node for node in own if name and not self._chooses(node, name)]
        is_only = entry.backend is None or entry.site is None or len(entry.site.offer.choices) == 1
        asked = map(self.gates.gate, dict.fromkeys((*ruling.refused[self.gates.chip], *way.gates)))
        met = [judged for judged in asked if judged is not None and not judged.gate.is_a("flag")]
        for find in (
            self.reasons.compiled(own),
            self.reasons.loosely(backends),
            self.reasons.named_by_class(entry),
            self.reasons.by_name(entry),
            (lacking for judged in (() if way.arms else met) for lacking in self.beyond.lacking(judged)),
            (lacking for judged in met for lacking in self.reasons.told_at(judged)),
            self.reasons.named_for_others(entry, backends),
            self.reasons.further(way.gates, () if way.arms else nodes if is_only else backends),
            self.reasons.alone(way.gates, own),
        ):
            way.may_end_in(find)
        return way

    def choose(self, way: OpenWay, node: Node) -> None:
        """Choices in a function that send the chip to what it lacks: gates, where the tree has for its family what is
        called like that; else it ends there, if no argument decides whether the choice is made."""
        closed = self.reasons.closed_in(node)
        for judged in self.gates.judged(node.outline.path) if node.definition.kind != "class" else ():
            place = GatePlace(judged.module.path, judged.at)
            is_met = node.definition.at.holds(judged.gate.at) and not any(away.holds(judged.gate.at) for away in closed)
            side = taken(judged, self.gates.chip, node.definition) if is_met else None
            behind = self._lacking_on(judged.module, side, closed) if side is not None else ()
            lacks = {one.place: one for one in behind}
            if side is None or not lacks or place in way.arms:
                continue
            instead = self.reasons.family.instead(self._heritage(judged.module, side))
            if instead is not None and not self._lacks(*instead):
                way.gates.setdefault(place, self.gates.chip not in judged.core)
                way.arms[place] = instead[1]
                sides = (judged.gate.yes, judged.gate.no)
                gone = (*lacks, *(one.place for each in sides for one in self._lacking_on(judged.module, each)))
                found = {(one.path, one.at) for one in gone}
                way.lacks = {at: one for at, one in way.lacks.items() if (at.path, at.at) not in found}
            elif self._is_surely_made(judged):
                way.lacks |= lacks

    def _lacking_on(self, module: Module, side: Side, closed: Sequence[Span] = ()) -> Iterator[Lacking]:
        for need in self.reasons.lacking(module, side):
            if not any(away.holds(need.use.at) for away in closed):
                yield Lacking(_place(module, need), need.what, need.legal)

    def _heritage(self, module: Module, side: Side) -> Iterator[Node]:
        for use in side.uses:
            node = self.gates.world.definitions.definition(module, use)
            yield from (node, *self.gates.world.definitions.heritage(node)) if node is not None else ()

    def _lacks(self, module: str, name: str) -> bool:
        node = self.gates.node(module, name)
        own = (node, *self.gates.world.definitions.methods_of(node)) if node is not None else ()
        proofs = (proof for one in own for proof in self.gates.world.graph.proofs(one))
        return node is None or any(one.kind in FINAL and self.gates.chip not in one.legal for one in proofs)

    def _is_surely_made(self, judged: Judged) -> bool:
        function = judged.module.functions.get(judged.gate.qualname)
        returns = function.returns if function is not None else ()
        errors = {negate(path[-1]) for path, value in returns if path and value.op == "raise"}
        return all(test in errors for test in judged.gate.path)

    def _with_arms(self, way: OpenWay, places: Iterable[GatePlace]) -> list[OpenWay]:
        """A way, and where its last gate ends a dispatch in an error, one for each arm before, the newest first: the
        chip may take any that has nothing that it lacks. The last arm is not meant where it is for Hopper alone and an
        arm before it is for what came later."""
        ways = [way]
        for place in places:
            judged = self.gates.gate(place)
            if judged is None or not judged.gate.chain or not refuses(judged.gate.no):
                continue
            before = (arm for arm in reversed(self._chain(judged)) if arm.gate.at != judged.gate.at)
            able = [arm for arm in before if not self.reasons.lacking(arm.module, arm.gate.yes)]
            newer = [arm for arm in able if arm.core & NEWER and not judged.core & NEWER]
            if way.lacks:
                ways += (self._by_arm(arm) for arm in able)
            elif newer and place in way.gates:
                others = {at: side for at, side in way.gates.items() if at != place}
                ways = [replace(one, gates=others | one.gates) for one in map(self._by_arm, newer)]
        return ways

    def _by_arm(self, arm: Judged) -> OpenWay:
        return self._of_arm(plain(arm.core), arm.core, GatePlace(arm.module.path, arm.at))

    def _chain(self, judged: Judged) -> list[Judged]:
        """The tests of an `if` with its `elif`, in their order."""
        own = judged.gate.qualname, judged.gate.chain
        found = self.gates.world.native.refusals.judged(judged.module)
        alike = [one for one in found if (one.gate.qualname, one.gate.chain) == own]
        return sorted(alike, key=lambda one: one.gate.position)

    def _of_arm(self, name: str, chips: ChipSet, place: GatePlace) -> OpenWay:
        judged = self.gates.gate(place)
        yes = judged is not None and chips <= judged.on(judged.gate.yes)
        way = OpenWay(f"case `{name}`", {place: yes})
        if judged is not None:
            self._add_needs(way, judged.module, judged.gate.yes if yes else judged.gate.no)
        return self._looked_behind(way, frozenset({place}))

    def _looked_behind(self, way: OpenWay, done: frozenset[GatePlace] = frozenset()) -> OpenWay:
        """A way with what stands behind each of its gates, and behind those that are found there. Behind an arm, whose
        gate is `done`, nothing is chosen anew."""
        waiting, seen = deque(way.gates), set(done)
        while waiting and len(seen) < MAX_GATES:
            place = waiting.popleft()
            judged = self.gates.gate(place) if place not in seen else None
            guarded = self.gates.guard(place) if judged is None and place not in seen else None
            seen.add(place)
            if guarded is not None:
                self._add_needs(way, guarded[0], guarded[1].yes)
            if judged is not None and place not in way.arms and not judged.gate.is_a("list", "table", "predicate"):
                self._add_needs(way, judged.module, judged.working)
                node = self.gates.world.definitions.around(judged.module, judged.gate.qualname)
                if node is not None and not done:
                    self.choose(way, node)
                waiting.extend(found for found in way.gates if found not in seen)
                way.may_end_in(self.reasons.compiled_in(judged.module, judged.working))
            way.may_end_in(self.reasons.for_others(place))
        return way

    def leads(self, way: OpenWay, judged: Judged, side: Side) -> None:
        """Add what stands on a side of a gate."""
        self._add_needs(way, judged.module, side)
        for lacking in (*self.reasons.asked_around(judged), *self.reasons.compiled_in(judged.module, side)):
            way.lacks.setdefault(lacking.place, lacking)

    # -- what is behind

    def _run(self, entry: RowEntry, ruling: Ruling) -> Iterator[Node]:
        """The definitions that a row surely runs, and where it is declared."""
        yield from entry.bound
        site = entry.site or entry.check
        own = {(site.module, site.offer.name)} if site is not None and not entry.by_arm else set[tuple[str, str]]()
        for module, qualname in sorted(own | ruling.through):
            node = self.gates.node(module, qualname)
            if node is not None:
                yield node

    def _named(self, starts: Iterable[Node], backend: str) -> Iterator[Node]:
        """What runs where code that a row leads to asks for the name of its backend."""
        seen = set[tuple[str, str, int]]()
        for start in starts:
            for node in self.gates.world.definitions.may_lead(start):
                if node.key in seen or node.outline.language != "python":
                    continue
                seen.add(node.key)
                yield from self._in_branches(node, node.definition, backend)

    def _in_branches(self, node: Node, definition: Definition, backend: str) -> Iterator[Node]:
        module = self.gates.module(node.outline.path)
        if module is None:
            return
        bodies = [at for at in self._bodies(module.path, backend) if definition.at.holds(at)]
        for use in definition.uses:
            if use.how == "call" and any(body.holds(use.at) for body in bodies):
                found = self.gates.world.definitions.definition(module, use)
                if found is not None:
                    yield found

    def _chooses(self, node: Node, backend: str) -> bool:
        """Whether a definition asks for the name of a backend itself: not all that it leads to is that one's."""
        return any(node.definition.at.holds(at) for at in self._bodies(node.outline.path, backend))

    def _bodies(self, path: str, text: str) -> tuple[Span, ...]:
        key = (path, text)
        if key not in self._branches:
            self._branches[key] = ()
            source = self.gates.texts.source(path) or ""
            with suppress(ReadError):
                self._branches[key] = tuple(branches(source, text)) if text in source else ()
        return self._branches[key]

    def _add(self, way: OpenWay, proofs: Iterable[NeedProof], *, tells: bool) -> None:
        for proof in proofs:
            hop = proof.hops[-1] if proof.hops else None
            if hop is None:
                continue
            place = GatePlace(hop.path, hop.at)
            if self.gates.chip in proof.legal:
                if tells and proof.kind in _NAMING:
                    way.shown[f"{proof.what} works on {plain(proof.legal)}"] = None
            elif self.gates.chip not in {chip.name for chip in proof.against}:
                continue
            elif proof.kind in FINAL:
                way.lacks.setdefault(place, Lacking(place, proof.what, proof.legal))
            elif proof.kind in _GATES:
                self._meets(way, place, self.reasons.compiled_for(proof))

    def _add_needs(self, way: OpenWay, module: Module, side: Side) -> None:
        for need in self.gates.context.evidence.of(module, side):
            self._add_need(way, _place(module, need), need)

    def _add_need(self, way: OpenWay, place: GatePlace, need: Need) -> None:
        if self.gates.chip in need.legal:
            if need.strength == PROOF and (need.kind in _NAMING or need.kind == "library"):
                way.shown[f"{need.what} works on {plain(need.legal)}"] = None
        elif self.gates.chip not in need.arriving or need.strength != PROOF:
            return
        elif need.kind in _GATES:
            self._meets(way, place, self.reasons.compiled_for(need))
        else:
            way.lacks.setdefault(place, Lacking(place, need.what, need.legal))

    # -- gates

    def _meets(self, way: OpenWay, place: GatePlace, behind: Iterable[Lacking] = ()) -> None:
        way.lacks = {one.place: one for one in behind} | way.lacks
        for found in self._origins(place) if self.gates.asks(place) or not way.gates else ():
            judged = self.gates.gate(found)
            is_list = judged is not None and judged.gate.is_a("list")
            way.gates.setdefault(GatePlace(found.path, judged.at) if judged is not None and is_list else found, None)

    def _origins(self, place: GatePlace, left: int = MAX_HELPERS) -> Iterator[GatePlace]:
        """What refuses the chip at a place: of the call of a helper the tests in that, or in those that it calls; of a
        flag of the file what that is made of; nothing that asks no device."""
        judged = self.gates.gate(place)
        if judged is not None and (judged.gate.is_a(*UNASKED) or self._lets_in(judged)):
            return
        flag = self.gates.flag(judged) if judged is not None else None
        if flag is not None:
            yield GatePlace(flag.module.path, flag.at)
            return
        guarded = self.gates.guard(place) if judged is None else None
        if guarded is not None:
            yield GatePlace(place.path, guarded[1].at)
            return
        is_call = judged is None or judged.gate.is_a("helper-call") or not judged.owns_comparison
        inside = list(self._in_callee(place, left)) if is_call and left else []
        for found in inside:
            yield from self._origins(found, left - 1)
        if not inside:
            yield place

    def _lets_in(self, judged: Judged) -> bool:
        """Whether a helper turns the chip away for its arguments, and not for the device."""
        return judged.gate.is_a("helper-call") and self.gates.chip in judged.admitted

    def _in_callee(self, place: GatePlace, left: int) -> Iterator[GatePlace]:
        """The gates that refuse the chip in what is called at a place: its errors, else the answers that it gives, else
        those of what it surely calls."""
        module = self.gates.module(place.path)
        if module is None or module.language != "python":
            return
        outline = self.gates.world.definitions.outline(module)
        uses = (use for found in outline.definitions.values() for use in found.uses) if outline is not None else ()
        for use in (use for use in uses if use.how == "call" and place.at.holds(use.at)):
            node = self.gates.world.definitions.definition(module, use)
            callee = self.gates.module(node.outline.path) if node is not None else None
            if node is None or callee is None:
                continue
            errors = self.gates.world.native.refusals.errors(callee, node.definition.qualname)
            gates = self.gates.world.definitions.gates(node)
            found = [refusal.at for refusal in errors if self.gates.chip not in refusal.legal]
            found = found or [one.gate.at for one in gates if one.may and self.gates.chip not in one.may]
            yield from (GatePlace(callee.path, at) for at in found)
            for inner in node.definition.uses if left and not found else ():
                if inner.how == "call" and inner.sure:
                    yield from self._in_callee(GatePlace(callee.path, inner.at), left - 1)


def _place(module: Module, need: Need) -> GatePlace:
    """Where a need of a module stands in the end."""
    return GatePlace(need.hops[-1].path, need.hops[-1].at) if need.hops else GatePlace(module.path, need.use.at)
