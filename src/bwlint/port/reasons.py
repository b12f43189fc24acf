"""Why opening a gate does not help: the code behind it lacks a kernel, an instruction or a build."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bwlint.chips import ChipSet, group
from bwlint.chips.mentions import mentioned
from bwlint.fix.meant import comments, said_to_fail
from bwlint.matrix.cells import GatePlace
from bwlint.matrix.rows import ANSWERS, RowEntry, span_of
from bwlint.model.expr import Span, is_text, walk
from bwlint.model.facts import Module, Side, Use
from bwlint.model.naming import spoken
from bwlint.model.outline import Definition
from bwlint.port.choices import FamilyNames, closed_to, is_run_by_users
from bwlint.port.gates import PortGates
from bwlint.port.sources import CompiledSources, Lacking
from bwlint.world.gates import Judged, refuses
from bwlint.world.libraries import PROOF, Need
from bwlint.world.proofs import Key, NeedProof, Node

FINAL = frozenset({"operation", "library"})
"""Kinds of proof that no edit of a gate removes; the others are gates themselves."""
ALONE = ChipSet.where(lambda one: one.joined >= 90)
ALIKE = ChipSet.where(lambda one: one.generation.startswith("Blackwell"))
"""What is for Hopper or Rubin alone is no gate to open: it is wgmma by custom, or what came later."""
_DOCSTRING = re.compile(r"\s*(?:'{3}|\"{3})(.*?)(?:'{3}|\"{3})", re.DOTALL)
MAX_DOCSTRING = 40
"""Lines of a docstring that are read."""
MAX_FURTHER = 300
"""Definitions that are looked at behind the gates of one operation."""


@dataclass(slots=True)
class OpenWay:
    """A way as it is found: gates from the name inwards, each with whether its test has to hold (None: its working side
    is meant)."""

    name: str
    gates: dict[GatePlace, bool | None] = field(default_factory=dict)
    lacks: dict[GatePlace, Lacking] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    arms: dict[GatePlace, str] = field(default_factory=dict)
    """What the tree has for the family where a choice sends the chip to what it lacks."""

    def may_end_in(self, found: Iterable[Lacking]) -> None:
        """The way ends in what is found, if it has no end yet."""
        for lacking in found if not self.lacks else ():
            self.lacks.setdefault(lacking.place, lacking)


@dataclass(slots=True)
class Reasons:
    """Finds them for one chip."""

    gates: PortGates
    family: FamilyNames

    def named_for(self, node: Node) -> ChipSet:
        """The chips, none of the family, after which a definition or its file is called: it is theirs alone. Kernels
        that are called after an older chip than these run on what came later, too."""
        return self.others_named(f"{os.path.basename(node.outline.path)} {node.definition.qualname}")

    def others_named(self, words: str) -> ChipSet:
        """The chips of 9.0 and later that words name, where they name none of the family."""
        said = mentioned(spoken(words)).named
        return said & ALONE if not said & self.gates.family else ChipSet.of()

    def lacking(self, module: Module, side: Side) -> list[Need]:
        """What a side surely reaches that the chip lacks."""
        needs = (need for need in self.gates.context.evidence.of(module, side) if need.strength == PROOF)
        return [need for need in needs if need.kind in FINAL and self.gates.chip not in need.legal]

    def alone(self, gates: Iterable[GatePlace], starts: Iterable[Node]) -> Iterator[Lacking]:
        """What stands behind gates that turn Blackwell away and let in Hopper or Rubin alone; nothing where sources
        that a function compiles further on can be read: they would show it, nor where a library is used that had it for
        these alone."""
        nodes = list(self._further(one for one in starts if one.definition.kind == "function"))
        if self._compiles(nodes) or any(map(self._is_outgrown, nodes)):
            return
        for place, judged in ((place, self.gates.gate(place)) for place in gates):
            asked = place if judged is None else GatePlace(judged.module.path, judged.at)
            chips = judged.admitted if judged is not None else self.gates.let_in(place)
            if chips and chips <= ALONE - ALIKE and (judged is None or judged.sets.live & ALIKE):
                generations = " or ".join(sorted({one.generation for one in chips}))
                yield Lacking(asked, f"code for {generations} alone", chips, by_check=True)

    def _is_outgrown(self, node: Node) -> bool:
        libraries = self.gates.context.evidence.libraries
        return any(one.how == "call" and libraries.is_outgrown(node.outline.path, one) for one in node.definition.uses)

    def for_others(self, place: GatePlace) -> Iterator[Lacking]:
        """Of C++, what the branch of a gate calls that is called after other chips; of an error that no test guards,
        what all branches in front of it do."""
        judged = self.gates.gate(place)
        path = place.path
        if path.endswith(".py"):
            return
        outline = self.gates.world.native.outline(path)
        around = [one for one in outline.definitions.values() if one.at.holds(place.at)] if outline is not None else []
        within = [one for one in self.gates.judged(path) if any(each.at.holds(one.gate.at) for each in around)]
        ended = [one for one in within if one.gate.yes.ends == "return" and one.gate.at.line < place.at.line]
        arms = self._refusing_arms(judged) if judged is not None and judged.working.rest else []
        before = arms or self.gates.before(place) or ([judged] if judged is not None else ended)
        named = [list(self._called_after(one)) for one in before]
        if named and all(named):
            uses = [use for each in (named if before is arms or before is ended else named[:1]) for use in each]
            chips = ChipSet.of(*(name for use in uses for name in self.others_named(use.name).names))
            yield Lacking(GatePlace(path, uses[0].at), f"code named for other chips (`{uses[0].name}`)", chips)

    def _refusing_arms(self, judged: Judged) -> list[Judged]:
        """The arms of a dispatch further down in the function of a check that ends in an error for the chip, too."""
        chains = defaultdict[int, list[Judged]](list)
        for one in self.gates.judged(judged.module.path):
            if one.gate.chain and one.gate.qualname == judged.gate.qualname and one.gate.at > judged.gate.at:
                chains[one.gate.chain].append(one)
        for arms in chains.values():
            last = max(arms, key=lambda one: one.gate.position)
            if refuses(last.gate.no) and not any(self.gates.chip in one.core for one in arms):
                return arms
        return []

    def _called_after(self, judged: Judged) -> Iterator[Use]:
        """The calls on the working side of a gate that are called after 10.x, or after the chips alone that it lets in:
        what is called after Hopper is often for all that came later."""
        for use in judged.working.uses if not judged.working.rest else ():
            chips = self.others_named(use.name) if use.how == "call" else ChipSet.of()
            if chips & ALIKE or is_there_for(judged, chips):
                yield use

    def end_alike(self, found: Sequence[tuple[RowEntry, Sequence[OpenWay]]]) -> None:
        """Give ways the end of others through a gate that stands in the file of an operation which ends there, where it
        lets in none but chips that have what stands there: what is behind it without an end of its own, such as the
        size of a workspace, is there for that, too."""
        ends = dict[GatePlace, Lacking]()
        for entry, ways in found:
            site = entry.site or entry.check
            for way, place in ((one, place) for one in ways for place in one.gates):
                lacking = self._reason_of(way, place)
                if lacking is not None and site is not None and place.path == site.path:
                    ends.setdefault(place, lacking)
        for entry, ways in found:
            for way in (way for way in ways if way.gates.keys() & ends and not (way.lacks or way.shown or way.arms)):
                if not self._has_own_end(entry):
                    way.lacks |= {ends[place].place: ends[place] for place in way.gates if place in ends}

    def _has_own_end(self, entry: RowEntry) -> bool:
        """Whether an operation reaches something that works on the chip, or compiles something."""
        site = self.gates.site(entry)
        nodes = list(self._further([site] if site is not None else ()))
        named = (found for node in nodes for found in self._final_in(node))
        works = any(self.gates.chip in one.legal for one in named) or any(map(self.family.is_made_for, nodes))
        return works or self._compiles(nodes)

    def _compiles(self, nodes: Iterable[Node]) -> bool:
        return any(self.gates.world.native.sources_of(one.outline.path, one.definition.qualname) for one in nodes)

    def _reason_of(self, way: OpenWay, place: GatePlace) -> Lacking | None:
        """What a gate of a way is there for among what stands at its end."""
        judged = self.gates.gate(place)
        reasons = (one for one in way.lacks.values() if judged is not None and is_there_for(judged, one.legal))
        return next(reasons, None)

    def told_at(self, judged: Judged) -> Iterator[Lacking]:
        """What the names around a gate say that stands behind it, where it lets in none but chips that have that."""
        owner = self.gates.node(judged.module.name, judged.gate.qualname.rpartition(".")[0])
        line = (owner, *self.gates.world.definitions.heritage(owner)) if owner else ()
        names = (*judged.gate.qualname.split("."), *(one.definition.qualname for one in line))
        need = self.named(judged.module.path, names, judged.at)
        if need is not None and self.gates.chip not in need.legal and is_there_for(judged, need.legal):
            yield Lacking(GatePlace(judged.module.path, judged.at), need.what, need.legal)
        around = self.gates.world.definitions.around(judged.module, judged.gate.qualname)
        if around is not None and around.definition.kind == "class":
            yield from self.of_class(judged.module, [around])
        if said_to_fail(self._said_around(judged, owner), self.gates.family):
            what = "code that a comment says fails there"
            yield Lacking(GatePlace(judged.module.path, judged.at), what, judged.admitted)

    def _said_around(self, judged: Judged, owner: Node | None) -> str:
        """The comments of a gate, and the docstring of the class that it stands in."""
        source = self.gates.texts.source(judged.module.path) or ""
        start = owner.definition.at.line if owner is not None else judged.at.line
        head = " ".join(source.splitlines()[start : judged.at.line - 1][:MAX_DOCSTRING])
        doc = _DOCSTRING.match(head)
        return f"{judged.gate.comment} {comments(source, judged.at)} {doc[1] if doc else ''}"

    def named(self, path: str, names: Iterable[str], at: Span) -> Need | None:
        """What the table of libraries says of names: as they are, and of their words apart."""
        words = ((name, spoken(name), spoken(name).title()) for name in names)
        return self.gates.context.evidence.libraries.by_name(path, (form for forms in words for form in forms), at)

    def imported_for_others(self, judged: Judged) -> Iterator[Lacking]:
        """What the file of an answer imports that is called after other chips, where it imports nothing that is called
        after the family."""
        outline = self.gates.world.definitions.outline(judged.module)
        every = (use for one in outline.definitions.values() for use in one.uses) if outline is not None else ()
        imports = [use for use in every if use.how == "import"]
        if any(mentioned(spoken(use.name)).named & self.gates.family for use in imports):
            return
        for use, chips in ((use, self.others_named(use.name)) for use in imports):
            if is_there_for(judged, chips):
                place = GatePlace(judged.module.path, use.at)
                yield Lacking(place, f"code named for other chips (`{use.name}`)", chips)

    def in_table(self, path: str, uses: Iterable[Use]) -> Iterator[Lacking]:
        for use in uses:
            need = self.gates.context.evidence.libraries.need(path, use)
            if need is not None and self.gates.chip not in need.legal:
                yield Lacking(GatePlace(path, use.at), need.what, need.legal)

    def told_in(self, module: Module, qualname: str) -> Iterator[Lacking]:
        """What the texts and names stand for in a function that answers a question, and in those that it asks."""
        start = self.gates.node(module.name, qualname)
        for node in self.gates.world.definitions.may_lead(start) if start is not None else ():
            uses = node.definition.uses
            looked_for = (replace(use, how="call") for use in uses if use.how == "text" and use.name.isidentifier())
            yield from self.in_table(node.outline.path, (*uses, *looked_for))

    def asked_around(self, judged: Judged) -> Iterator[Lacking]:
        """What the texts stand for that the tests around a gate ask for, and the constants that its side names: `if
        backend == "trtllm_mla":`, `return Backend.FLASHINFER_TRTLLM`."""
        for node in (node for test in judged.gate.path for node in walk(test) if node.op == "cmp"):
            parts = list(walk(node))
            role = " ".join(arg for one in parts if one.op != "const" for arg in one.args if isinstance(arg, str))
            texts = (one.args[0] for one in parts if is_text(one))
            yield from self.in_table(
                judged.module.path, (Use(text, "text", node.at or judged.at, role=role) for text in texts)
            )
        names = ((use, use.name.rpartition(".")[2]) for use in judged.working.uses if not judged.working.rest)
        constants = (Use(name.lower(), "text", use.at, role=use.name) for use, name in names if name.isupper())
        yield from self.in_table(judged.module.path, constants)

    def compiled_in(self, module: Module, side: Side) -> Iterator[Lacking]:
        nodes = (self.gates.world.definitions.definition(module, use) for use in (side.uses if not side.rest else ()))
        return self.compiled(node for node in nodes if node is not None)

    def compiled_for(self, proof: Need | NeedProof) -> Iterator[Lacking]:
        """What the source has that a build compiles for other chips: naming this one there gives it nothing else."""
        if proof.kind == "build" and len(proof.hops) > 1:
            yield from CompiledSources(self.gates.world, self.gates.chip).lacking(proof.hops[-2].path)

    def by_name(self, entry: RowEntry) -> Iterator[Lacking]:
        """What the table of libraries says of the name of a backend, and of that of what stands for it: it decides
        where nothing in the tree does."""
        site, at = entry.check or entry.site, span_of(entry)
        if site is None or at is None:
            return
        known = self.gates.context.evidence.libraries
        backend = entry.backend.name if entry.backend is not None else ""
        role = f"{entry.name}.{entry.parameter or 'backend'}"
        texts = (Use(backend, how, at, role=role) for how in ("text", "name")) if backend else ()
        needs = [known.need(site.path, use) for use in texts]
        if not backend:
            needs.append(self.named(site.path, (entry.name,), at))
        for need in needs:
            if need is not None and self.gates.chip not in need.legal:
                yield Lacking(GatePlace(site.path, at), need.what, need.legal)

    def loosely(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """What the code of a backend names that the chip lacks, whether a way surely comes there or not."""
        for node in {one.key: one for start in nodes for one in self.gates.world.definitions.may_lead(start)}.values():
            module = self.gates.module(node.outline.path)
            if module is not None and module.language == "python":
                yield from self._lacking_of(module, [node.definition])

    def further(self, gates: Iterable[GatePlace], starts: Iterable[Node]) -> Iterator[Lacking]:
        """What the chip lacks further on, whether a way surely comes there or not, where one of some gates lets in none
        but chips that have it: it is there for it. Nothing where something further on works on the chip, too."""
        nodes = list(self._further(starts))
        if any(map(self.family.is_made_for, nodes)):
            return
        named = self.ends(starts)
        if any(self.gates.chip in lacking.legal for lacking in named):
            return
        known = [judged for judged in map(self.gates.gate, gates) if judged is not None]
        for lacking in (*named, *self._compiled_by(nodes), *self._ends_in_cpp(nodes)):
            if any(is_there_for(judged, lacking.legal) for judged in known):
                yield lacking

    def ends(self, starts: Iterable[Node]) -> list[Lacking]:
        """What Python names further on that not every chip has; nothing where some of it works on the chip."""
        found = [lacking for node in self._further(starts) for lacking in self._final_in(node)]
        return found if not any(self.gates.chip in lacking.legal for lacking in found) else []

    def _ends_in_cpp(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """What stands in front of the errors of C++ that turn the chip away."""
        for node in (node for node in nodes if node.outline.language == "cuda"):
            module, refusals = self.gates.module(node.outline.path), self.gates.world.native.refusals
            for error in refusals.errors(module, node.definition.qualname) if module is not None else ():
                if self.gates.chip not in error.legal:
                    yield from self.for_others(GatePlace(node.outline.path, error.at))

    def _further(self, starts: Iterable[Node]) -> Iterator[Node]:
        """Definitions and what they may run where the chip comes, nearest first; of classes what their users call."""
        seen, waiting = set[Key](), deque(starts)
        while waiting and len(seen) < MAX_FURTHER:
            node = waiting.popleft()
            if node.key in seen:
                continue
            seen.add(node.key)
            yield node
            closed = self.closed_in(node)
            calls = self.gates.world.definitions.calls(node)
            methods = self.gates.world.definitions.methods_of(node)
            waiting.extend(one for one in methods if is_run_by_users(one.definition.qualname))
            waiting.extend(after for at, after in calls if not any(side.holds(at) for side in closed))

    def closed_in(self, node: Node) -> list[Span]:
        """The branches of a definition that the chip does not take."""
        known = self.gates.judged(node.outline.path) if node.definition.kind != "class" else ()
        within = (one for one in known if node.definition.at.holds(one.gate.at) and not one.in_test)
        return [at for judged in within for at in closed_to(judged, self.gates.chip)]

    def _final_in(self, node: Node) -> Iterator[Lacking]:
        closed = self.closed_in(node)
        return self.final_in(node, lambda at: not any(side.holds(at) for side in closed))

    def final_in(self, node: Node, runs: Callable[[Span], bool]) -> Iterator[Lacking]:
        """What a definition in Python names that not every chip has, in what runs of it."""
        module = self.gates.module(node.outline.path)
        if module is None or module.language != "python":
            return
        for use in (one for one in node.definition.uses if runs(one.at)):
            need = self._named_by(module, use)
            if need is not None and (need.strength == PROOF or self.gates.chip in need.legal):
                yield Lacking(GatePlace(module.path, use.at), need.what, need.legal)

    def _named_by(self, module: Module, use: Use) -> Need | None:
        """What stands behind a name that is called or imported, or a text that is passed, where no edit of a gate
        removes it."""
        evidence = self.gates.context.evidence
        match use.how:
            case "call":
                need = evidence.of_use(module, use)
            case "import":
                need = evidence.of_object(module, use)
            case "text" if use.call:
                need = evidence.libraries.need(module.path, use)
            case _:
                need = None
        return need if need is not None and need.kind in FINAL else None

    def named_for_others(self, entry: RowEntry, backends: Sequence[Node]) -> Iterator[Lacking]:
        """An operation, or what the code of a backend reaches, that is called after other chips."""
        site = self.gates.site(entry) if entry.backend is None else None
        nodes = [one for start in backends for one in self.gates.world.definitions.may_lead(start)]
        for node in nodes if site is None else [site]:
            chips = self.named_for(node)
            if chips:
                place = GatePlace(node.outline.path, node.definition.at)
                yield Lacking(place, f"code named for other chips (`{node.definition.qualname}`)", chips)

    def named_by_class(self, entry: RowEntry) -> Iterator[Lacking]:
        """The same in the file of a class that says where it works, whoever calls it there."""
        site = entry.check or entry.site
        answers = site is not None and any(map(ANSWERS.fullmatch, site.offer.methods))
        module = self.gates.module(site.path) if site is not None and answers else None
        outline = self.gates.world.definitions.outline(module) if module is not None else None
        if module is not None and outline is not None:
            yield from self._lacking_of(module, outline.definitions.values())

    def of_class(self, module: Module, classes: Iterable[Node]) -> list[Lacking]:
        """What classes of a file in Python end in, or the file imports for all of it, that the chip lacks."""
        found = (*self.ends(classes), *self._imported(module))
        return [lacking for lacking in found if self.gates.chip not in lacking.legal]

    def _imported(self, module: Module) -> Iterator[Lacking]:
        """What a file imports for all of it that the chip lacks."""
        outline, at = self.gates.world.definitions.outline(module), Span(1, 0, 1, 0)
        for name in outline.imports.values() if outline is not None else ():
            need = self.gates.context.evidence.libraries.need(module.path, Use(name, "import", at))
            if need is not None and need.strength == PROOF and self.gates.chip not in need.legal:
                yield Lacking(GatePlace(module.path, at), need.what, need.legal)

    def _lacking_of(self, module: Module, definitions: Iterable[Definition]) -> list[Lacking]:
        """What definitions of a file name that the chip lacks; nothing where one names what works on the chip, too."""
        found = []
        for use in (use for one in definitions for use in one.uses if use.is_a("call", "import")):
            need = self._named_by(module, use)
            if need is None:
                continue
            if self.gates.chip in need.legal:
                return []
            found.append(Lacking(GatePlace(module.path, use.at), need.what, need.legal))
        return found

    def compiled(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """Instructions that the chip lacks in what is handed to a compiler further on, whether a way surely comes there
        or not: where nobody knows, no edit is proposed in front of them."""
        yield from self._compiled_by(one for start in nodes for one in self.gates.world.definitions.may_lead(start))

    def _compiled_by(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """The same in what definitions hand to a compiler themselves."""
        handed = (self.gates.world.native.sources_of(one.outline.path, one.definition.qualname) for one in nodes)
        for path in dict.fromkeys(path for paths in handed for path in paths):
            yield from CompiledSources(self.gates.world, self.gates.chip).lacking(path)


def is_there_for(judged: Judged, legal: ChipSet) -> bool:
    """Whether a gate lets in none but chips that have something, a name of the past aside."""
    chips = judged.admitted - group("renamed")
    return bool(chips) and chips <= legal
