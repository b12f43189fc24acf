"""The proof of an edit of C++: the edited text is read again, and its guards and gates are evaluated again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bwlint.chips import NO_TARGET, TargetSet
from bwlint.chips.wording import plain
from bwlint.fix.change import WantedChange, shifted
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.edited import outline
from bwlint.judging.legality import legal, short
from bwlint.model.facts import Gate, Module, Operation, Side
from bwlint.model.findings import NoFix, Proof
from bwlint.readers.cuda import stretches
from bwlint.readers.cuda.scopes import cut
from bwlint.world.gates import refuses
from bwlint.world.tree import Sets, TargetSets, Tree


def in_a_string(module: Module) -> bool:
    """Whether C++ stands in a string of Python: what is written there is read by two languages."""
    return module.path.endswith(".py")


@dataclass(slots=True)
class FileChecker:
    """Judges edits of one file. `module` is what was read from it, `source` the text."""

    tree: Tree
    module: Module
    source: str
    before: Tree = field(init=False)

    def __post_init__(self) -> None:
        self.before = self.tree.edited(self.module)

    @property
    def readable(self) -> bool:
        """Whether the text alone gives the facts: code in the strings of another language does not."""
        again = edited_module(self.module, self.source)
        return again.guards == self.module.guards and again.gates == self.module.gates

    def guard(
        self, text: str, guard: Gate, wanted: TargetSet, evidence: str, also: Sequence[tuple[Gate, TargetSet]] = ()
    ) -> Proof | NoFix:
        """The proof that `guard` lets exactly `wanted` of its targets through, and nothing else moves but `also`."""
        edited = edited_module(self.module, text)
        here = _index(self.module.guards, guard)
        along = {_index(self.module.guards, other): targets for other, targets in also}
        if here is None or not self._same_outline(edited, frozenset({here, *along})):
            return NoFix("the edited file has other guards than before")
        after_tree = self.tree.edited(edited)
        old = self.before.target_sets(self.module, guard)
        new = after_tree.target_sets(edited, edited.guards[here])
        if old is None or new is None:
            return NoFix("the edited guard does not ask for the target any more")
        if new.live != old.live or new.may != wanted & old.live:
            wrong = (new.may - wanted) | (wanted & old.live - new.may)
            return NoFix(f"the edited guard would compile for {_few(wrong)}")
        moved = (new.may - old.may) | (old.may - new.may)
        if _moved(old, new) - moved:
            return NoFix("the edit would change the guard for other targets")
        for index, targets in along.items():
            other = None if index is None else after_tree.target_sets(edited, edited.guards[index])
            if other is None or other.may != targets & other.live:  # so nothing else of it has moved
                return NoFix("this edit alone would leave the guard's other code unfixed")
        said = self._others(edited, after_tree, frozenset({here, *along}), moved)
        said = said or self._operations(edited, after_tree, moved)
        lost = old.may - new.may
        if said or (lost and (said := self._emptied(text, edited, after_tree, lost))):
            return said
        return Proof(old.may.names, old.must.names, new.may.names, new.must.names, evidence)

    def _others(self, edited: Module, after: Tree, mended: frozenset[int | None], moved: TargetSet) -> NoFix | None:
        """Other guards stay as they are; below this one, or with a macro of it, they change where it does at most."""
        for index, (guard, guard_after) in enumerate(zip(self.module.guards, edited.guards, strict=True)):
            old, new = self.before.target_sets(self.module, guard), after.target_sets(edited, guard_after)
            if old == new or index in mended:
                continue
            if old is None or new is None or _moved(old, new) - moved:
                return NoFix(f"the edit would change the guard at line {guard.at[0]}")
            ended = (new.may - old.may) if self._is_error(guard.yes) else NO_TARGET
            ended |= (new.live - new.may) - (old.live - old.may) if self._is_error(guard.no) else NO_TARGET
            if ended:
                return NoFix(f"for {_few(ended)} the guard at line {guard.at[0]} behind it raises an error: edit both")
        return None

    def _is_error(self, side: Side) -> bool:
        """Whether a side is an `#error`, and not one that stands in a guard further in."""
        inside = (one for one in self.module.guards if side.holds(one.at))
        return refuses(side) and not any(refuses(one.yes) or refuses(one.no) for one in inside)

    def _emptied(self, text: str, edited: Module, after: Tree, lost: TargetSet) -> NoFix | None:
        """No function is left without a body: it would be called, and do nothing."""
        had, has = _filled(self.source, self.module, self.before), _filled(text, edited, after)
        gone = (
            (name, (left - kept) & lost & there) for (name, _, left), (_, there, kept) in zip(had, has, strict=False)
        )
        name, targets = next(filter(lambda one: one[1], gone), ("", NO_TARGET))
        said = (
            f"on {plain(targets.chips)} the edit would leave `{name}` without a body: it would run and write nothing."
        )
        return NoFix(f"{said} Add an #else that traps, or keep them away on the host") if targets else None

    def _operations(self, edited: Module, after: Tree, moved: TargetSet) -> NoFix | None:
        """No instruction reaches targets that lack it."""
        for old, new in zip(needs(self.module), needs(edited), strict=True):
            gained = after.compiled(edited, new.path) - self.before.compiled(self.module, old.path)
            if lacking := gained - legal(new):
                return NoFix(f"`{short(new)}` does not assemble for {_few(lacking)}")
            if gained - moved:
                return NoFix(f"the edit would change which targets compile line {old.at[0]}")
        return None

    def gate(
        self, text: str, gate: Gate, sets: Sets, change: WantedChange, evidence: str, also: tuple[Gate, ...] = ()
    ) -> Proof | NoFix:
        """The proof that a test holds on exactly the chips of `change`, and nothing else moves but `also`."""
        edited = edited_module(self.module, text)
        here = _index(self.module.gates, gate)
        if here is None or not self._same_outline(edited, frozenset()):
            return NoFix("the edited file has other checks than before")
        # in a world that has evaluated nothing yet, since an interpreter reports a clash of types only once
        after = self.tree.edited(edited).sets(edited, edited.gates[here])
        if after is None:
            return NoFix("the edited test does not read the device any more")
        if said := change.missed(sets, after) or self._other_gates(edited, (gate, *also), change):
            return said
        return Proof(sets.may.names, sets.must.names, after.may.names, after.must.names, evidence)

    def _other_gates(self, edited: Module, gates: tuple[Gate, ...], change: WantedChange) -> NoFix | None:
        """Other tests stay as they are; what stands below this one, or reads its flag, moves on its chips at most."""
        after_tree = self.tree.edited(edited)
        chains, leaves = {gate.chain for gate in gates}, {gate.leaf for gate in gates}
        for other, other_after in zip(self.module.gates, edited.gates, strict=True):
            old, new = self.before.sets(self.module, other), after_tree.sets(edited, other_after)
            if other == gates[0] or old == new:
                continue
            if old is None or new is None or not shifted(old, new) <= change.chips:
                return NoFix(f"the edit would also change the test at line {other.at[0]}")
            if shifted(old, new) and other.chain not in chains and other.leaf not in leaves and other not in gates:
                return NoFix(f"the edit would also change the test at line {other.at[0]}")
        return None

    def _same_outline(self, edited: Module, mended: frozenset[int | None]) -> bool:
        """Whether guards other than the edited ones read as before, and gates and needs are those that were there."""
        mine, its = self.module, edited
        if len(mine.guards) != len(its.guards) or len(mine.gates) != len(its.gates):
            return False
        guards = zip(mine.guards, its.guards, strict=True)
        if any(a.text != b.text for index, (a, b) in enumerate(guards) if index not in mended):
            return False
        gates = zip(mine.gates, its.gates, strict=True)
        if any(outline(a) != outline(b) for a, b in gates):
            return False
        return [outline(one) for one in needs(mine)] == [outline(one) for one in needs(its)]


def _filled(source: str, module: Module, tree: Tree) -> Iterator[tuple[str, TargetSet, TargetSet]]:
    """The functions of a file: for which targets there is one, and for which something stands in it."""
    file = cut(source)
    for scope in file.places.functions:
        bodies = stretches(file, scope)
        left = TargetSet.union(tree.compiled(module, path) for path in bodies)
        yield scope.name, tree.compiled(module, file.found.path(scope.open)), left


def needs(module: Module) -> list[Operation]:
    """What a file asks of a device; the names of parts in it are none of that."""
    return [one for one in module.operations if one.kind != "mention"]


def _index(gates: tuple[Gate, ...], gate: Gate) -> int | None:
    return next((index for index, other in enumerate(gates) if other == gate), None)


def _moved(old: TargetSets, new: TargetSets) -> TargetSet:
    found = NO_TARGET
    for before, after in ((old.may, new.may), (old.must, new.must), (old.live, new.live)):
        found |= (before - after) | (after - before)
    return found


def _few(targets: TargetSet) -> str:
    names = targets.names
    return ", ".join(names[:4]) + (" and more" if len(names) > 4 else "") if names else "no target"
