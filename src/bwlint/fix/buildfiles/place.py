"""One list, flag or condition of a build file that is to be mended, and what is known of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.chips import NONE, Chip, ChipSet, Target, all_chips, known_targets, siblings
from bwlint.chips.toolkits import every_toolkit, first_toolkit, version, within
from bwlint.chips.wording import plain
from bwlint.fix import Job
from bwlint.fix.buildfiles.proof import reached, stated
from bwlint.fix.buildfiles.spellings import TargetToken, tokens
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import comments, said_exactly, said_not_to_be
from bwlint.judging.compiled import Behind, behind
from bwlint.model.facts import Carry
from bwlint.model.findings import NoFix
from bwlint.model.kinds import ACCEPTING
from bwlint.readers.buildfiles import is_cmake
from bwlint.sources.read import SourceText, Unread, read_bytes
from bwlint.sources.search import search_of
from bwlint.sources.tree import checkout_folder, package_root
from bwlint.world.builds import takes_family

_OF_CUDA = re.compile(r"(?i)cuda|nvcc|toolkit|cu1[0-9]|major, minor")
_RELEASE = re.compile(
    r"(?<![\d.])(?:cu)?(?P<major>1[0-9])(?:\.|, |(?<=cu1[0-9]))(?P<minor>[0-9])(?:\.[0-9]{1,2})?(?![\d]|\.\d)"
)
"""12.8, 12.8.1, (12, 8), cu128."""
_COMPILES = re.compile(r"(?i)(?:docker|container)file[^/]*$|\.ya?ml$")
"""Build files that say with which toolkits a tree is compiled: images and workflows."""


@dataclass(frozen=True, slots=True)
class CarryPlace:
    """It is to reach `gains` too, or not `losses`; neither: it lacks a suffix. `code` is what it compiles."""

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
            return NoFix("several lists stand in that place")
        if carry.kind == "file":
            return NoFix("a compiler wrote this PTX: compile it again for another target")
        change = WantedChange("family", job.remedy.chips, gains | losses, twins(before, gains | losses))
        alone = carry.name == "" or change.twins
        lists = [carry] if alone else [one for one in stated(job.module) if one.name == carry.name]
        said = said_exactly(" ".join(comments(job.source, one.at) for one in lists), change)
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

    def native(self) -> Target | None:
        """The target that all wanted chips load, with the suffix of the family if all others have one."""
        first = min(self.gains, key=lambda chip: chip.joined)
        new = Target(first.joined)
        late = [target for target in sass(self.carry) if target.chip.suffixes]
        if len(late) > 1 and all(target.suffix for target in late):
            new = Target(first.joined, "f")
            if not self.known_everywhere(new) or not self.reader_takes(new):
                return None
        return new if self.gains <= new.loads_on() else None

    def wanting(self) -> Target | None:
        """The target that would serve those who are to be gained."""
        held = twins(reached(self.carry), self.gains)
        if not self.gains or self.carry.kind in ACCEPTING:
            return None
        lowest = min((*held, *self.gains), key=lambda chip: chip.joined)
        return Target(lowest.joined, "f" if held and has(lowest, "f") else "")

    def together(self) -> tuple[Target, ...]:
        same = [one for one in self.stated if one.name == self.carry.name and one.kind == self.carry.kind]
        return tuple(target for one in same if within(one.toolkit) & within(self.carry.toolkit) for target in sass(one))

    def known_everywhere(self, target: Target) -> bool:
        """Whether every toolkit that the branch allows has a target."""
        first = first_toolkit(target)
        return first is not None and all(version(one) >= version(first) for one in within(self.carry.toolkit))

    def too_old_for(self, target: Target) -> str:
        """A release that gets the list and does not know a target, "" where none is named; kernels are only offered."""
        first = first_toolkit(target)
        if first is None or self.carry.kind == "kernel":
            return ""
        asked = within(self.carry.toolkit) if self.carry.toolkit != ("", "") else named_releases(self.source)
        early = [one for one in asked if version(one) < version(first)]
        if early or self.carry.toolkit != ("", ""):
            return f"CUDA {max(early, key=version)}, which this is for too," if early else ""
        brings_its_own = self.carry.kind == "option" and bool(self.written(self.carry))  # a compiler at run time
        return "" if brings_its_own else next(self._compiled_with(first), "")

    def _compiled_with(self, first: str) -> Iterator[str]:
        """Releases before `first` that know what is listed today, with the places in the tree that build with them."""
        needs = max((one for own in sass(self.carry) if (one := first_toolkit(own))), key=version, default="0")
        search = search_of(checkout_folder(package_root(self.job.module.path)), self.job.context.native.searches)
        builds = (one.real for one in search.files("build") if _COMPILES.search(one.real))
        for path in (*builds, f"{search.folder}/README.md", f"{self.job.module.path.rpartition('/')[0]}/README.md"):
            data = read_bytes(path)
            for number, line in enumerate((b"" if isinstance(data, Unread) else data).splitlines(), 1):
                for early in sorted(named_releases(line.decode("utf-8", "replace")), key=version, reverse=True):
                    if version(needs) <= version(early) < version(first):
                        yield f"CUDA {early}, which {path.removeprefix(search.folder)[1:]}:{number} names,"

    def late(self) -> tuple[Target, ...]:
        """The targets that the oldest toolkit of the branch does not know."""
        low = self.carry.toolkit[0]
        firsts = ((target, first_toolkit(target)) for target in (sass(self.carry) if low else ()))
        return tuple(target for target, first in firsts if first and version(first) > version(low))

    def too_early(self) -> str:
        low = self.carry.toolkit[0]
        plain_ones = " and ".join(str(chip.joined) for chip in twins(~self.gains, self.gains))
        lacks = f"CUDA {low}, which this branch allows, has no target of {plain(self.gains)}"
        return f"{lacks}: plain {plain_ones} loads there"

    def reader_takes(self, target: Target) -> bool:
        """A framework's own reader may refuse every f, and the author who says so in a comment too."""
        if said_not_to_be(self.source, target):
            return False
        return target.suffix != "f" or takes_family(self.job.module, self.carry)

    def outside(self) -> str:
        return f"{self.code.outside} is not in this tree" if self.code.outside else ""

    def lone(self) -> str:
        """What separates words of a command of CMake; elsewhere a second word may be another thing."""
        return " " if is_cmake(self.job.module.path) else ""

    def wanted(self) -> str:
        return f"Treat {' and '.join(self.gains.names)} like {' and '.join(twins(~self.gains, self.gains).names)}"


def named_releases(source: str) -> frozenset[str]:
    """The releases of CUDA that a file speaks of; what is a chip's number too is left to that."""
    chips = {chip.name for chip in all_chips()}
    lines = (line.partition("#")[0] for line in source.splitlines())
    found = (match for line in lines if _OF_CUDA.search(line) for match in _RELEASE.finditer(line))
    named = {f"{one['major']}.{one['minor']}" for one in found}
    return every_toolkit() & (named - chips)


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
