"""Gates that an operation meets only with some arguments, or in some of its uses: in a branch, in its backward, in a
kernel's class that it makes in one case of several.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bwlint.chips import ChipSet
from bwlint.chips.wording import plain
from bwlint.matrix.cells import GatePlace
from bwlint.matrix.rows import ANSWERS, RowEntry
from bwlint.model.expr import walk
from bwlint.port.choices import closed_to, is_run_by_users, takes
from bwlint.port.reasons import OpenWay
from bwlint.port.sources import Lacking
from bwlint.port.ways import NEWER, Ways
from bwlint.world.gates import Judged, answers_no, refuses
from bwlint.world.proofs import Key, Node

OWN_ARM = "in its own arm"
MAX_LOOSE = 200
"""Definitions that are looked at for one operation."""


@dataclass(slots=True)
class Partly:
    """Finds such gates, each as a way of its own: none needs the others."""

    ways: Ways
    _near: dict[Key, tuple[tuple[GatePlace, ...], tuple[Node, ...]]] = field(default_factory=dict)
    _found: dict[GatePlace, OpenWay] = field(default_factory=dict)
    _classes: dict[tuple[str, str], OpenWay | None] = field(default_factory=dict)

    def of(self, entry: RowEntry) -> Iterator[OpenWay]:
        """The ways that an operation has for some arguments only, nearest first."""
        start = self.ways.gates.site(entry)
        meant = start is not None and not self.ways.reasons.named_for(start)
        starts = [start, *self._methods(start)] if start is not None and meant else []
        seen, waiting = set[Key](), deque((node, node) for node in starts)
        users, found = dict[Key, tuple[Node, Node]](), list[tuple[Node, OpenWay]]()
        while waiting and len(seen) < MAX_LOOSE:
            node, user = waiting.popleft()
            if node.key in seen:
                continue
            seen.add(node.key)
            users[node.key] = node, user
            places, after = self._around(node)
            waiting.extend((one, node) for one in after)
            of_class = self._of_class(node)
            chosen = OpenWay("in some uses")
            self.ways.choose(chosen, node)
            found += [(node, of_class)] if of_class is not None else []
            found += [(node, self._way(place, (node, user))) for place in places]
            found.append((node, chosen))
        stuck = {key for node, way in found if self._is_surely_met(way) for key in self._surely_above(node, users)}
        told = set[GatePlace]()
        for node, way in found:
            ends_beside = not way.lacks and not stuck.isdisjoint(key for key, _ in _above(node, users))
            if way.gates and not told >= way.gates.keys() and not ends_beside:
                told |= way.gates.keys()
                yield way
        for place in dict.fromkeys(place for node, _ in users.values() for place in self._errors(node)):
            yield OpenWay(OWN_ARM, {}, {place: Lacking(place, "an error for some arguments", ChipSet.of())})

    def _errors(self, node: Node) -> Iterator[GatePlace]:
        """The errors in arms for the family of the chip alone that ask no device, of Python."""
        module = self.ways.gates.module(node.outline.path) if node.outline.language == "python" else None
        function = module.functions.get(node.definition.qualname) if module is not None else None
        known = self.ways.gates.judged(node.outline.path) if function is not None else ()
        within = [one for one in known if node.definition.at.holds(one.gate.at)]
        family = self.ways.gates.family
        own = [one.gate.yes for one in within if one.core and one.core <= family and self.ways.gates.chip in one.core]
        asked = {one.gate.at for one in within}
        for path, value in function.returns if function is not None and own else ():
            at = path[-1].at if path and value.op == "raise" else None
            if at is not None and at not in asked and any(side.holds(at) for side in own):
                yield GatePlace(node.outline.path, at)

    def _is_surely_met(self, way: OpenWay) -> bool:
        """Whether a way that ends in what the chip lacks is met whatever else is asked in its function."""
        gates = [self.ways.gates.gate(place) for place in way.gates]
        return bool(way.lacks) and all(one is not None and not one.gate.path for one in gates)

    def _surely_above(self, node: Node, users: Mapping[Key, tuple[Node, Node]]) -> Iterator[Key]:
        """A definition and those that surely run it, one by the other."""
        for key, user in _above(node, users):
            yield key
            here = users[key][0]
            calls = [at for at, after in self.ways.gates.world.definitions.calls(user) if after.key == here.key]
            sure = {use.at for use in user.definition.uses if use.sure}
            if not sure & set(calls):
                return

    def _methods(self, start: Node) -> Iterator[Node]:
        for method in self.ways.gates.world.definitions.methods_of(start):
            if is_run_by_users(method.definition.qualname):
                yield method

    def _way(self, place: GatePlace, users: Sequence[Node]) -> OpenWay:
        if place not in self._found:
            self._found[place] = self.ways.behind(place, users)
        return self._found[place]

    def _around(self, node: Node) -> tuple[tuple[GatePlace, ...], tuple[Node, ...]]:
        """The gates in a definition that the chip reaches and that refuse it, and what is called where it comes."""
        if node.key not in self._near:
            known = self.ways.gates.judged(node.outline.path) if node.definition.kind != "class" else ()
            gates = [one for one in known if node.definition.at.holds(one.gate.at) and not one.in_test]
            away = [at for judged in gates for at in closed_to(judged, self.ways.gates.chip)]
            met = (one for one in gates if not any(at.holds(one.at) for at in away))
            kept = (one for one in met if self._refused(one) and not self._is_decided_elsewhere(one, gates))
            kept = (one for one in kept if not any(self._takes_before(other, one) for other in gates))
            calls = self.ways.gates.world.definitions.calls(node)
            after = (one for at, one in calls if not any(side.holds(at) for side in away))
            places = tuple(map(_place, kept))
            self._near[node.key] = places, tuple(one for one in after if not self.ways.reasons.named_for(one))
        return self._near[node.key]

    # -- a kernel's class that picks its instructions by the chip

    def _of_class(self, node: Node) -> OpenWay | None:
        """The way by which a class treats the chip like an older one, where it picks what the chip lacks today: with
        all tests in it that the older one passes."""
        owner = node.definition.qualname.rpartition(".")[0]
        key = (node.outline.path, owner)
        if owner and key not in self._classes:
            within = (one for one in self.ways.gates.judged(node.outline.path) if not one.in_test)
            own = [one for one in within if one.gate.qualname.rpartition(".")[0] == owner]
            self._classes[key] = self._treated(owner, own)
        return self._classes.get(key)

    def _treated(self, owner: str, gates: Sequence[Judged]) -> OpenWay | None:
        chains = defaultdict[tuple[str, int], list[Judged]](list)
        for judged in gates:
            if judged.gate.chain and judged.gate.kind == "condition":
                chains[judged.gate.qualname, judged.gate.chain].append(judged)
        for chain in chains.values():
            like = self._older(sorted(chain, key=lambda one: one.gate.position))
            if like is not None:
                kept_out = (one for one in gates if self.ways.gates.chip not in one.sets.may)
                meant = [one for one in kept_out if like <= one.core and not refuses(one.other)]
                errors: dict[GatePlace, bool | None] = {_place(one): None for one in gates if self._refused(one)}
                places = errors | {_place(one): True for one in reversed(meant)}
                return OpenWay(f"like {plain(like)} in `{owner}`", places)
        return None

    def _older(self, chain: Sequence[Judged]) -> ChipSet | None:
        """The oldest chip of an arm without what the chip lacks, where the chip reaches what it lacks. It lacks that,
        too: what is made for one that has it is no way out."""
        last = chain[-1]
        lacked = self.ways.reasons.lacking(last.module, last.gate.no)
        if not lacked or any(takes(one, self.ways.gates.chip, yes=True) for one in chain):
            return None
        for judged in chain:
            like = ChipSet.of(*judged.core.names[:1])
            able = like and not any(like & need.legal for need in lacked)
            if able and not self.ways.reasons.lacking(judged.module, judged.gate.yes):
                return like
        return None

    # -- gates

    def _refused(self, judged: Judged) -> bool:
        """Whether an error keeps the chip away, or the answer of a method that is asked before its class is used."""
        is_answer = ANSWERS.fullmatch(judged.gate.qualname.rpartition(".")[2]) is not None
        if not judged.admitted & NEWER or self._is_meant(judged):
            return False
        if is_answer:
            return answers_no(judged.other) and self.ways.gates.chip not in judged.admitted
        return refuses(judged.other) and not takes(judged, self.ways.gates.chip, yes=not judged.denies)

    def _takes_before(self, other: Judged, judged: Judged) -> bool:
        """Whether an arm of C++ in front of a gate takes the chip, in a build that compiles it."""
        taken = other.gate.yes.ends == "return" and not refuses(other.gate.yes)
        in_front = other.gate.qualname == judged.gate.qualname and other.gate.at < judged.gate.at
        family = self.ways.gates.family
        is_own = other.module.language != "python" and bool(other.core) and other.core <= family
        return is_own and taken and (in_front or other is judged) and self.ways.gates.chip in other.core

    def _is_decided_elsewhere(self, judged: Judged, gates: Iterable[Judged]) -> bool:
        """Whether a list is an answer that a test asks for, or the test in which a table is asked for the chip fails
        before: `key in TABLE and x in TABLE[key]`."""
        if judged.gate.is_a("list"):
            leaves = (one.gate.leaf for one in gates if one is not judged)
            return any(leaf is not None and judged.gate.at.holds(leaf) for leaf in leaves)
        return judged.gate.is_a("lookup") and self._fails_before(judged, gates)

    def _fails_before(self, lookup: Judged, gates: Iterable[Judged]) -> bool:
        around = (
            one for one in gates if one.gate.at.holds(lookup.gate.at) and self.ways.gates.chip not in one.sets.may
        )
        asked = (node for one in around for node in walk(one.gate.test) if node.op == "cmp" and node.args[0] == "in")
        return any(node.at is not None and node.at[2:] <= lookup.gate.at[:2] for node in asked)

    def _is_meant(self, judged: Judged) -> bool:
        """Whether a gate turns the family of the chip away and nobody else: its author knew it."""
        return judged.sets.live - judged.admitted <= self.ways.gates.family


def _place(judged: Judged) -> GatePlace:
    return GatePlace(judged.module.path, judged.at)


def _above(node: Node, users: Mapping[Key, tuple[Node, Node]]) -> Iterator[tuple[Key, Node]]:
    """A definition and those by which it was found, each with its user."""
    here, user = users[node.key]
    while True:
        yield here.key, user
        if user.key == here.key:
            return
        here, user = users[user.key]
