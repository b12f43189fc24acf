"""Why no edit of a gate gives an operation to a chip: what it lacks behind it, seen, compiled or named."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.chips.mentions import mentioned
from bwlint.matrix.cells import GatePlace
from bwlint.matrix.rows import ANSWERS, RowEntry, span_of
from bwlint.model.expr import Span, walk
from bwlint.model.facts import Module, Side, Use
from bwlint.model.naming import spoken
from bwlint.model.outline import Definition
from bwlint.port.choices import FamilyNames, closed_to, is_run_by_users
from bwlint.port.gates import PortGates
from bwlint.port.sources import CompiledSources, Lacking
from bwlint.world.gates import Judged
from bwlint.world.libraries import PROOF, Need
from bwlint.world.proofs import Key, Node

FINAL = frozenset({"operation", "library"})
"""Kinds of proof that no edit of a gate removes; the others are gates themselves."""
_ALONE = ChipSet.where(lambda one: one.joined >= 90)
MAX_FURTHER = 300
"""Definitions that are looked at behind the gates of one operation."""


@dataclass(slots=True)
class Reasons(PortGates):
    """Finds them for one chip."""

    family: FamilyNames

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

    def lacking(self, module: Module, side: Side) -> list[Need]:
        """What a side surely comes to that the chip lacks."""
        needs = self.context.evidence.of(module, side)
        return [need for need in needs if self._is_final(need) and self.chip not in need.legal]

    def _is_final(self, need: Need) -> bool:
        return need.strength == PROOF and need.kind in FINAL

    def in_table(self, path: str, uses: Iterable[Use]) -> Iterator[Lacking]:
        for use in uses:
            need = self.context.evidence.libraries.need(path, use)
            if need is not None and self.chip not in need.legal:
                yield Lacking(GatePlace(path, use.at), need.what, need.legal)

    def told_in(self, module: Module, qualname: str) -> Iterator[Lacking]:
        """What the texts and names stand for in a function that answers a question, and in those that it asks."""
        start = self.node(module.name, qualname)
        for node in self.world.definitions.may_lead(start) if start is not None else ():
            uses = node.definition.uses
            looked_for = (replace(use, how="call") for use in uses if use.how == "text" and use.name.isidentifier())
            yield from self.in_table(node.outline.path, (*uses, *looked_for))

    def asked_around(self, judged: Judged) -> Iterator[Lacking]:
        """What the texts stand for that the tests around a gate ask for, and the constants that its side names:
        `if backend == "trtllm_mla":`, `return Backend.FLASHINFER_TRTLLM`.
        """
        for node in (node for test in judged.gate.path for node in walk(test) if node.op == "cmp"):
            parts = list(walk(node))
            role = " ".join(arg for one in parts if one.op != "const" for arg in one.args if isinstance(arg, str))
            texts = (one.args[0] for one in parts if one.op == "const" and isinstance(one.args[0], str))
            yield from self.in_table(
                judged.module.path, (Use(text, "text", node.at or judged.at, role=role) for text in texts)
            )
        names = ((use, use.name.rpartition(".")[2]) for use in judged.working.uses if not judged.working.rest)
        constants = (Use(name.lower(), "text", use.at, role=use.name) for use, name in names if name.isupper())
        yield from self.in_table(judged.module.path, constants)

    def compiled_in(self, module: Module, side: Side) -> Iterator[Lacking]:
        """What is compiled behind a branch."""
        nodes = (self.world.definitions.definition(module, use) for use in (side.uses if not side.rest else ()))
        return self.compiled(node for node in nodes if node is not None)

    def by_name(self, entry: RowEntry) -> Iterator[Lacking]:
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

    def loosely(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """What the code of a backend names that the chip lacks, whether a way surely comes there or not."""
        for node in {one.key: one for start in nodes for one in self.world.definitions.may_lead(start)}.values():
            module = self.module(node.outline.path)
            if module is not None and module.language == "python":
                yield from self._lacking_of(module, [node.definition])

    def reasons(self, gates: Iterable[GatePlace], starts: Iterable[Node]) -> Iterator[Lacking]:
        """What the chip lacks further on, whether a way surely comes there or not, where one of some gates lets in none
        but chips that have it: it is there for it. Nothing where something further on works on the chip, too.
        """
        nodes = list(self._further(starts))
        named = [found for node in nodes for found in self._final_in(node)]
        if any(self.chip in lacking.legal for lacking in named) or any(map(self.family.is_made_for, nodes)):
            return
        admitted = [judged.admitted for judged in map(self.gate, gates) if judged is not None and judged.admitted]
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
            closed = self.closed_in(node)
            calls = self.world.definitions.calls(node)
            methods = self.world.definitions.methods_of(node)
            waiting.extend(one for one in methods if is_run_by_users(one.definition.qualname))
            waiting.extend(after for at, after in calls if not any(side.holds(at) for side in closed))

    def closed_in(self, node: Node) -> list[Span]:
        """The branches of a definition that the chip does not take."""
        known = self.judged(node.outline.path) if node.definition.kind != "class" else ()
        within = (one for one in known if node.definition.at.holds(one.gate.at) and not one.in_test)
        return [at for judged in within for at in closed_to(judged, self.chip)]

    def _final_in(self, node: Node) -> Iterator[Lacking]:
        """What a definition in Python names that not every chip has, where the chip comes."""
        module = self.module(node.outline.path)
        if module is None or module.language != "python":
            return
        closed = self.closed_in(node)
        for use in (use for use in node.definition.uses if use.is_a("call", "import")):
            need = self._named_by(module, use)
            proves = need is not None and (need.strength == PROOF or self.chip in need.legal)
            if need is not None and proves and not any(side.holds(use.at) for side in closed):
                yield Lacking(GatePlace(module.path, use.at), need.what, need.legal)

    def _named_by(self, module: Module, use: Use) -> Need | None:
        """What stands behind a name that is called or imported, where no edit of a gate removes it."""
        evidence = self.context.evidence
        need = evidence.of_use(module, use) if use.how == "call" else evidence.of_object(module, use)
        return need if need is not None and need.kind in FINAL else None

    def named_for_others(self, entry: RowEntry, backends: Sequence[Node]) -> Iterator[Lacking]:
        """An operation, or what the code of a backend comes to, that is called after other chips."""
        site = self.site(entry) if entry.backend is None else None
        nodes = [one for start in backends for one in self.world.definitions.may_lead(start)]
        for node in nodes if site is None else [site]:
            chips = self.named_for(node)
            if chips:
                place = GatePlace(node.outline.path, node.definition.at)
                yield Lacking(place, f"what is called after other chips (`{node.definition.qualname}`)", chips)

    def named_by_class(self, entry: RowEntry) -> Iterator[Lacking]:
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

    def compiled(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """Instructions that the chip lacks in what is handed to a compiler further on, whether a way surely comes there
        or not: where nobody knows, no edit is proposed in front of them.
        """
        yield from self._compiled_by(one for start in nodes for one in self.world.definitions.may_lead(start))

    def _compiled_by(self, nodes: Iterable[Node]) -> Iterator[Lacking]:
        """The same in what definitions hand to a compiler themselves."""
        handed = (self.world.native.sources_of(one.outline.path, one.definition.qualname) for one in nodes)
        for path in dict.fromkeys(path for paths in handed for path in paths):
            yield from CompiledSources(self.world, self.chip).lacking(path)

    def site(self, entry: RowEntry) -> Node | None:
        """The definition of an operation."""
        return self.node(entry.site.module, entry.site.offer.name) if entry.site is not None else None
