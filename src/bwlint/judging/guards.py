"""Guards of the preprocessor, evaluated on every compile target and lifted to the chips whose own targets pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from bwlint.chips import ChipSet, TargetSet
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.model.facts import Gate, Module, Operation, Side
from bwlint.model.kinds import REFUSING
from bwlint.world.tree import TargetSets, Tree


@dataclass(frozen=True)
class Guarded:
    module: Module
    guard: Gate
    sets: TargetSets

    @cached_property
    def denies(self) -> bool:
        """Whether passing the test means an error."""
        return self.guard.yes.ends in REFUSING and self.guard.no.ends not in REFUSING

    @cached_property
    def admitted(self) -> TargetSet:
        """The targets that may compile what the guard lets through."""
        return self.sets.live - self.sets.must if self.denies else self.sets.may

    @cached_property
    def certain(self) -> TargetSet:
        return self.sets.live - self.sets.may if self.denies else self.sets.must

    @property
    def working(self) -> Side:
        return self.guard.no if self.denies else self.guard.yes

    @property
    def other(self) -> Side:
        return self.guard.yes if self.denies else self.guard.no

    @cached_property
    def chips(self) -> ChipSet:
        """Chips one of whose own targets is admitted."""
        return self.admitted.chips

    @cached_property
    def refused(self) -> ChipSet:
        """Chips that get here and none of whose own targets is admitted."""
        return self.sets.live.chips - self.chips

    def claimed(self, targets: TargetSet) -> Claimed:
        """For which of some targets the test holds."""
        asked = targets & self.sets.live
        claim = claims.guard(self.guard.text, asked, self.sets.may, self.sets.must)
        return Claimed(claim, self.guard.at, self.module)

    def operations(self) -> Iterator[Operation]:
        """What the file needs of a device inside the working side."""
        at = self.working.at
        if at is not None:
            yield from (one for one in self.module.operations if at.holds(one.at))


def guards_of(tree: Tree, module: Module) -> tuple[Guarded, ...]:
    """The guards of a file that ask for the target, in file order."""
    found = ((guard, tree.target_sets(module, guard)) for guard in module.guards)
    return tuple(Guarded(module, guard, sets) for guard, sets in found if sets is not None)
