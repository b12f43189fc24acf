"""Which code paths a port opens, and the order of their gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bwlint.matrix.cells import GatePlace
from bwlint.port.reasons import OpenWay


def chosen(rows: Mapping[str, Sequence[OpenWay]]) -> dict[str, OpenWay]:
    """For each row that opens the way to take: what is known to work behind it first, then the fewest edits, counting
    once those that other rows need. Rows with one way are asked first, since they have no choice."""
    picked: dict[str, OpenWay] = {}
    gates = set[GatePlace]()
    for name, ways in sorted(rows.items(), key=lambda row: (len(passable(row[1])), row[0])):
        able = passable(ways)
        if able:
            picked[name] = min(able, key=lambda way: (not way.shown, len(way.gates.keys() - gates), len(way.gates)))
            gates |= picked[name].gates.keys()
    return picked


def passable(ways: Iterable[OpenWay]) -> list[OpenWay]:
    """The ways that end in nothing that the chip lacks, and have gates to open."""
    return [way for way in ways if way.gates and not way.lacks]


def shared(ways: Sequence[OpenWay]) -> set[GatePlace]:
    """The gates that dominate the end: they are on every way that can be opened."""
    able = passable(ways)
    return set.intersection(*(set(way.gates) for way in able)) if able else set()


def inside_out(ways: Iterable[OpenWay]) -> list[GatePlace]:
    """The gates of ways in the order in which they can be opened: each after all that stands behind it, so that at no
    time a chip reaches a gate that still refuses it. Gates that stand behind each other are next to each other."""
    import networkx  # takes long to load

    graph: networkx.DiGraph[GatePlace] = networkx.DiGraph()
    for way in ways:
        graph.add_nodes_from(way.gates)
        outer = list(way.gates)
        graph.add_edges_from(zip(outer[1:], outer[:-1], strict=True))
    condensed = networkx.condensation(graph)
    members = {node: sorted(condensed.nodes[node]["members"], key=_place) for node in condensed}
    order = networkx.lexicographical_topological_sort(condensed, key=lambda node: _place(members[node][0]))
    return [place for node in order for place in members[node]]


def _place(place: GatePlace) -> tuple[str, tuple[int, ...]]:
    return place.path, tuple(place.at)
