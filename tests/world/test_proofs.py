"""The sets and ways of the graph, on graphs written down by hand and, against brute force, on drawn ones."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from bwlint.chips import EVERY, NONE, ChipSet
from bwlint.model.expr import Span
from bwlint.model.facts import Hop
from bwlint.model.outline import Definition, Outline
from bwlint.world.proofs import Edge, Graph, NeedProof, Node

A, B, C = ChipSet.of("9.0"), ChipSet.of("10.0"), ChipSet.of("12.0")
OUTLINE = Outline(path="/p/a.py", language="python", definitions={}, places={}, imports={})


def node(name: str) -> Node:
    return Node(OUTLINE, Definition(name, "function", Span(1, 0, 2, 0), ()))


def proof(name: str, legal: ChipSet) -> NeedProof:
    return NeedProof(legal, "operation", name, name, (Hop("/p/a.py", Span(9, 0, 9, 1), name),), where=name)


class Written:
    """A half that is written down: what each definition shows, and its edges as (ends, chips)."""

    def __init__(self, legal: Mapping[str, ChipSet], edges: Mapping[str, tuple[tuple[str, ChipSet], ...]]) -> None:
        self.legal, self.edges = legal, edges
        self.looked: list[str] = []

    def shown(self, node: Node) -> tuple[NeedProof, ...]:
        name = node.definition.qualname
        self.looked.append(name)
        return (proof(name, self.legal[name]),) if name in self.legal else ()

    def leads(self, start: Node) -> tuple[Edge, ...]:
        name = start.definition.qualname
        return tuple(
            Edge(tuple(map(node, ends.split("|"))), Hop("/p/a.py", Span(3, 0, 3, 1), f"{name} uses {ends}"), chips)
            for ends, chips in self.edges.get(name, ())
        )


@pytest.mark.parametrize(
    ("legal", "edges", "works"),
    [
        ({}, {}, EVERY),
        ({"a": A}, {}, A),
        ({"b": A}, {"a": (("b", EVERY),)}, A),
        ({"b": A}, {"a": (("b", B),)}, EVERY - B),  # who else comes to it is kept away
        ({"b": A, "c": A | B}, {"a": (("b|c", EVERY),)}, A | B),  # one of two of the same name
        ({"c": A}, {"a": (("b", EVERY),), "b": (("a", EVERY), ("c", EVERY))}, A),  # round a circle
        ({"c": A}, {"a": (("a", EVERY), ("c", EVERY))}, A),
        ({}, {"a": (("b", EVERY),), "b": (("a", EVERY),)}, EVERY),
        ({"d": A}, {"a": (("b", A | B), ("c", C)), "b": (("d", B),), "c": (("d", EVERY),)}, EVERY - B - C),
    ],
)
def test_works(legal: dict[str, ChipSet], edges: dict[str, tuple[tuple[str, ChipSet], ...]], works: ChipSet) -> None:
    assert Graph({"python": Written(legal, edges)}).works(node("a")) == works


def test_the_shortest_way_is_told_for_the_chips_that_take_it() -> None:
    edges = {"a": (("b", A), ("c", EVERY)), "b": (("d", EVERY),), "c": (("e", EVERY),), "e": (("d", EVERY),)}
    found = Graph({"python": Written({"d": B}, edges)}).proofs(node("a"))
    ways = [[hop.text for hop in one.hops[:-1]] for one in found]
    assert ways == [["a uses b", "b uses d"], ["a uses c", "c uses e", "e uses d"]]
    assert [one.against for one in found] == [A, EVERY - A - B]


def test_a_name_of_two_definitions_says_what_both_say() -> None:
    graph = Graph({"python": Written({"b": A, "c": A | B}, {"a": (("b|c", EVERY),)})})
    assert [one.legal for one in graph.proofs(node("a"))] == [A | B]
    assert [one.legal for one in graph.agreed([node("b"), node("c")])] == [A | B]
    assert graph.agreed([node("b"), node("free")]) == ()


def test_every_definition_is_looked_at_once() -> None:
    half = Written({"c": A}, {"a": (("b", EVERY), ("c", EVERY)), "b": (("c", EVERY), ("a", EVERY))})
    graph = Graph({"python": half})
    for name in "abcabc":
        graph.works(node(name))
        graph.proofs(node(name))
    assert sorted(half.looked) == ["a", "b", "c"]


def brute_force(legal: Mapping[str, ChipSet], edges: Mapping[str, tuple[tuple[str, ChipSet], ...]]) -> ChipSet:
    """The chips on which nothing that `a` comes to along any way refuses."""
    works = EVERY
    for chip in EVERY:
        one = ChipSet.of(chip.name)
        seen, waiting = {"a"}, ["a"]
        while waiting:
            name = waiting.pop()
            works -= one & (NONE if name not in legal else ~legal[name])
            for end, chips in edges.get(name, ()):
                if one <= chips and end not in seen:
                    seen.add(end)
                    waiting.append(end)
    return works


@pytest.mark.parametrize("seed", range(60))
def test_drawn_graphs(seed: int) -> None:
    draw = random.Random(seed)
    names = "abcdefgh"
    sets = [EVERY, A, B, C, A | C, EVERY - C]
    legal = {name: draw.choice(sets) for name in draw.sample(names, 3)}
    edges = {name: tuple((draw.choice(names), draw.choice(sets)) for _ in range(draw.randrange(4))) for name in names}
    graph = Graph({"python": Written(legal, edges)})
    for name in draw.sample(names, 4):
        graph.works(node(name))  # whoever asks first
    assert graph.works(node("a")) == brute_force(legal, edges)
    told = NONE
    for one in graph.proofs(node("a")):
        told |= one.against
    assert EVERY - told == graph.works(node("a"))
