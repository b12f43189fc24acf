"""The program graph over all languages: definitions, edges between them, and the chips each works on.

An edge is a use that surely happens where its definition runs. A definition **works** on the chips that nothing it
surely reaches refuses: the greatest solution of

    works(d) = what d itself shows  &  for each edge: works(one of its ends) | the chips that are kept from it

over the components of the graph, callees first. The graph grows where it is asked, by all that the definition leads
to, and every definition is looked at once in a run, however many rules ask.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Protocol

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.model.facts import Hop, Use
from bwlint.model.kinds import Language
from bwlint.model.outline import Definition, Outline
from bwlint.sources.recorder import assume, memory, together

Key = tuple[str, str, int]
"""A definition by the real path of its file, its qualified name and its first line."""

RANK = ("operation", "list", "gate", "build", "library", "name")
"""Kinds of proof, strongest first: a list names the chips that its author admits, a gate is any other refusal."""


@dataclass(frozen=True, slots=True)
class Node:
    """A definition and the file that it stands in: a node."""

    outline: Outline
    definition: Definition

    @property
    def key(self) -> Key:
        name = " ".join((self.definition.qualname, *self.definition.given))
        return self.outline.path, name, self.definition.at.line


@dataclass(frozen=True, slots=True)
class NeedProof:
    """What is behind a definition works on `legal` and on nothing else.

    `kind` is one of `RANK`; `what` is how a message calls it, `source` where it was read, `hops` the way there from
    the use to the place that proves it, `arriving` the chips that the gates on that way may let come,
    `where` the name of the definition at its end, `operation` the instruction or atom of C++ there, and `pairs` what a
    build there asks nvcc for.
    """

    legal: ChipSet
    kind: str
    what: str
    source: str
    hops: tuple[Hop, ...]
    arriving: ChipSet = EVERY
    where: str = ""
    operation: Use | None = None
    pairs: tuple[str, ...] = ()

    @property
    def against(self) -> ChipSet:
        """The chips that come there and on which it does not work."""
        return self.arriving - self.legal


@dataclass(frozen=True, slots=True)
class Edge:
    """What a definition surely leads to: one of `after`, for a name may have several definitions.

    `chips` are those that the gates around the use may let reach it; `hop` is the use, None where the one is a part
    of the other, as a class's `__init__` is.
    """

    after: tuple[Node, ...]
    hop: Hop | None = None
    chips: ChipSet = EVERY


def one_of(node: Node, ends: Sequence[tuple[Node, ...]]) -> Iterator[Edge]:
    """The edge to what a definition ends in one of, `ends` in the order of its choices; none where one is unknown."""
    if ends and all(ends):
        at = node.definition.choices[0].at
        hop = Hop(node.outline.path, at, f"`{node.definition.qualname}` picks one of {len(ends)} functions")
        yield Edge(tuple(one for end in ends for one in end), hop)


class Half(Protocol):
    """What one language knows of its definitions."""

    def shown(self, node: Node) -> tuple[NeedProof, ...]:
        """What a definition shows by itself: operations, refusals, builds, libraries that it uses."""

    def leads(self, node: Node) -> tuple[Edge, ...]:
        """What it surely leads to."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A definition of the graph with what its language says of it."""

    node: Node
    shown: tuple[NeedProof, ...]
    edges: tuple[Edge, ...]


