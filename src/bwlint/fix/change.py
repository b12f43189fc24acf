"""The change a fix must make: which chips to let in or keep out, relative to their family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bwlint.chips import NONE, Chip, ChipSet, siblings
from bwlint.chips.wording import plain
from bwlint.model.findings import Fix, NoFix
from bwlint.world.tree import Sets


@dataclass(frozen=True, slots=True)
class WantedChange:
    """`chips` are to be treated as their `twins`, if it has any; `wanted` is the set of the test afterwards."""

    kind: Literal["family", "type", "admit", "bound"]
    wanted: ChipSet
    chips: ChipSet
    twins: ChipSet

    @classmethod
    def between(
        cls, sets: Sets, wanted: ChipSet, beyond: Literal["admit", "bound"] | None = None
    ) -> WantedChange | NoFix:
        """The change from the sets of a gate to the wanted one; `beyond`: it does more than to complete a family."""
        held = sets.core or (sets.may if beyond == "admit" else NONE)
        gained, lost = wanted - held, held - wanted
        if not gained and not lost:
            return NoFix(f"nothing to do: the check is true on {wanted} already")
        if gained and lost:
            return NoFix("the set wanted both gains and loses chips")
        twins = NONE
        for chip in gained or lost:
            own = siblings(chip) & (held if gained else ~held) & ~ChipSet.of(chip.name)
            if not own and any(clash.certain for clash in sets.clashes):
                return cls("type", wanted, gained or lost, NONE)
            if not own and beyond is not None:
                return cls(beyond, wanted, gained or lost, NONE)
            if not own:
                return NoFix(f"nothing here shows that a sibling of {chip.name} is wanted")
            twins |= own
        return cls("family", wanted, gained or lost, twins)

    @property
    def title(self) -> str:
        if self.kind == "type":
            return "Compare the capability with tuples"
        if self.kind == "admit":
            return f"Let {plain(self.chips)} in"
        if self.kind == "bound":
            return f"Keep {plain(self.chips)} out"
        return f"Treat {_listed(self.chips)} like {_listed(self.twins)}"

    def beside(self, chip: Chip) -> tuple[Chip, ...]:
        """The chips to be written beside `chip`: those of its family that change."""
        return tuple(siblings(chip) & self.chips - ChipSet.of(chip.name))

    def missed(self, before: Sets, after: Sets) -> NoFix | None:
        """Why an edited test is not the one that is wanted, or is another one on other chips."""
        held = after.core or (after.may if self.kind == "admit" else NONE)
        if held != self.wanted:
            wrong = held - self.wanted | self.wanted - held
            reason = f"bwlint knows no edit that is right on {' and '.join(wrong.names)}: edit it by hand"
            return NoFix(reason, technical=True)
        if after.live != before.live or not shifted(before, after) <= self.chips:
            return NoFix("the edit would change the test on other chips")
        return None


def unsafe(fix: Fix, doubt: str) -> Fix:
    """A fix that a person is to look at, for one more reason."""
    told, before, others = fix.proof.evidence.partition(" (unsafe: ")
    doubts = f"{others.removesuffix(')')}; {doubt}" if before else doubt
    proof = replace(fix.proof, evidence=f"{told} (unsafe: {doubts})".lstrip())
    return replace(fix, applicability="unsafe", proof=proof)


def shifted(old: Sets, new: Sets) -> ChipSet:
    """The chips on which an outcome is another than before."""
    found = NONE
    for before, after in ((old.may, new.may), (old.must, new.must), (old.core, new.core), (old.raises, new.raises)):
        found |= before - after | after - before
    return found


def _listed(chips: ChipSet) -> str:
    return " and ".join(chips.names)
