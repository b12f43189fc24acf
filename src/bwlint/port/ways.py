"""The ways of an operation: on each the gates that keep a chip out, and what stands behind them that it lacks."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.chips.mentions import mentioned
from bwlint.chips.wording import plain
from bwlint.judging.context import Context
from bwlint.matrix.cells import Cells, GatePlace, Ruling
from bwlint.matrix.rows import ANSWERS, RowEntry, span_of
from bwlint.model.expr import Span, negate, walk
from bwlint.model.facts import Module, Side, Use
from bwlint.model.kinds import UNASKED
from bwlint.model.naming import spoken
from bwlint.model.outline import Definition
from bwlint.port.choices import FamilyNames, closed_to, is_run_by_users, taken
from bwlint.port.sources import CompiledSources, Lacking
from bwlint.readers import ReadError
from bwlint.readers.python.branches import branches
from bwlint.run.engine import Linked
from bwlint.sources.texts import Texts
from bwlint.sources.tree import module_name, package_root
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF, Need
from bwlint.world.proofs import Key, NeedProof, Node

_FINAL = frozenset({"operation", "library"})
"""Kinds of proof that no edit of a gate removes; the others are gates themselves."""
_GATES = frozenset({"list", "gate", "build"})
_NAMING = frozenset({"list"})
"""Those in which somebody names the chips that it is for. That no error refuses a chip is no sign that it works, nor
that it is built for: kernels for `arch::Sm100` are compiled for 12.x, too, where a list of flags says so.
"""
NEWER = ChipSet.where(lambda one: one.joined >= 100)
"""What is for Hopper alone is wgmma by custom, and so is no gate to open."""
_ALONE = ChipSet.where(lambda one: one.joined >= 90)
MAX_FURTHER = 300
"""Definitions that are looked at behind the gates of one operation."""
MAX_HELPERS = 5
"""Helpers that ask the next that are looked into."""
MAX_GATES = 60
"""Gates of one way that are looked behind."""


@dataclass(slots=True)
class OpenWay:
    """A way as it is found: gates from the name inwards, each with whether its test has to hold (None: its working side
    is meant).
    """

    name: str
    gates: dict[GatePlace, bool | None] = field(default_factory=dict)
    lacks: dict[GatePlace, Lacking] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    arms: dict[GatePlace, str] = field(default_factory=dict)
    """What the tree has for the family where a choice sends the chip to what it lacks."""


@dataclass(slots=True)
class Ways:
    """Finds the ways of rows for one chip."""

    cells: Cells
    world: Linked
    context: Context
    texts: Texts
    chip: str
    family: FamilyNames
    _branches: dict[tuple[str, str], tuple[Span, ...]] = field(default_factory=dict)

    def of(self, entry: RowEntry, ruling: Ruling) -> list[OpenWay]:
        """The ways of a row that the chip is refused, or that falls back for it."""
        if self.chip in ruling.refused:
            return self._with_arms(self._refused(entry, ruling), ruling.refused[self.chip])
        arms = {name: found for name, found in ruling.arms.items() if self.chip not in found[0]}
        return [self._of_arm(name, chips, place) for name, (chips, place) in arms.items()]

    def site(self, entry: RowEntry) -> Node | None:
        """The definition of an operation."""
        return self._node(entry.site.module, entry.site.offer.name) if entry.site is not None else None

    def files_of(self, node: Node) -> Iterator[str]:
        """The files that a definition may come to, with what is compiled for it."""
        for one in self.world.definitions.may_lead(node):
            yield one.outline.path
            for start in self.world.native.sources_of(one.outline.path, one.definition.qualname):
                yield from CompiledSources(self.world, self.chip).files(start)

    def named_for(self, node: Node) -> ChipSet:
        """The chips, none of the family, after which a definition or its file is called: it is theirs alone. Kernels
        that are called after an older chip than these run on what came later, too.
        """
        return self.others_named(f"{os.path.basename(node.outline.path)} {node.definition.qualname}")

    def others_named(self, words: str) -> ChipSet:
        """The chips of 9.0 and later that words name, where they name none of the family."""
        said = mentioned(spoken(words)).named
        family = siblings(chip(self.chip)) | ChipSet.of(self.chip)
        return said & _ALONE if not said & family else ChipSet.of()

    def behind(self, place: GatePlace) -> OpenWay:
        """The way through one gate, to what its working side comes to."""
        judged = self.gate(place)
        way = self._looked_behind(OpenWay("in some uses", {place: None}))
        for lacking in self._asked_around(judged) if judged is not None else ():
            way.lacks.setdefault(lacking.place, lacking)
        return way

    def _asked_around(self, judged: Judged) -> Iterator[Lacking]:
        """What the texts stand for that the tests around a gate ask for, and the constants that its side names:
        `if backend == "trtllm_mla":`, `return Backend.FLASHINFER_TRTLLM`.
        """
        for node in (node for test in judged.gate.path for node in walk(test) if node.op == "cmp"):
            parts = list(walk(node))
            role = " ".join(arg for one in parts if one.op != "const" for arg in one.args if isinstance(arg, str))
            texts = (one.args[0] for one in parts if one.op == "const" and isinstance(one.args[0], str))
            yield from self._in_table(
                judged.module.path, (Use(text, "text", node.at or judged.at, role=role) for text in texts)
            )
        names = ((use, use.name.rpartition(".")[2]) for use in judged.working.uses if not judged.working.rest)
        constants = (Use(name.lower(), "text", use.at, role=use.name) for use, name in names if name.isupper())
        yield from self._in_table(judged.module.path, constants)

    def _in_table(self, path: str, uses: Iterable[Use]) -> Iterator[Lacking]:
        for use in uses:
            need = self.context.evidence.libraries.need(path, use)
            if need is not None and self.chip not in need.legal:
                yield Lacking(GatePlace(path, use.at), need.what, need.legal)

    def told_in(self, module: Module, qualname: str) -> Iterator[Lacking]:
        """What the texts and names stand for in a function that answers a question, and in those that it asks."""
        start = self._node(module.name, qualname)
        for node in self.world.definitions.may_lead(start) if start is not None else ():
            uses = node.definition.uses
            looked_for = (replace(use, how="call") for use in uses if use.how == "text" and use.name.isidentifier())
            yield from self._in_table(node.outline.path, (*uses, *looked_for))

    def lacking(self, module: Module, side: Side) -> list[Need]:
        """What a side surely comes to that the chip lacks."""
        needs = self.context.evidence.of(module, side)
        return [need for need in needs if self._is_final(need) and self.chip not in need.legal]

    def _is_final(self, need: Need) -> bool:
        return need.strength == PROOF and need.kind in _FINAL

    def _refused(self, entry: RowEntry, ruling: Ruling) -> OpenWay:
        way = OpenWay(f'with "{entry.backend.name}"' if entry.backend else "as it is")
        for place in ruling.refused[self.chip]:
            if place.need:
                way.lacks[place] = Lacking(place, place.need, ChipSet.of())
            else:
                self._meets(way, place)
        nodes = list(self._run(entry, ruling))
        own = list(self._named(nodes, entry.backend.name)) if entry.backend is not None else nodes
        for node in nodes:
            self._add(way, self.world.graph.proofs(node), tells=entry.backend is None)
        for node in own if entry.backend is not None else ():
            self._add(way, self.world.graph.proofs(node), tells=True)
        self._looked_behind(way)
        for node in nodes:
            self.choose(way, node)
        name = entry.backend.name if entry.backend is not None else ""
        backends = [node for node in own if name and not self._chooses(node, name)]
        named = self._named_for_others(entry, backends)
        is_only = entry.backend is None or entry.site is None or len(entry.site.offer.choices) == 1
        of_class = self._named_by_class(entry)
        reason = self._reasons(way, nodes if is_only else backends)
        for find in (self._compiled(own), self._loosely(backends), of_class, self._by_name(entry), named, reason):
            for lacking in find if not way.lacks else ():
                way.lacks.setdefault(lacking.place, lacking)
        return way

    def choose(self, way: OpenWay, node: Node) -> None:
        """Choices in a function that send the chip to what it lacks: gates, where the tree has for its family what is
        called like that; else it ends there, if no argument decides whether the choice is made.
        """
        for judged in self.judged(node.outline.path) if node.definition.kind != "class" else ():
            place = GatePlace(judged.module.path, judged.at)
            side = taken(judged, self.chip, node.definition) if node.definition.at.holds(judged.gate.at) else None
            lacks = {one.place: one for one in self._lacking_on(judged.module, side)} if side is not None else {}
            if side is None or not lacks or place in way.arms:
                continue
            instead = self.family.instead(self._heritage(judged.module, side))
            if instead is not None and not self._lacks(*instead):
                way.gates.setdefault(place, self.chip not in judged.core)
                way.arms[place] = instead[1]
                sides = (judged.gate.yes, judged.gate.no)
                behind = (*lacks, *(one.place for each in sides for one in self._lacking_on(judged.module, each)))
                found = {(gone.path, gone.at) for gone in behind}
                way.lacks = {at: one for at, one in way.lacks.items() if (at.path, at.at) not in found}
            elif self._is_surely_made(judged):
                way.lacks |= lacks

    def _lacking_on(self, module: Module, side: Side) -> Iterator[Lacking]:
        for need in self.lacking(module, side):
            path, at = (need.hops[-1].path, need.hops[-1].at) if need.hops else (module.path, need.use.at)
            yield Lacking(GatePlace(path, at), need.what, need.legal)

    def _heritage(self, module: Module, side: Side) -> Iterator[Node]:
        for use in side.uses:
            node = self.world.definitions.definition(module, use)
            yield from (node, *self.world.definitions.heritage(node)) if node is not None else ()

    def _lacks(self, module: str, name: str) -> bool:
        node = self._node(module, name)
        own = (node, *self.world.definitions.methods_of(node)) if node is not None else ()
        proofs = (proof for one in own for proof in self.world.graph.proofs(one))
        return node is None or any(one.kind in _FINAL and self.chip not in one.legal for one in proofs)

    def _is_surely_made(self, judged: Judged) -> bool:
        function = judged.module.functions.get(judged.gate.qualname)
        returns = function.returns if function is not None else ()
        errors = {negate(path[-1]) for path, value in returns if path and value.op == "raise"}
        return all(test in errors for test in judged.gate.path)

    def _with_arms(self, way: OpenWay, places: Iterable[GatePlace]) -> list[OpenWay]:
        """A way, and where its last gate ends a dispatch in an error, one for each arm before, the newest first: the
        chip may take any that has nothing that it lacks. The last arm is not meant where it is for Hopper alone and an
        arm before it is for what came later.
        """
        ways = [way]
        for place in places:
            judged = self.gate(place)
            if judged is None or not judged.gate.chain or not refuses(judged.gate.no):
                continue
            before = (arm for arm in reversed(self._chain(judged)) if arm.gate.at != judged.gate.at)
            able = [arm for arm in before if not self.lacking(arm.module, arm.gate.yes)]
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
        found = self.world.native.refusals.judged(judged.module)
        alike = [one for one in found if (one.gate.qualname, one.gate.chain) == own]
        return sorted(alike, key=lambda one: one.gate.position)

    def _of_arm(self, name: str, chips: ChipSet, place: GatePlace) -> OpenWay:
        judged = self.gate(place)
        yes = judged is not None and chips <= judged.on(judged.gate.yes)
        way = OpenWay(f"the arm `{name}`", {place: yes})
        if judged is not None:
            self._add_needs(way, judged.module, judged.gate.yes if yes else judged.gate.no)
        return self._looked_behind(way, frozenset({place}))

    def _looked_behind(self, way: OpenWay, done: frozenset[GatePlace] = frozenset()) -> OpenWay:
        """A way with what stands behind each of its gates, and behind those that are found there. Behind an arm, whose
        gate is `done`, nothing is chosen anew.
        """
        waiting, seen = deque(way.gates), set(done)
        while waiting and len(seen) < MAX_GATES:
            place = waiting.popleft()
            judged = self.gate(place) if place not in seen else None
            seen.add(place)
            if judged is not None and place not in way.arms and not judged.gate.is_a("list", "table", "predicate"):
                self._add_needs(way, judged.module, judged.working)
                node = self.world.definitions.around(judged.module, judged.gate.qualname)
                if node is not None and not done:
                    self.choose(way, node)
                waiting.extend(found for found in way.gates if found not in seen)
                for lacking in self._compiled_in(judged.module, judged.working) if not way.lacks else ():
                    way.lacks.setdefault(lacking.place, lacking)
        return way

    def leads(self, way: OpenWay, judged: Judged, side: Side) -> None:
        """Add what stands on a side of a gate."""
        self._add_needs(way, judged.module, side)
        for lacking in (*self._asked_around(judged), *self._compiled_in(judged.module, side)):
            way.lacks.setdefault(lacking.place, lacking)

    def _compiled_in(self, module: Module, side: Side) -> Iterator[Lacking]:
        """What is compiled behind a branch."""
        nodes = (self.world.definitions.definition(module, use) for use in (side.uses if not side.rest else ()))
        return self._compiled(node for node in nodes if node is not None)

    # -- what is behind

    def _run(self, entry: RowEntry, ruling: Ruling) -> Iterator[Node]:
        """The definitions that a row surely runs, and where it is declared."""
        site = entry.site or entry.check
        own = {(site.module, site.offer.name)} if site is not None else set[tuple[str, str]]()
        for module, qualname in sorted(own | ruling.through):
            node = self._node(module, qualname)
            if node is not None:
                yield node

    def _node(self, module: str, qualname: str) -> Node | None:
        outline = self.world.outlines.named(module)
        found = outline.definitions.get(qualname) if outline is not None else None
        return Node(outline, found) if outline is not None and found is not None else None

    def _named(self, starts: Iterable[Node], backend: str) -> Iterator[Node]:
        """What runs where code that a row leads to asks for the name of its backend."""
        seen = set[tuple[str, str, int]]()
        for start in starts:
            for node in self.world.definitions.may_lead(start):
                if node.key in seen or node.outline.language != "python":
                    continue
                seen.add(node.key)
                yield from self._in_branches(node, node.definition, backend)

    def _in_branches(self, node: Node, definition: Definition, backend: str) -> Iterator[Node]:
        module = self.world.tree.module(node.outline.name)
        if module is None or module.path != node.outline.path:
            return
        bodies = [at for at in self._bodies(module.path, backend) if definition.at.holds(at)]
        for use in definition.uses:
            if use.how == "call" and any(body.holds(use.at) for body in bodies):
                found = self.world.definitions.definition(module, use)
                if found is not None:
                    yield found

    def _chooses(self, node: Node, backend: str) -> bool:
        """Whether a definition asks for the name of a backend itself: not all that it leads to is that one's."""
        return any(node.definition.at.holds(at) for at in self._bodies(node.outline.path, backend))

    def _bodies(self, path: str, text: str) -> tuple[Span, ...]:
        key = (path, text)
        if key not in self._branches:
            source = self.texts.source(path) or ""
            try:
                self._branches[key] = tuple(branches(source, text)) if text in source else ()
            except ReadError:
                self._branches[key] = ()
        return self._branches[key]

    def _add(self, way: OpenWay, proofs: Iterable[NeedProof], *, tells: bool) -> None:
        for proof in proofs:
            hop = proof.hops[-1] if proof.hops else None
            if hop is None:
                continue
            place = GatePlace(hop.path, hop.at)
            if self.chip in proof.legal:
                if tells and proof.kind in _NAMING:
                    way.shown[f"{proof.what} works on {plain(proof.legal)}"] = None
            elif self.chip not in {chip.name for chip in proof.against}:
                continue
            elif proof.kind in _FINAL:
                way.lacks.setdefault(place, Lacking(place, proof.what, proof.legal))
            elif proof.kind in _GATES:
                self._meets(way, place)

    def _add_needs(self, way: OpenWay, module: Module, side: Side) -> None:
        for need in self.context.evidence.of(module, side):
            self._add_need(way, module, need)

    def _add_need(self, way: OpenWay, module: Module, need: Need) -> None:
        path, at = (need.hops[-1].path, need.hops[-1].at) if need.hops else (module.path, need.use.at)
        place = GatePlace(path, at)
        if self.chip in need.legal:
            if need.strength == PROOF and (need.kind in _NAMING or need.kind == "library"):
                way.shown[f"{need.what} works on {plain(need.legal)}"] = None
        elif self.chip not in need.arriving or need.strength != PROOF:
            return
        elif need.kind in _GATES:
            self._meets(way, place)
        else:
            way.lacks.setdefault(place, Lacking(place, need.what, need.legal))

    def _by_name(self, entry: RowEntry) -> Iterator[Lacking]:
        """What the table of libraries says of the name of a backend, and of that of what stands for it: it decides
        where nothing in the tree does.
        """
        site, at = entry.check or entry.site, span_of(entry)
        if site is None or at is None:
            return
        known = self.context.evidence.libraries
        backend = entry.backend.name if entry.backend is not None else ""
        role = f"{entry.name}.{entry.parameter or 'backend'}"
        texts = (Use(backend, how, at, role=role) for how in ("text", "name")) if backend else ()
        needs = [known.need(site.path, use) for use in texts]
        if not backend:
            needs.append(known.by_name(site.path, (entry.name,), at))
        for need in needs:
            if need is not None and self.chip not in need.legal:
                yield Lacking(GatePlace(site.path, at), need.what, need.legal)

    def _loosely(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """What the code of a backend names that the chip lacks, whether a way surely comes there or not."""
        for node in {one.key: one for start in nodes for one in self.world.definitions.may_lead(start)}.values():
            module = self.module(node.outline.path)
            if module is not None and module.language == "python":
                yield from self._lacking_of(module, [node.definition])

    def _reasons(self, way: OpenWay, starts: Iterable[Node]) -> Iterator[Lacking]:
        """What the chip lacks further on, whether a way surely comes there or not, where a gate of the way lets in none
        but chips that have it: the gate is there for it. Nothing where something further on works on the chip, too, or
        a choice has an arm for the family.
        """
        nodes = list(self._further(starts if not way.arms else ()))
        named = [found for node in nodes for found in self._final_in(node)]
        if any(self.chip in lacking.legal for lacking in named) or any(map(self.family.is_made_for, nodes)):
            return
        admitted = [judged.admitted for judged in map(self.gate, way.gates) if judged is not None and judged.admitted]
        for lacking in (*named, *self._compiled_by(nodes)):
            if any(chips <= lacking.legal for chips in admitted):
                yield lacking

    def _further(self, starts: Iterable[Node]) -> Iterator[Node]:
        """Definitions and what they may run where the chip comes, nearest first; of classes what their users call."""
        seen, waiting = set[Key](), deque(starts)
        while waiting and len(seen) < MAX_FURTHER:
            node = waiting.popleft()
            if node.key in seen:
                continue
            seen.add(node.key)
            yield node
            closed = self._closed_in(node)
            calls = self.world.definitions.calls(node)
            methods = self.world.definitions.methods_of(node)
            waiting.extend(one for one in methods if is_run_by_users(one.definition.qualname))
            waiting.extend(after for at, after in calls if not any(side.holds(at) for side in closed))

    def _closed_in(self, node: Node) -> list[Span]:
        """The branches of a definition that the chip does not take."""
        known = self.judged(node.outline.path) if node.definition.kind != "class" else ()
        within = (one for one in known if node.definition.at.holds(one.gate.at) and not one.in_test)
        return [at for judged in within for at in closed_to(judged, self.chip)]

    def _final_in(self, node: Node) -> Iterator[Lacking]:
        """What a definition in Python names that not every chip has, where the chip comes."""
        module = self.module(node.outline.path)
        if module is None or module.language != "python":
            return
        closed = self._closed_in(node)
        for use in (use for use in node.definition.uses if use.is_a("call", "import")):
            need = self._named_by(module, use)
            proves = need is not None and (need.strength == PROOF or self.chip in need.legal)
            if need is not None and proves and not any(side.holds(use.at) for side in closed):
                yield Lacking(GatePlace(module.path, use.at), need.what, need.legal)

    def _named_by(self, module: Module, use: Use) -> Need | None:
        """What stands behind a name that is called or imported, where no edit of a gate removes it."""
        evidence = self.context.evidence
        need = evidence.of_use(module, use) if use.how == "call" else evidence.of_object(module, use)
        return need if need is not None and need.kind in _FINAL else None

    def _named_for_others(self, entry: RowEntry, backends: Sequence[Node]) -> Iterator[Lacking]:
        """An operation, or what the code of a backend comes to, that is called after other chips."""
        site = self.site(entry) if entry.backend is None else None
        nodes = [one for start in backends for one in self.world.definitions.may_lead(start)]
        for node in nodes if site is None else [site]:
            chips = self.named_for(node)
            if chips:
                place = GatePlace(node.outline.path, node.definition.at)
                yield Lacking(place, f"what is called after other chips (`{node.definition.qualname}`)", chips)

    def _named_by_class(self, entry: RowEntry) -> Iterator[Lacking]:
        """The same in the file of a class that says where it works, whoever calls it there."""
        site = entry.check or entry.site
        answers = site is not None and any(map(ANSWERS.fullmatch, site.offer.methods))
        module = self.module(site.path) if site is not None and answers else None
        outline = self.world.definitions.outline(module) if module is not None else None
        if module is not None and outline is not None:
            yield from self._lacking_of(module, outline.definitions.values())

    def _lacking_of(self, module: Module, definitions: Iterable[Definition]) -> list[Lacking]:
        """What definitions of a file name that the chip lacks; nothing where one names what works on the chip, too."""
        found = []
        for use in (use for one in definitions for use in one.uses if use.is_a("call", "import")):
            need = self._named_by(module, use)
            if need is None:
                continue
            if self.chip in need.legal:
                return []
            found.append(Lacking(GatePlace(module.path, use.at), need.what, need.legal))
        return found

    def _compiled(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """Instructions that the chip lacks in what is handed to a compiler further on, whether a way surely comes there
        or not: where nobody knows, no edit is proposed in front of them.
        """
        yield from self._compiled_by(one for start in nodes for one in self.world.definitions.may_lead(start))

    def _compiled_by(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """The same in what definitions hand to a compiler themselves."""
        handed = (self.world.native.sources_of(one.outline.path, one.definition.qualname) for one in nodes)
        for path in dict.fromkeys(path for paths in handed for path in paths):
            yield from CompiledSources(self.world, self.chip).lacking(path)

    # -- gates

    def _meets(self, way: OpenWay, place: GatePlace) -> None:
        for found in self._origins(place):
            judged = self.gate(found)
            is_list = judged is not None and judged.gate.is_a("list")
            way.gates.setdefault(GatePlace(found.path, judged.at) if judged is not None and is_list else found, None)

    def _origins(self, place: GatePlace, left: int = MAX_HELPERS) -> Iterator[GatePlace]:
        """What refuses the chip at a place: of the call of a helper the tests in that, or in those that it calls;
        nothing that asks no device.
        """
        judged = self.gate(place)
        if judged is not None and (judged.gate.is_a(*UNASKED) or self._lets_in(judged)):
            return
        is_call = judged is None or judged.gate.is_a("helper-call") or not judged.owns_comparison
        inside = list(self._in_callee(place, left)) if is_call and left else []
        for found in inside:
            yield from self._origins(found, left - 1)
        if not inside:
            yield place

    def _lets_in(self, judged: Judged) -> bool:
        """Whether a helper turns the chip away for its arguments, and not for the device."""
        return judged.gate.is_a("helper-call") and self.chip in judged.admitted

    def _in_callee(self, place: GatePlace, left: int) -> Iterator[GatePlace]:
        """The gates that refuse the chip in what is called at a place: its errors, else the answers that it gives, else
        those of what it surely calls.
        """
        module = self.module(place.path)
        outline = self.world.definitions.outline(module) if module is not None and module.language == "python" else None
        uses = (use for found in outline.definitions.values() for use in found.uses) if outline is not None else ()
        for use in (use for use in uses if use.how == "call" and place.at.holds(use.at)):
            node = self.world.definitions.definition(module, use) if module is not None else None
            callee = self.module(node.outline.path) if node is not None else None
            if node is None or callee is None:
                continue
            errors = self.world.native.refusals.errors(callee, node.definition.qualname)
            gates = self.world.definitions.gates(node)
            found = [refusal.at for refusal in errors if self.chip not in refusal.legal]
            found = found or [one.gate.at for one in gates if one.may and self.chip not in one.may]
            yield from (GatePlace(callee.path, at) for at in found)
            for inner in node.definition.uses if left and not found else ():
                if inner.how == "call" and inner.sure:
                    yield from self._in_callee(GatePlace(callee.path, inner.at), left - 1)

    def gate(self, place: GatePlace) -> Judged | None:
        """The gate at a place: the one that stands there, else the smallest around it, else the first in it."""
        found = [one for one in self.judged(place.path) if one.gate.at == place.at or one.at == place.at]
        if found:
            return found[0]
        around = [one for one in self.judged(place.path) if one.gate.at.holds(place.at)]
        if around:
            return min(around, key=lambda one: (one.gate.at[2] - one.gate.at[0], one.gate.at[3] - one.gate.at[1]))
        return next((one for one in self.judged(place.path) if place.at.holds(one.gate.at)), None)

    def judged(self, path: str) -> Iterable[Judged]:
        """The gates of a file that read the device."""
        if path in self.context.judged:
            return self.context.judged[path]
        module = self.module(path)
        return self.world.native.refusals.judged(module) if module is not None else ()

    def module(self, path: str) -> Module | None:
        """The facts of a file that the run has read or looked into."""
        if path.endswith(".py"):
            return self.world.tree.at(path, module_name(path, package_root(path)))
        return self.world.tree.headers.at(path)
