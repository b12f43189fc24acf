"""One list, flag or condition of a build file that is to be mended, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import NONE, Chip, ChipSet, Target, known_targets, siblings
from bwlint.chips.toolkits import first_toolkit, version, within
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.buildfiles.proof import reached, stated
from bwlint.fix.buildfiles.spellings import TargetToken, tokens
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import comments, said_exactly
from bwlint.judging.compiled import Behind, behind
from bwlint.model.facts import Carry
from bwlint.model.findings import NoFix
from bwlint.model.kinds import ACCEPTING
from bwlint.readers.buildfiles import is_cmake
from bwlint.sources.read import SourceText
from bwlint.world.builds import takes_family


@dataclass(frozen=True, slots=True)
class CarryPlace:
    """It is to reach `gains` too, or not `losses`; neither: it lacks a suffix.

    `index` is its place among the stated carries of the file, `code` what it compiles.
    """

    job: Job
    index: int
    carry: Carry
    gains: ChipSet
    losses: ChipSet
    code: Behind

    @classmethod
    def of(cls, job: Job, index: int) -> CarryPlace | NoFix:
        carry = stated(job.module)[index]
        before = reached(carry)
        gains, losses = job.remedy.chips - before, before - job.remedy.chips
        if gains and losses:
            return NoFix("the set wanted both gains and loses chips")
        if carry.kind == "file":
            return NoFix("PTX is written by a compiler, which has to be asked for another target")
        change = WantedChange("family", job.remedy.chips, gains | losses, twins(before, gains | losses))
        said = said_exactly(comments(job.source, carry.at), change)
        if said is not None:
            return said
        code = behind(job.context, job.module, carry) if carry.kind not in ACCEPTING else Behind(())
        return cls(job, index, carry, gains, losses, code)

    @property
    def source(self) -> str:
        return self.job.source

    @property
    def stated(self) -> tuple[Carry, ...]:
        return stated(self.job.module)

    def stretch(self, carry: Carry) -> tuple[int, int]:
        """Where a carry stands, as offsets."""
        text = SourceText(self.source)
        return text.bounds(text.region(*carry.at))

    def written(self, carry: Carry) -> tuple[TargetToken, ...]:
        return tokens(self.source, *self.stretch(carry))

    def mirrored(self, target: Target) -> tuple[Target, ...]:
        """The target with the suffix of its twin for each chip that is to be gained."""
        if not twins(ChipSet.joining([target.chip]), self.gains):
            return ()
        own = [chip for chip in self.gains if target.chip in siblings(chip)]
        return tuple(Target(chip.joined, target.suffix) for chip in own if has(chip, target.suffix))

    def together(self) -> tuple[Target, ...]:
        same = [one for one in self.stated if one.name == self.carry.name and one.kind == self.carry.kind]
        return tuple(target for one in same if within(one.toolkit) & within(self.carry.toolkit) for target in sass(one))

    def known_everywhere(self, target: Target) -> bool:
        """Whether every toolkit that the branch allows has a target."""
        first = first_toolkit(target)
        return first is not None and all(version(one) >= version(first) for one in within(self.carry.toolkit))

    def possible(self) -> bool:
        return possible(self.gains, self.carry)

    def too_early(self) -> str:
        low = self.carry.toolkit[0]
        plain_ones = " and ".join(str(chip.joined) for chip in twins(~self.gains, self.gains))
        lacks = f"CUDA {low}, which this branch allows, has no target of {plain(self.gains)}"
        return f"{lacks}: plain {plain_ones} loads there"

    def reader_takes(self, target: Target) -> bool:
        """A framework's own reader may refuse every f."""
        return target.suffix != "f" or takes_family(self.job.module, self.carry)

    def outside(self) -> str:
        return f"{self.code.outside} is not in this tree" if self.code.outside else ""

    def lone(self) -> str:
        """What separates words of a command of CMake; elsewhere a second word may be another thing."""
        return " " if is_cmake(self.job.module.path) else ""

    def wanted(self) -> str:
        return f"Treat {' and '.join(self.gains.names)} like {' and '.join(twins(~self.gains, self.gains).names)}"


def twins(have: ChipSet, missing: ChipSet) -> ChipSet:
    """Those of the chips that are of the family of one that is missing."""
    found = NONE
    for chip in missing:
        found |= siblings(chip) & have
    return found - missing


def has(chip: Chip, suffix: str) -> bool:
    """Whether a chip has a target with a suffix."""
    return suffix in ("", *chip.suffixes)


def possible(gains: ChipSet, carry: Carry) -> bool:
    """Whether no toolkit of a branch is too early for chips; kernels are only built for what is asked for."""
    low = carry.toolkit[0]
    firsts = [first for chip in gains if (first := chip.min_cuda) is not None]
    return carry.kind == "kernel" or all(not low or version(first) <= version(low) for first in firsts)


def sass(carry: Carry) -> Iterator[Target]:
    """The targets that a carry makes or accepts."""
    yield from known_targets(carry.sass)