class Graph:
    """The definitions of one run."""

    def __init__(self, halves: Mapping[Language, Half]) -> None:
        self._halves = halves
        self._known: dict[Key, _Known] = memory()
        self._works: dict[Key, ChipSet] = memory()
        self._proofs: dict[Key, tuple[NeedProof, ...]] = memory()

    def works(self, node: Node) -> ChipSet:
        """The chips on which everything that a definition surely reaches works."""
        if node.key not in self._works:
            fresh = self._grown(node)
            self._solve(fresh)
            together(self._works, node.key, fresh)
        return self._works[node.key]

    def proofs(self, node: Node) -> tuple[NeedProof, ...]:
        """What stands between a definition and all chips, each with the shortest way there; nearest first."""
        if node.key not in self._proofs:
            assume(self._proofs, node.key, ())  # who comes back here on the way has no other reason
            self._proofs[node.key] = tuple(self._told(node)) if self.works(node) != EVERY else ()
        return self._proofs[node.key]

    def agreed(self, nodes: Iterable[Node]) -> tuple[NeedProof, ...]:
        """The proofs of one definition; of several that a name may mean, what all of them say together."""
        places = list(nodes)
        if len(places) <= 1:
            return self.proofs(places[0]) if places else ()
        legal = ChipSet.union(map(self.works, places))
        weakest = [min(found, key=lambda proof: len(proof.legal)) for place in places if (found := self.proofs(place))]
        if legal == EVERY or not weakest:
            return ()
        shown = max(weakest, key=lambda proof: RANK.index(proof.kind))
        return (replace(shown, legal=legal, operation=None, pairs=()),)

    # -- the sets

    def _grown(self, start: Node) -> dict[Key, _Known]:
        """The definitions that a new one leads to and that have not been solved, itself among them."""
        fresh: dict[Key, _Known] = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node.key in fresh or node.key in self._works:
                continue
            fresh[node.key] = self._look(node)
            waiting += (after for edge in fresh[node.key].edges for after in edge.after)
        return fresh

    def _look(self, node: Node) -> _Known:
        if node.key not in self._known:
            half = self._halves[node.outline.language]
            self._known[node.key] = _Known(node, half.shown(node), half.leads(node))
        return self._known[node.key]

    def _solve(self, fresh: Mapping[Key, _Known]) -> None:
        self._works.update(dict.fromkeys(fresh, EVERY))
        if all(self._here(known) == EVERY for known in fresh.values()):
            return  # nothing in reach says anything
        for component in _callees_first(fresh):
            changed = True
            while changed:
                before = [self._works[key] for key in component]
                self._works.update((key, self._here(fresh[key])) for key in component)
                changed = len(component) > 1 and before != [self._works[key] for key in component]

    def _here(self, known: _Known) -> ChipSet:
        works = EVERY
        for proof in known.shown:
            works &= proof.legal | ~proof.arriving
        for edge in known.edges:
            works &= ChipSet.union(self._works[node.key] for node in edge.after) | ~edge.chips
        return works

    # -- the ways

    def _told(self, start: Node) -> Iterator[NeedProof]:
        """The proofs behind a definition, each once for the chips that reach it first."""
        told: dict[object, ChipSet] = {}
        come = {start.key: EVERY}
        waiting: deque[tuple[Node, ChipSet, tuple[Hop, ...]]] = deque([(start, EVERY, ())])
        while waiting:
            node, chips, hops = waiting.popleft()
            known = self._look(node)
            for proof in known.shown:
                found = replace(proof, arriving=chips & proof.arriving, hops=(*hops, *proof.hops))
                place = found.hops[-1:] or found.source  # of a class and its method: the same one
                if place not in told or found.against - told[place]:
                    told[place] = told.get(place, NONE) | found.against
                    yield found
            for edge in known.edges:
                way = hops if edge.hop is None else (*hops, edge.hop)
                if len(edge.after) > 1:
                    yield from (
                        replace(proof, arriving=chips & edge.chips, hops=(*way, *proof.hops))
                        for proof in self.agreed(edge.after)
                    )
                    continue
                (after,) = edge.after
                new = chips & edge.chips - come.get(after.key, NONE)
                if new and self._works[after.key] != EVERY:
                    come[after.key] = come.get(after.key, NONE) | new
                    waiting.append((after, new, way))


def _callees_first(fresh: Mapping[Key, _Known]) -> Iterator[list[Key]]:
    """What calls each other is one of them."""
    callees = {
        key: {node.key for edge in known.edges for node in edge.after if node.key in fresh and node.key != key}
        for key, known in fresh.items()
    }
    try:
        yield from ([key] for key in list(TopologicalSorter(callees).static_order()))
    except CycleError:
        yield from _components(callees)


def _components(callees: Mapping[Key, set[Key]]) -> Iterator[list[Key]]:
    import networkx  # takes longer than a hook may

    graph: networkx.DiGraph[Key] = networkx.DiGraph(callees)
    components = networkx.condensation(graph)
    for name in reversed(list(networkx.topological_sort(components))):
        yield list(components.nodes[name]["members"])
