"""Find the gate of a tree at a given place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bwlint.chips import ChipSet, chip, siblings
from bwlint.judging.context import Context
from bwlint.matrix.cells import GatePlace
from bwlint.matrix.rows import RowEntry
from bwlint.model.expr import negate
from bwlint.model.facts import Gate, Module
from bwlint.run.engine import Linked
from bwlint.sources.texts import Texts
from bwlint.sources.tree import module_name, package_root
from bwlint.world.gates import Judged, refuses
from bwlint.world.proofs import Node


@dataclass(slots=True)
class PortGates:
    """Finds the gates of one world for one chip."""

    world: Linked
    context: Context
    chip: str
    texts: Texts

    @property
    def family(self) -> ChipSet:
        return siblings(chip(self.chip))

    def gate(self, place: GatePlace) -> Judged | None:
        """The gate at a place: the one that stands there, else the smallest around it, else the first in it; of an
        error of C++ the last test that leads to it."""
        found = [one for one in self.judged(place.path) if one.gate.at == place.at or one.at == place.at]
        if found:
            return found[0]
        around = [one for one in self.judged(place.path) if one.gate.at.holds(place.at)]
        if around:
            return min(around, key=lambda one: (one.gate.at[2] - one.gate.at[0], one.gate.at[3] - one.gate.at[1]))
        inside = next((one for one in self.judged(place.path) if place.at.holds(one.gate.at)), None)
        return inside or next(iter(self.before(place)), None)

    def asks(self, place: GatePlace) -> bool:
        """Whether a test of the device stands at a place, and not of what is installed alone; of C++ nobody says."""
        return not place.path.endswith(".py") or self.gate(place) is not None

    def flag(self, judged: Judged) -> Judged | None:
        """The flag of the same file that a gate asks, where it asks nothing of the device itself."""
        leaf = judged.gate.leaf
        if judged.stands_here or leaf is None or judged.gate.is_a("flag"):
            return None
        return next(
            (one for one in self.judged(judged.module.path) if one.gate.is_a("flag") and one.gate.at.holds(leaf)), None
        )

    def before(self, place: GatePlace) -> list[Judged]:
        """The tests of C++ in front of an error, each with an arm that others take; the last one first."""
        chain = [one for one in self.judged(place.path) if one.gate.chain and one.gate.no.holds(place.at)]
        last = max((one.gate.chain for one in chain), default=0) if not place.path.endswith(".py") else 0
        own = (one for one in chain if one.gate.chain == last or one.gate.yes.ends == "return")
        if last or place.path.endswith(".py"):
            return sorted(own, key=lambda one: one.gate.at, reverse=True) if last else []
        around = (one for one in self.judged(place.path) if one.gate.yes.holds(place.at) and refuses(one.gate.yes))
        return sorted(around, key=lambda one: one.gate.at, reverse=True)[:1]

    def guard(self, place: GatePlace) -> tuple[Module, Gate] | None:
        """The innermost guard that asks what the build makes of the device, at a place or around it."""
        module = self.module(place.path) if not place.path.endswith(".py") else None
        if module is None:
            return None
        found = [
            one
            for one in module.guards
            if one.at == place.at or one.yes.holds(place.at) or one.no.holds(place.at)
            if any(self.world.tree.built_for(module, test) for test in (one.test, negate(one.test)))
        ]
        return (module, max(found, key=lambda one: one.at)) if found else None

    def let_in(self, place: GatePlace) -> ChipSet:
        """The chips that do not reach an error of C++; none where that is not known."""
        module = self.module(place.path) if not place.path.endswith(".py") else None
        outline = self.world.native.outline(place.path) if module is not None else None
        around = (one.qualname for one in (outline.definitions.values() if outline else ()) if one.at.holds(place.at))
        errors = [one for name in around if module for one in self.world.native.refusals.errors(module, name)]
        return ChipSet.union(one.legal for one in errors if one.at.holds(place.at) or place.at.holds(one.at))

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

    def node(self, module: str, qualname: str) -> Node | None:
        outline = self.world.outlines.named(module)
        found = outline.definitions.get(qualname) if outline is not None else None
        return Node(outline, found) if outline is not None and found is not None else None

    def site(self, entry: RowEntry) -> Node | None:
        if entry.bound:
            return entry.bound[0]
        return self.node(entry.site.module, entry.site.offer.name) if entry.site is not None else None
