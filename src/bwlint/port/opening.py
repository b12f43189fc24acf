"""Edits that open a gate for a chip, with their proofs, or instructions where no edit is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bwlint.chips import ChipSet, chip, siblings
from bwlint.chips.wording import plain
from bwlint.fix import Job, mended
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, Remedy
from bwlint.matrix.cells import GatePlace
from bwlint.model.findings import Fix, NoFix
from bwlint.model.kinds import LISTED
from bwlint.port.reasons import OpenWay
from bwlint.rules import checks
from bwlint.sources.texts import Texts
from bwlint.world.gates import Judged

UNSEEN = "nothing shows that the code behind it has run there"
UNKNOWN = "nothing in the tree shows that the code behind it runs there"


def wanted(judged: Judged, name: str, holds: bool | None) -> ChipSet:
    """The chip with those of its family that the gate keeps out, too: a family is opened as a whole. `holds` is that of
    `opened`."""
    family, own = siblings(chip(name)), ChipSet.of(name)
    passes = not judged.denies if holds is None else holds
    return family - judged.core | own if passes else family & judged.core | own


def opened(
    context: Context, judged: Judged, root: str, chips: ChipSet, holds: bool | None, shown: tuple[str, ...]
) -> Fix | NoFix:
    """The edit after which a gate lets `chips` through: they are to pass its test where it `holds`, to fail it where
    not, or (None) to reach its working side. `shown` is what is known to work there."""
    source = Texts().source(judged.module.path)
    if source is None:
        return NoFix("the file cannot be read again")
    passes = not judged.denies if holds is None else holds
    after = judged.core | chips if passes else judged.core - chips
    remedy = Remedy("test", after, evidence="; ".join(shown) or "none", unsafe=UNSEEN if shown else UNKNOWN)
    found = _mended(context, judged, root, remedy, source)
    if isinstance(found, NoFix):
        found = _mended(context, judged, root, replace(remedy, how="admit"), source)
    if not isinstance(found, NoFix):
        return found
    if not judged.gate.is_a(*LISTED):
        return found
    return NoFix(f"{found.reason}: add {plain(chips)} by hand")


def _mended(context: Context, judged: Judged, root: str, remedy: Remedy, source: str) -> Fix | NoFix:
    rule = next(rule for rule, _ in checks() if rule.name == "excluded")
    draft = Draft(
        rule=rule,
        place=replace(DraftPlace.of_gate(judged), at=judged.at),
        severity="note",
        confidence="low",
        message="",
        label="",
        advice="",
        remedy=remedy,
    )
    return mended(Job(context, draft, remedy, judged, root, source))


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
