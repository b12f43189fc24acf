"""arch-target: what a build compiles for is not what its chips can load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from bwlint.chips import NONE, Chip, ChipSet, Target, TargetSet, group, known_targets, siblings, spelling, targets_of
from bwlint.chips.hosts import ARM, X86, without_host
from bwlint.chips.instructions import first_isa
from bwlint.chips.targets import Suffix, refusal, same_cubin
from bwlint.chips.toolkits import Toolkits, first_toolkit, version, within
from bwlint.chips.wording import called, capital, marked, plain, them
from bwlint.chips.words import families, nicknames, numbers
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.compiled import Behind, behind, elsewhere, loading, refused
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.legality import short
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import Claim, Confidence, NoFix, Severity
from bwlint.model.kinds import ACCEPTING, FLAGS, ONE_EXTENSION, CarryKind
from bwlint.world.builds import named_for, of_framework, pair_of, pairs_of, takes_family

_MOST_DIGITS = 3
"""Of the number of a chip; one with another in a flag is `__CUDA_ARCH__`, or a slip."""
_NUMBERS = re.compile(r"\d+[af]?")
_ISA = re.compile(r"\d\.\d")
_EXAMPLE = re.compile(r"(?:^|/)examples?/")
_SPARSE_FP4 = re.compile(r"fp4.*sparse|sparse.*fp4", re.I)
_OF_TORCH = re.compile(r"torch_cuda_arch_list", re.I)
_TAKEN_AS_IT_IS = re.compile(r"torch_cuda_arch_list|CMAKE_CUDA_ARCHITECTURES$", re.I)
NO_FAMILY = "no target for the family here"
_HOPPER = 90
_CARDS = group("small-shared")
_NEW = group("blackwell-and-newer")
_TRIES = re.compile(r"(?:^|[^a-z])(?:ci|tests?|lint|nightly|pre-?commit|checks?)(?![a-z])", re.I)
"""Files that say what a project tries out for itself, and not what it ships."""
_WORKFLOW = ".github/workflows/"
_OF_CI = re.compile(
    r"\.(?:github/workflows|azure-pipelines|buildkite|circleci)/|\.gitlab-ci|(?:^|[^a-z])ci(?![a-z])", re.I
)
_SHIPS = re.compile(r"releas|publish|wheel|pypi|packag|deploy|upload", re.I)
_FEW = 3
_MOST_COPIES = 8
_NOWHERE = Span(0, 0, 0, 0)
_TRIED = "tests and examples are built for the chip that they are tried on"
_MAKES_NOTHING = "a list of names that a build may ask for makes nothing by itself"
INERT = "Its only extension has flags of its own, and this list changes nothing."
"""With what the message of a list ends that no build looks at."""


@dataclass(frozen=True, eq=False)
class _Built:
    """A carry with its targets, as far as they are known."""

    carry: Carry

    @cached_property
    def sass(self) -> tuple[Target, ...]:
        return tuple(known_targets(self.carry.sass))

    @cached_property
    def ptx(self) -> tuple[Target, ...]:
        return tuple(known_targets(self.carry.ptx))

    @cached_property
    def every(self) -> tuple[Target, ...]:
        return tuple(dict.fromkeys((*self.sass, *self.ptx)))

    @cached_property
    def named(self) -> ChipSet:
        return _own_chips(self.every)

    @cached_property
    def loads(self) -> ChipSet:
        return ChipSet.union(target.loads_on() for target in self.sass)

    @cached_property
    def jits(self) -> ChipSet:
        return ChipSet.union(target.jits_on() for target in self.ptx)

    @cached_property
    def toolkits(self) -> Toolkits:
        return within(self.carry.toolkit)


@dataclass(frozen=True, eq=False)
class _Together:
    """Carries that add up under some toolkits."""

    members: tuple[_Built, ...]
    toolkits: Toolkits

    @cached_property
    def every(self) -> tuple[Target, ...]:
        return tuple(dict.fromkeys(target for one in self.members for target in one.every))

    @cached_property
    def loads(self) -> ChipSet:
        return ChipSet.union(one.loads for one in self.members)

    @cached_property
    def jits(self) -> ChipSet:
        return ChipSet.union(one.jits for one in self.members)

    @cached_property
    def named(self) -> ChipSet:
        return _own_chips(self.every)

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pair for one in self.members for pair in pairs_of(one.carry)))

    @cached_property
    def pairs_without_ptx(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pair for one in self.members for pair in pairs_of(one.carry, ptx=False)))

    @cached_property
    def moments(self) -> tuple[_Together, ...]:
        """What is compiled at a time, each with the toolkits under which just that is."""
        found: dict[tuple[_Built, ...], Toolkits] = {}
        for release in sorted(self.toolkits, key=version):
            active = tuple(one for one in self.members if release in one.toolkits)
            found[active] = found.get(active, frozenset()) | {release}
        return tuple(_Together(active, toolkits) for active, toolkits in found.items())


@dataclass(frozen=True)
class _AskedList:
    place: _Built
    why: str


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    if not module.carries or (module.path.endswith(".py") and context.in_test(module)):
        return
    found = _faults(context, module)
    retired = context.builds.retired(module.path)
    yield from (replace(one, severity="note") for one in found) if retired else found


def _faults(context: Context, module: Module) -> Iterator[Draft]:
    stated = (
        _Built(carry) for carry in module.carries if not carry.is_a("extension", "inherited", "asked")
    )  # made of others
    file = _BuildFile(context, module, tuple(built for built in stated if built.toolkits))
    for built in file.built:
        if file.copied(built):
            continue
        yield from file.faults(built)
        if built.carry.kind in ACCEPTING:
            yield from file.refused(built)
        elif built.carry.kind == "file":
            yield from file.compiled(built)
        elif built.carry.kind == "ceiling":
            yield from file.ended(built)
        else:
            yield from file.covered(built)


@dataclass(frozen=True)
class _BuildFile:
    context: Context
    module: Module
    built: tuple[_Built, ...]
    _sums: dict[tuple[tuple[str, str], Toolkits], _Together] = field(default_factory=dict)

    @property
    def _place(self) -> str:
        return self.context.places.get(self.module.path, "")

    def copied(self, built: _Built) -> bool:
        """Whether the list stands above under the same name: its fault is reported there."""
        return self._copies(built)[0] is not built

    def _asked(self, built: _Built) -> ChipSet:
        """The chips that something is asked for: who builds for x86_64 has none that aarch64 hosts alone have."""
        left_out = group("arm-hosts") if built.carry.host == X86 else NONE
        return self.context.targets - left_out

    def _copies(self, built: _Built) -> Sequence[_Built]:
        """The places of one list."""
        return self._lists.get(replace(built.carry, at=_NOWHERE), ()) or (built,)

    @cached_property
    def _lists(self) -> dict[Carry, list[_Built]]:
        """What is asked for by one name, where everything but the place is the same."""
        found: dict[Carry, list[_Built]] = {}
        for one in self.built:
            if one.carry.kind == "request" and one.carry.name:
                found.setdefault(replace(one.carry, at=_NOWHERE), []).append(one)
        return found

    def _of_ci(self, carry: Carry) -> bool:
        """Whether the file builds for machines of the project itself, and ships nothing; one for all jobs may."""
        told = self._place if _WORKFLOW in self._place else f"{self._place} {carry.qualname}"
        return _OF_CI.search(self._place) is not None and not _SHIPS.search(told)

    def faults(self, built: _Built) -> Iterator[Draft]:
        """What no toolkit, or not every toolkit of the branch, compiles."""
        carry = built.carry
        for name in (*carry.sass, *carry.ptx):
            if fault := _unknown(name, carry.kind):
                yield self._draft(
                    built,
                    severity="error",
                    confidence="high",
                    message=fault,
                    label="no such target",
                    advice="Write a target that nvcc knows.",
                    claim=claims.refused([f"compute_{name},sm_{name}"]),
                    remedy=NoFix("which target was meant is not known"),
                )
        if carry.kind == "gencode":
            yield from self._pair(built)
        if carry.is_a("list", "request", "gencode"):
            yield from self._twice(built)
        if not carry.is_a("kernel", "match"):
            yield from self._too_early(built)

    def _pair(self, built: _Built) -> Iterator[Draft]:
        for arch in known_targets([built.carry.text]):
            for code in built.sass:
                if words := refusal(arch, code):
                    yield self._draft(
                        built,
                        severity="error",
                        confidence="high",
                        message=f"This pair does not compile: `{words}`.",
                        label="refused",
                        advice="Use the same target for arch and code.",
                        claim=claims.refused([pair_of(arch, code)]),
                        remedy=NoFix("which of the two targets was meant is not known"),
                    )

    def _twice(self, built: _Built) -> Iterator[Draft]:
        """Two targets of one number that nvcc does not make together, in a list or in the flags of one line."""
        earlier = list(dict.fromkeys(self._beside(built)))
        for one in built.sass:
            for other in (other for other in earlier if same_cubin(one, other)):
                yield self._draft(
                    built,
                    severity="error" if built.carry.kind == "list" else "warning",
                    confidence="medium",
                    message=f"One list has {other} and {one}, and nvcc refuses both in one build: `The same GPU code "
                    "generated for non family-specific and family-specific GPU arch`.",
                    label=f"{other} and {one}",
                    advice=f"Keep {_short(one if one.suffix else other)} only.",
                    claim=claims.refused([pair_of(other, other), pair_of(one, one)]),
                    remedy=NoFix("whether anything here needs the plain target, for its PTX, is not known"),
                )
            earlier.append(one)

    def _beside(self, built: _Built) -> Iterator[Target]:
        """The targets of the flags in front of one on its line: they go to one nvcc."""
        for one in self._flags_by_line.get(built.carry.at[0], ()) if built.carry.kind == "gencode" else ():
            if one is built:
                return
            if one.toolkits & built.toolkits:
                yield from one.sass

    @cached_property
    def _flags_by_line(self) -> Mapping[int, list[_Built]]:
        found: dict[int, list[_Built]] = {}
        for one in self.built:
            if one.carry.kind == "gencode":
                found.setdefault(one.carry.at[0], []).append(one)
        return found

    def _too_early(self, built: _Built) -> Iterator[Draft]:
        """Targets of Blackwell and newer in front of their first toolkit; what older ones need is nothing of ours."""
        low, high = built.carry.toolkit
        late: dict[str, list[Target]] = {}
        for target in built.every:
            first = first_toolkit(target)
            if (
                first
                and target.chip in _NEW
                and ((low and version(first) > version(low)) or (not low and high and version(first) >= version(high)))
            ):
                late.setdefault(first, []).append(target)
        if not late or (not low and self._comes_back(built)):
            return
        last = max(late, key=version)
        needs = " and ".join(f"{_listed(targets)} from {first} on" for first, targets in late.items())
        since = f"from CUDA {low} on" if low else f"below CUDA {high}"
        asked = built.carry.kind in ACCEPTING
        every = [target for targets in late.values() for target in targets]
        said = " and ".join(f"{target} is not known before CUDA {first}" for first in late for target in late[first])
        whole = low.endswith(".0") and high.endswith(".0")  # who asks for 12 may have no old 12 in mind
        yield self._draft(
            built,
            severity="note" if asked or whole else "warning",
            confidence="high",
            message=f"This {'takes' if asked else 'also runs with'} CUDA {low or f'before {high}'}, whose nvcc "
            f"{'does not know' if asked else 'fails on'} {_listed(every)}. nvcc knows {needs}.",
            label=since,
            advice=f"Move {_listed(every)} to a branch for CUDA {last} or newer, or build with that.",
            claim=claims.other(said, _own_chips(every), _listed(every)),
            remedy=self._moving(built, last),
        )

    def _moving(self, built: _Built, last: str) -> Remedy | NoFix:
        """To where the toolkit knows them; each is given what it was given and knows, so nothing is lost by that."""
        if built.carry.kind == "match" or not built.carry.toolkit[0]:
            return NoFix("which CUDA releases you build with is your choice")
        kept = built.named if built.carry.kind in ACCEPTING else built.loads
        return Remedy("carry", kept, evidence=f"nvcc before {last} stops at these names")

    def refused(self, built: _Built) -> Iterator[Draft]:
        """A list of accepted names, or a condition over names, that knows one chip of a family and not the other."""
        group_of = self._together(built)
        named = group_of.named
        yield from self._unfinished(built, group_of)
        if built.carry.kind == "filter":
            yield from self._nothing(built, group_of)
        for family, present, missing in _split(self._asked(built), named):
            mine = [target for target in built.every if target.chip in present]
            if not mine or not _possible(missing, built.toolkits) or self._earlier(built, group_of, present):
                continue
            if built.carry.kind == "match" and self._asked_apart(built, present, missing):
                continue
            exact = any(target.suffix for target in group_of.every if target.chip in present)
            sure = exact or built.carry.refuses or self._offered(built, missing, exact=True)
            verb = "is true for" if built.carry.kind == "match" else "accepts"
            suffixed = [_short(target) for chip in missing for target in targets_of(chip) if target.suffix]
            names = " and ".join(suffixed) if exact else plain(missing)
            yield self._draft(
                built,
                severity="warning" if sure else "note",
                confidence="medium",
                message=f"This {verb} {_listed(mine)} and no target of {called(missing)}. "
                f"{_drops(built.carry, missing)}",
                label=f"no {plain(missing)} here",
                advice=f"Accept {names} too, unless the code is meant for {marked(present)} only.",
                claim=_left_out(verb, group_of, present, missing),
                covered=named & family,
                remedy=self._accepting(built, exact, present, missing),
            )

    def _unfinished(self, built: _Built, together: _Together) -> Iterator[Draft]:
        """A list of accepted names with both chips of a family, and not with all suffixes for both."""
        if built.carry.kind == "match":
            yield from self._without_family(built)
            return
        for family in _families(self.context.targets):
            last = next((one for one in reversed(together.members) if one.named & family), None)
            if built is not last:
                continue
            mine = [target for target in together.every if target.chip in family]
            suffixed = {target.chip for target in mine if target.suffix}
            wanted = [
                Target(chip.joined, target.suffix)
                for chip in suffixed
                for target in mine
                if target.suffix in chip.suffixes
            ]
            lacking = sorted({target for target in wanted if target not in mine}, key=_short)
            if len(suffixed) < 2 or not lacking:
                continue
            yield self._draft(
                built,
                severity="note",
                confidence="low",
                message=f"This accepts {_listed(mine)} and not {_listed(lacking)}. "
                "A build that asks for those loses them.",
                label=f"no {_listed(lacking)} here",
                advice=f"Accept {_listed(lacking)} too.",
                claim=claims.other(f"no name that is accepted is {_listed(lacking)}", _own_chips(lacking)),
                covered=together.named & family,
                remedy=Remedy("carry", built.named, evidence=_MAKES_NOTHING),
            )

    def _without_family(self, built: _Built) -> Iterator[Draft]:
        """A condition that holds for the exact targets of both chips and not for the one target that serves both."""
        for asked in _families(self.context.targets):
            mine = [target for target in built.every if target.chip in asked]
            first = min(asked, key=lambda chip: chip.joined)
            if "f" not in first.suffixes:
                continue
            wider = Target(first.joined, "f")
            exact = {target.chip for target in mine if target.suffix == "a"}
            some_plain = len({target.chip for target in mine if not target.suffix}) == 1  # which loads on the other too
            forgets = len(exact) > 1 and not some_plain and not any(target.suffix == "f" for target in mine)
            if not forgets or not asked <= wider.loads_on():
                continue
            sparse = any(_SPARSE_FP4.search(source) for source in built.carry.sources)
            yield self._draft(
                built,
                severity="note" if sparse else "warning",
                confidence="low" if sparse else "medium",
                message=f"This condition is true for {_listed(mine)} and false for {_short(wider)}, which loads on"
                f" {plain(asked)}. A build for {_short(wider)} skips it."
                f"{' Sparse FP4 mma needs an exact target.' * sparse}",
                label=NO_FAMILY,
                advice=f"Accept {_short(wider)} too, unless the code needs an exact target.",
                claim=claims.other(f"this is false for {_short(wider)}", asked),
                covered=_own_chips(built.every),
                remedy=self._admitting_the_family(built),
            )

    def _admitting_the_family(self, built: _Built) -> Remedy:
        """Tests and examples are there to be run; what else stands behind a condition has to be looked at."""
        unsafe = None if self._is_tried else "nothing here shows that the code behind it compiles for the family"
        return Remedy("carry", built.named, evidence=_TRIED * self._is_tried, unsafe=unsafe)

    @property
    def _is_tried(self) -> bool:
        return self.context.in_test(self.module) or _EXAMPLE.search(self._place) is not None

    def _accepting(self, built: _Built, exact: bool, present: ChipSet, missing: ChipSet) -> Remedy | NoFix:
        """A list of names makes nothing by itself; a condition does, and tests and examples are there to be run."""
        evidence, unsafe = _MAKES_NOTHING, None
        if built.carry.kind == "match" and self._is_tried:
            evidence = _TRIED
        elif built.carry.kind == "match":
            evidence, unsafe = "", f"nothing here shows that the code behind it works on {plain(missing)}"
        elif built.carry.sources:
            evidence, unsafe = "", f"nothing here shows that its sources work on {plain(missing)}"
        if not exact:
            asked = f"needed only by builds that ask for {plain(missing)} by name"
            enough = f"{asked}: a plain build for {plain(present)} runs there too"
            if not (unsafe or self._offered(built, missing)):
                return NoFix(enough)
            unsafe = unsafe or enough
        return Remedy("carry", built.named | missing, evidence=evidence, unsafe=unsafe)

    def _offered(self, built: _Built, missing: ChipSet, *, exact: bool = False) -> bool:
        """Whether a kernel of the file is offered for just these chips under the toolkits of a list of names.

        `exact`: and nothing else that it is offered for serves them.
        """
        kernels = [one for one in self.built if one.carry.kind == "kernel" and one.toolkits & built.toolkits]
        if exact:
            kernels = [one for one in kernels if all(t.suffix == "a" for t in one.sass if t.loads_on() & missing)]
        return any(target.chip in missing and target.suffix for one in kernels for target in one.sass)

    def _asked_apart(self, built: _Built, present: ChipSet, missing: ChipSet) -> bool:
        """Whether another condition of the file holds for the others, so that each has one of its own."""
        shape = _NUMBERS.sub("#", built.carry.name)
        same = (one for one in self.built if one.carry.kind == "match" and _NUMBERS.sub("#", one.carry.name) == shape)
        return any(missing <= one.named and not present & one.named for one in same)

    def _earlier(self, built: _Built, together: _Together, present: ChipSet) -> bool:
        """Whether a piece above has been reported for the same list."""
        return next(one for one in together.members if one.named & present) is not built

    def compiled(self, built: _Built) -> Iterator[Draft]:
        """A file of PTX, which a driver compiles."""
        if target := next((one for one in built.ptx if _is_too_old(built.carry.text, one)), None):
            yield self._of_old_ptx(built, target)
            return
        for _, present, missing in _split(self._asked(built), built.jits):
            yield self._draft(
                built,
                severity="note",
                confidence="high",
                message=f"PTX for {_listed(built.ptx)} compiles on {marked(present)} and not on {called(missing)}.",
                label=f"for {plain(present)} only",
                advice=self._wider(built, built.ptx, missing),
                claim=claims.image(missing),
                covered=built.jits,
                remedy=NoFix("a compiler wrote this PTX: compile it again for another target"),
            )

    def _of_old_ptx(self, built: _Built, target: Target) -> Draft:
        said = f"PTX .version {built.carry.text} does not support .target {target}"
        major, minor = first_isa(target) or (0, 0)
        return self._draft(
            built,
            severity="error",
            confidence="high",
            message=f'This file does not assemble. ptxas: "{said}".',
            label="newer than its .version",
            advice=f"Write .version {major}.{minor} (CUDA {first_toolkit(target)}) or later.",
            claim=claims.other(said, target.jits_on()),
            remedy=NoFix("nothing here shows that the compiler knows the later version"),
        )

    def covered(self, built: _Built) -> Iterator[Draft]:
        """What a build makes, against what the chips load."""
        together = self._together(built)
        halves = (self._halves(built, active) for active in together.moments)
        found = next((drafts for drafts in map(list, halves) if drafts), [])
        yield from found or self._nothing(built, together)
        yield from self._plain_among_suffixed(built)
        yield from self._wrong_sources(built)

    def _halves(self, built: _Built, active: _Together) -> Iterator[Draft]:
        """One chip of a family is served and the other not, by what is compiled together under some toolkits."""
        for _, present, missing in _split(self._asked(built), active.loads):
            mine = [target for target in built.sass if target.loads_on() & present]
            if not mine or not _possible(missing, active.toolkits) or _of_its_host(built.carry, present, missing):
                continue
            asked = self.context.let_in(self.module, built.carry.at) if built.carry.kind in FLAGS else NONE
            if asked and not asked & missing:
                continue  # the test in front is the fault
            if any(one.carry.leads_to(built.carry.at) and not one.named & missing for one in self.built):
                continue
            alone = built.carry.kind == "request" and len(built.every) == 1
            compiled = missing & active.jits
            sure = not compiled and not alone and any(target.suffix == "a" for target in mine)
            left = (
                f"{called(missing)} gets PTX, which the driver compiles at first use"
                if compiled
                else f"This build has nothing for {called(missing)}"
            )
            left += "" if active.toolkits == built.toolkits else f" under CUDA {_named(active.toolkits)}"
            yield self._draft(
                built,
                severity="warning" if sure else "note",
                confidence="high" if built.carry.kind == "kernel" else "medium",
                message=f"Only {marked(present)} loads {', '.join(map(str, mine))}. {left}.",
                label=f"for {plain(present)} only",
                advice=self._wider(built, mine, missing),
                claim=claims.build(active.pairs_without_ptx if compiled else active.pairs, missing),
                covered=active.loads | active.jits,
                remedy=self._completing(built, missing, alone=alone),
            )

    def _only_shows(self, carry: Carry, asked: ChipSet) -> bool:
        """Whether a list is that of an example, or another card has one of its own."""
        return _EXAMPLE.search(self._place) is not None or self._split_by_card(carry, asked)

    def _split_by_card(self, carry: Carry, asked: ChipSet) -> bool:
        """Whether a comment of the file, or a file beside it that is called after a card, has the list for that."""
        if loading(carry.aside) & asked:
            return True
        card = _called(asked)
        if not carry.name or card.search(self._place.rpartition("/")[2]):
            return False
        others = self.context.builds.beside(self.module.path, card)
        return any(loading(one.sass) & asked for module in others for one in module.carries if one.name == carry.name)

    def _completing(self, built: _Built, missing: ChipSet, *, alone: bool) -> Remedy:
        """Builds make code: that the other chip runs it has to be shown by another build of the same sources."""
        wanted = built.loads | missing
        shown = elsewhere(self.context, self.module, built.carry, built.loads & _relatives(missing) | missing)
        asked = self.context.let_in(self.module, built.carry.at) if built.carry.kind in FLAGS else NONE
        if asked and asked <= missing:
            return Remedy("carry", wanted, evidence=f"only {plain(asked)} gets there, and loads nothing of it")
        if alone:
            return Remedy("carry", wanted, evidence=shown or "", unsafe="a build may be meant for one chip alone")
        code = behind(self.context, self.module, built.carry) if shown is None else Behind(())
        if code.modules and not code.outside:
            shown = "all that is compiled here is in this tree, and assembles for each member of the family"
        doubt = f"nothing in this tree shows that {plain(missing)} runs what is built here"
        return Remedy("carry", wanted, unsafe=doubt) if shown is None else Remedy("carry", wanted, evidence=shown)

    def _nothing(self, built: _Built, together: _Together) -> Iterator[Draft]:
        """A list for everybody that has nothing for the asked chips, or only PTX."""
        asked = self._asked(built)
        loads, jits, every = together.loads, together.jits, together.every
        possible = any(_possible(ChipSet.of(chip.name), built.toolkits) for chip in asked)
        if not possible or loads & asked or built is not together.members[-1]:
            return
        if jits & asked == asked:
            names = _listed([target for one in together.members for target in one.ptx if target.jits_on() & asked])
            steps = _steps(together.members) or self._branches(built)
            last = max(steps, key=version, default="")
            if not last:
                return  # who ships PTX asks for what its driver does
            message = f"Nothing here is built for {called(asked)}. The driver compiles the PTX of {names} at first use."
            message += f" Each toolkit up to {last} gets the chips it knows, and later ones get none."
            yield self._draft(
                built,
                severity="warning" if len(steps) > 1 else "note",
                confidence="medium",
                message=message,
                label="PTX only",
                advice=self._native(built, asked),
                claim=_without_cubins(together, asked),
                covered=jits,
                remedy=self._growing(built, asked),
            )
            return
        beside, alone = self._beside_x86(built), self._is_alone(built, together)
        meant = _for_everybody(built.carry, every) and not self._older(built) and not self._served(built)
        if beside is None and not alone and not meant:
            return
        decided = self._decided_by_flags(built)
        expected = None if decided or alone else beside or self._expected(built, together)
        if expected is None and built.carry.is_a("kernel", "filter"):
            return  # who offers a kernel knows what it needs
        highest = max(every, key=lambda target: target.number)
        accepts = built.carry.kind == "filter"
        last = _spelled(built.carry, [highest.chip], highest.suffix)
        message = f"This build names {last} only." if alone else f"This list ends at {last}."
        lost = f"It makes no cubin and no PTX that {called(asked)} can load."
        message += f" {_drops(built.carry, asked) if accepts else lost}"
        message += f" {INERT}" if decided else ""
        yield self._draft(
            expected.place if expected else built,
            severity="warning" if expected and not self._only_shows(built.carry, asked) else "note",
            confidence="medium" if expected else "low",
            message=f"{message} {expected.why}" if expected and expected.why else message,
            label=f"nothing for {plain(asked)}",
            advice=self._native(built, asked),
            claim=claims.build(together.pairs, asked - jits),
            covered=loads | jits,
            remedy=self._growing(expected.place if expected else built, asked, alone=alone),
        )

    def _growing(self, built: _Built, asked: ChipSet, *, alone: bool = False) -> Remedy | NoFix:
        """One target more, which all members of the family load: a larger build, so that its maker has to want it."""
        carry, first = built.carry, min(asked, key=lambda chip: chip.joined)
        if alone:
            return NoFix("a build for one chip may be meant for that machine")
        if built.loads & asked:
            return NoFix("the check ends at these CUDA releases: whether you build with later ones is your choice")
        if carry.kind == "filter":
            return NoFix(f"these names decide what is built: whether it serves {plain(asked)} is your choice")
        wanted = built.loads | Target(first.joined).loads_on()
        return Remedy(
            "carry", wanted, unsafe=f"one more target makes the build larger: decide whether it is for {plain(asked)}"
        )

    def _branches(self, built: _Built) -> set[str]:
        """The toolkit from which on a list is this one, where earlier ones have others and no later one has."""
        low, high = built.carry.toolkit
        others = {
            one.carry.toolkit for one in self.built if one.carry.is_a("request") and one.carry.name == built.carry.name
        }
        last = not high and len(others) > 1 and all(not one or version(one) <= version(low) for one, _ in others)
        return {low} if low and last else set()

    def _is_alone(self, built: _Built, together: _Together) -> bool:
        """Whether a whole build is for one chip, and neither the file nor its name is: nothing loads anywhere else."""
        carry, every = built.carry, together.every
        whole = carry.is_a("request") and _TAKEN_AS_IT_IS.search(carry.name) is not None
        of_python = self.module.language == "python"
        every_flag = not of_python or any(one.kind == "extension" for one in self.module.carries)
        flag = carry.kind == "gencode" and every_flag and not any(target.suffix for target in every)
        if not (whole or flag) or len({target.chip for target in every}) != 1:
            return False
        if self._of_ci(carry) or _TRIES.search(self._place):
            return False
        named = spelling.numbers(f"{self._place} {carry.name} {carry.qualname}")
        return not named and not any((one.loads | one.jits) & self._asked(one) for one in self.built)

    def ended(self, built: _Built) -> Iterator[Draft]:
        """The newest target that a toolkit is said to know, from the last on that the file tells apart."""
        low, high = built.carry.toolkit
        same = [one for one in self.built if one.carry.name == built.carry.name]
        asked = self._asked(built) if low and not high and len(same) > 1 else NONE
        left = ChipSet.joining(chip for chip in asked if all(target.number < chip.joined for target in built.every))
        if not left or left != asked or any(low < one.carry.toolkit[0] for one in same):
            return
        if _relatives(left) & _own_chips(built.every):
            return  # what is built for that one they load
        known = max((chip.min_cuda for chip in left if chip.min_cuda), key=version)
        message = (
            f"From CUDA {low} on {_listed(built.every)} is the newest target here. {called(left)} are taken as too new"
        )
        yield self._draft(
            built,
            severity="warning" if built.carry.refuses else "note",
            confidence="medium",
            message=f"{message}, even by CUDA {known}, which knows {them(left)}.",
            label=f"nothing for {plain(left)}",
            advice=f"Add what CUDA {known} knows ({_spelled(built.carry, left)}), or query nvcc --list-gpu-arch.",
            claim=claims.build([pair_of(target, target) for target in built.every], left),
            remedy=NoFix("which toolkits the project is built with is not known"),
        )

    def _served(self, built: _Built) -> bool:
        """Whether another list offers a kernel's sources for the asked chips, or the build takes none of these."""
        carry = built.carry
        if carry.kind != "kernel":
            return False
        asked = self.context.targets
        others = [one for one in self.built if one.carry.kind == "kernel" and one.loads & asked]
        if any(set(one.carry.sources) & set(carry.sources) for one in others):
            return True
        accepted = [one for one in self.built if one.carry.kind == "filter" and one.toolkits & built.toolkits]
        return bool(accepted) and not any(one.loads & asked for one in accepted)

    def _expected(self, built: _Built, together: _Together) -> _AskedList | None:
        """Why something for the asked chips is expected in a list, and the place where it is to be said."""
        carry, every = built.carry, together.every
        same = [one for one in self.built if one.carry.kind == carry.kind and one.carry.name == carry.name != ""]
        here = next((one for one in same if one.loads & self.context.targets), None)
        if here is not None and here.carry.at > carry.at and carry.toolkit[0] and self._comes_back(built):
            low, _ = carry.toolkit
            return _AskedList(here, f"From CUDA {low} on this check fails, and the list of line {carry.at[0]} applies.")
        if here is not None:
            apart = "condition" if here.toolkits & built.toolkits else "toolkit"
            return _AskedList(built, f"Line {here.carry.at[0]} names one for another {apart}.")
        recent = [target for target in every if target.number >= _HOPPER]
        whole = any(_is_whole(one.carry, every) for one in together.members)
        if whole and recent and _of_nobody_alone(every):
            why = f"Code for plain {_listed(recent)} uses nothing that other chips lack."
            return _AskedList(built, why if self._compiles_as_it_stands(built) else "")
        cards = [target for target in every if target.chip in _CARDS]
        if whole and carry.kind != "kernel" and len(cards) == len(_CARDS) and not _TRIES.search(self._place):
            return _AskedList(built, f"{_listed(cards)} are the cards before {them(self.context.targets)}.")
        return None

    def _compiles_as_it_stands(self, built: _Built) -> bool:
        """Whether the sources of a list are known in this tree, and so that no other name is made of its own."""
        of_flags = (one for one in self.module.carries if one.kind == "extension" and built.carry.kind == "gencode")
        return any(behind(self.context, self.module, one).modules for one in (built.carry, *of_flags))

    def _beside_x86(self, built: _Built) -> _AskedList | None:
        """A list for aarch64 hosts, where the one for x86_64 has the asked chips."""
        carry = built.carry
        for one in self.built if carry.host == ARM else ():
            same = one.carry.kind == carry.kind and without_host(one.carry.name) == without_host(carry.name) != ""
            if same and one.carry.host == X86 and one.loads & self.context.targets and one.toolkits & built.toolkits:
                hosts = marked(self.context.targets & group("arm-hosts"))
                return _AskedList(
                    built, f"Line {one.carry.at[0]} has one for x86_64, and {hosts} is in aarch64 machines."
                )
        return None

    def _decided_by_flags(self, built: _Built) -> bool:
        """Whether torch does not look at a list of the environment: its one extension names targets of its own.

        torch 2.9 torch/utils/cpp_extension.py, _get_cuda_arch_flags: with an `arch` in the flags it adds none.
        """
        if _OF_TORCH.search(built.carry.name) is None:
            return False
        flagged = any(one.carry.kind == "gencode" and one.carry.toolkit == ("", "") for one in self.built)
        return flagged and any(
            carry.kind == "extension" and carry.name == ONE_EXTENSION for carry in self.module.carries
        )

    def _older(self, built: _Built) -> bool:
        """Whether another list of the name goes further, where no toolkit tells the two apart."""
        carry = built.carry
        same = [one for one in self.built if one.carry.name == carry.name != "" and one.carry.toolkit == carry.toolkit]
        others = [one for one in same if not one.loads & self.context.targets]
        last = max(target.number for target in built.every)
        return any(target.number > last for one in others for target in one.every)

    def _comes_back(self, built: _Built) -> bool:
        """Whether a list stands for older toolkits and for the newest, with others between."""
        return any(one.carry.at == built.carry.at and one is not built for one in self.built)

    def _plain_among_suffixed(self, built: _Built) -> Iterator[Draft]:
        """9.0a and 10.0f ask for what only a suffix brings; a plain 12.0 beside them goes without."""
        if not built.carry.is_a("list", "request"):
            return
        new = [target for target in built.sass if target.chip.suffixes]
        here = [target for target in new if target.chip in _relatives(self.context.targets)]
        others = [target for target in new if target not in here]
        if not here or any(target.suffix for target in here) or len([t for t in others if t.suffix]) < 2:
            return
        if any(not target.suffix for target in others):
            return
        chips = _own_chips(here)
        exact = _since(built, here, _relatives(chips) & self.context.targets, "a")
        suffixed = "the family target (12.0f)" if takes_family(self.module, built.carry) else exact
        unsafe = "the suffix costs the PTX for later chips, and nothing here shows that these kernels need it"
        yield self._draft(
            built,
            severity="note",
            confidence="low",
            message=f"{_listed(here)} has no suffix here, but {_listed(others)} have one. setmaxnreg, "
            f"tensormap.replace and FP4 mma need one on {called(chips)} too.",
            label="without a suffix",
            advice=f"Write {suffixed} if the kernels use these instructions. The plain target loads on both.",
            claim=claims.instruction(claims.SETMAXNREG, TargetSet.joining(here)),
            covered=built.loads,
            remedy=Remedy("carry", built.loads, unsafe=unsafe),
        )

    def _wrong_sources(self, built: _Built) -> Iterator[Draft]:
        """A kernel named for the data-centre part, offered to a chip that has no tensor memory."""
        here = built.loads & self.context.targets
        lacking = ChipSet.where(lambda chip: chip.tmem_per_sm == 0)
        meant, sources = named_for(built.carry), built.carry.sources
        if not meant or not here & lacking or built.carry.is_a("gencode", "request"):
            return
        wrong = [target for target in built.sass if target.loads_on() & here]
        message = f"This builds `{sources[0]}` for {_listed(wrong)} too. By its name it is for {plain(meant)}."
        broken = self._does_not_compile(built, wrong, meant)
        found = self._draft(
            built,
            severity="warning" if broken else "note",
            confidence="medium",
            message=f"{message} {broken or 'If it uses tcgen05, that fails.'}",
            label=f"reaches {plain(here)}",
            advice=f"Drop {_listed(wrong)} unless the source has a path without tcgen05.",
            claim=claims.need(
                sources[0], here & lacking, NONE, f"{sources[0]} does not run on {plain(here & lacking)}"
            ),
            covered=built.loads,
            remedy=Remedy(
                "carry",
                built.loads - ChipSet.union(target.loads_on() for target in wrong),
                evidence=f"{sources[0]} is named for {plain(meant)}",
                unsafe=f"the source may have a path without tcgen05 for {plain(here)}",
            ),
        )
        yield replace(found, cause=(self.module.path, sources[0]))

    def _native(self, built: _Built, chips: ChipSet) -> str:
        """What to write for chips for which there is nothing."""
        carry, first = built.carry, next(iter(chips))
        loads = plain(Target(first.joined).loads_on())
        if carry.kind == "filter" and carry.dotted:  # what is accepted here gets its suffix elsewhere
            return f"Add {_spelled(carry, [first])}, which {loads} can load."
        own, family = [Target(first.joined)], takes_family(self.module, carry)
        suffixed = _since(built, own, [first], "f") if family else _since(built, own, chips, "a")
        return f"Add {_spelled(carry, [first])} (loads on {loads}), or {suffixed} where a suffix is needed."

    def _wider(self, built: _Built, mine: Sequence[Target], missing: ChipSet) -> str:
        """What to write so that the other chip loads it too, and from which toolkit on that is known."""
        lower = min(mine, key=lambda target: target.number)
        added = f"add {_since(built, mine, missing, 'a' if mine[0].suffix else '')}."
        if missing <= Target(lower.number).loads_on() and takes_family(self.module, built.carry) and lower.chip.family:
            return f"Write {_spelled(built.carry, [lower.chip], 'f')}, or {added}"
        return capital(added)

    def _does_not_compile(self, built: _Built, wrong: Sequence[Target], meant: ChipSet) -> str:
        """An instruction of the sources that the wrong targets refuse, as a sentence; a library's atom compiles."""
        code = behind(self.context, self.module, built.carry)
        kept = [Target(chip.joined, "a") for chip in meant]
        found = ((one, *first) for one in wrong for own in kept for first in refused(self.context, code, one, own))
        for target, module, operation in (one for one in found if one[2].kind == "instruction"):
            file = module.path.rpartition("/")[2]
            return f"{target} has no `{short(operation)}`, which {file}:{operation.at[0]} needs."
        return ""

    def _together(self, built: _Built) -> _Together:
        """The carries that add up with one: flags of a file, pieces of a list under a common toolkit."""
        key = self._sum_of(built.carry)
        if key is None:
            return _Together((built,), built.toolkits)
        if (key, built.toolkits) not in self._sums:
            members = tuple(one for one in self._adding_up[key] if one.toolkits & built.toolkits)
            self._sums[key, built.toolkits] = _Together(members, built.toolkits)
        return self._sums[key, built.toolkits]

    def _sum_of(self, carry: Carry) -> tuple[str, str] | None:
        if carry.kind in FLAGS:
            return "flags", carry.group
        if carry.kind == "filter" or ("piece", carry.name) in self._adding_up:
            return "name", carry.name
        return ("text", carry.name) if carry.kind == "kernel" and carry.text else None

    @cached_property
    def _adding_up(self) -> Mapping[tuple[str, str], list[_Built]]:
        """The flags of a group, the pieces and all else of a name, and what of that has a text."""
        found: dict[tuple[str, str], list[_Built]] = {}
        for one in self.built:
            carry = one.carry
            flags = [("flags", carry.group)] if carry.kind in FLAGS else []
            named = [("name", carry.name)] if carry.kind != "match" else []
            pieces = [("piece", carry.name)] if carry.kind == "piece" else []
            texts = [("text", carry.name)] if carry.text and named else []
            for key in (*flags, *named, *pieces, *texts):
                found.setdefault(key, []).append(one)
        return found

    def _draft(
        self,
        built: _Built,
        *,
        severity: Severity,
        confidence: Confidence,
        message: str,
        label: str,
        advice: str,
        claim: Claim,
        covered: ChipSet = NONE,
        remedy: Remedy | NoFix | None = None,
        related: tuple[RelatedSpan, ...] = (),
    ) -> Draft:
        copies = self._copies(built)[1:_MOST_COPIES]
        also = (RelatedSpan(self.module, one.carry.at, "this list again") for one in copies)
        return Draft(
            category="test-gate" if self.context.in_test(self.module) else None,
            place=DraftPlace(module=self.module, at=built.carry.at, admitted=covered, certain=covered),
            severity="note" if severity == "warning" and self._of_ci(built.carry) else severity,
            confidence=confidence,
            message=message,
            label=label,
            advice=advice,
            remedy=remedy,
            related=(*related, *also),
            claims=(Claimed(claim, None if claim.kind == "instruction" else built.carry.at),),
        )


def _is_too_old(said: str, target: Target) -> bool:
    """Whether a `.version` of PTX came before a target; what is filled in is not known."""
    first = first_isa(target)
    return bool(_ISA.fullmatch(said)) and first is not None and tuple(map(int, said.split("."))) < first


def _drops(carry: Carry, chips: ChipSet) -> str:
    """What becomes of a build for chips that a list or a condition does not name."""
    if carry.refuses:
        return f"A build that asks for {called(chips)} stops here."
    lost = "goes without the code behind it" if carry.kind == "match" else "loses that target"
    return f"A build that asks for {plain(chips)} {lost}."


def _left_out(verb: str, together: _Together, present: ChipSet, missing: ChipSet) -> Claim:
    """That what may be built for one chip does not load on the other: a target without a suffix does."""
    mine = [target for target in together.every if target.chip in present]
    if missing & ChipSet.union(target.loads_on() for target in mine):
        return claims.other(f"this {verb} {_listed(mine)} and no target of {plain(missing)}", missing)
    return claims.build((pair_of(target, target) for target in mine), missing)


def _without_cubins(together: _Together, asked: ChipSet) -> Claim:
    """That cubins alone do not load, whatever the PTX beside them."""
    pairs = together.pairs_without_ptx
    return claims.build(pairs, asked) if pairs else claims.other(f"there is no cubin for {plain(asked)}", asked)


@cache
def _called(chips: ChipSet) -> re.Pattern[str]:
    """A name of some of the chips, in that of a file."""
    return re.compile(rf"(?<![a-z0-9])(?:{nicknames(chips)}|{numbers(chips)}|{families(chips)})(?![a-z0-9])", re.I)


def _own_chips(targets: Iterable[Target]) -> ChipSet:
    return ChipSet.joining(target.chip for target in targets)


def _unknown(name: str, kind: CarryKind) -> str:
    """What is wrong with the name of a target whose chip is known or that no chip can have, or ""."""
    digits = name.rstrip("abcdefghijklmnopqrstuvwxyz")
    if kind == "gencode" and len(digits) > _MOST_DIGITS:
        return f"This target is unknown to nvcc: `Unsupported gpu architecture 'compute_{name}'`."
    known = next(known_targets([digits]), None)
    if known is None or next(known_targets([name]), None) is not None:
        return ""
    says = f"Unsupported gpu architecture 'compute_{name}'"
    return f"The target {known} has no suffix {name[len(digits) :]!r}. nvcc: `{says}`."


def _named(toolkits: Toolkits) -> str:
    """ "12.9", "12.8 to 13.2"."""
    first, *rest = sorted(toolkits, key=version)
    return f"{first} to {rest[-1]}" if rest else first


def _split(asked: ChipSet, have: ChipSet) -> Iterator[tuple[ChipSet, ChipSet, ChipSet]]:
    """Families of which some chips are had and some that are asked for not: the family, the ones, the others."""
    for family in _families(asked):
        present, missing = family & have, (family & asked) - have
        if present and missing:
            yield family, present, missing


def _families(asked: ChipSet) -> Iterator[ChipSet]:
    """The families of chips, asked for or not: a chip's findings do not depend on whether its sibling is checked."""
    yield from dict.fromkeys(siblings(chip) - (group("announced") - asked) for chip in asked)


def _of_its_host(carry: Carry, present: ChipSet, missing: ChipSet) -> bool:
    """Whether a list for aarch64 has the chips that are found there alone, and leaves out those that are not."""
    own = group("arm-hosts")
    return carry.host == ARM and present <= own and not missing & own


def _relatives(chips: ChipSet) -> ChipSet:
    return ChipSet.union(map(siblings, chips))


def _possible(missing: ChipSet, toolkits: Toolkits) -> bool:
    """Whether a toolkit of the branch could build natively for all of the chips."""
    firsts = [chip.min_cuda for chip in missing]
    return any(all(first and version(release) >= version(first) for first in firsts) for release in toolkits)


def _steps(together: Sequence[_Built]) -> set[str]:
    """The toolkits from which on a list gets more."""
    return {one.carry.toolkit[0] for one in together if one.carry.kind == "piece"} - {""}


def _for_everybody(carry: Carry, targets: Sequence[Target]) -> bool:
    """A list of several generations, and not one for kernels that only some chips have."""
    plain_ones = [target for target in targets if not target.suffix]
    majors = {target.chip.major for target in targets}
    if len(majors) < 2 or not plain_ones:
        return False
    asked = carry.is_a("request") and (len(majors) > 2 or _OF_TORCH.search(carry.name) is not None)
    return asked or len(plain_ones) > 1


def _of_nobody_alone(targets: Sequence[Target]) -> bool:
    """Whether what compiles for all of these has no instruction of the newest of them alone."""
    recent = [target for target in targets if target.number >= _HOPPER]
    return len(recent) < len(targets) and not any(target.suffix for target in recent)


def _is_whole(carry: Carry, targets: Sequence[Target]) -> bool:
    """Whether nvcc gets a list as it stands: what a project calls its own may be mapped, unless it is long."""
    if carry.is_a("gencode", "kernel", "filter"):
        return True
    taken = _TAKEN_AS_IT_IS.search(carry.name) is not None
    return carry.is_a("request") and (taken or len({target.chip.major for target in targets}) > 2)


def _short(target: Target) -> str:
    return target.name.removeprefix("sm_")


def _listed(targets: Sequence[Target]) -> str:
    names = [_short(target) for target in dict.fromkeys(targets)]
    return ", ".join(names) if len(names) <= _FEW else f"{', '.join(names[:_FEW])} and {len(names) - _FEW} more"


def _since(built: _Built, have: Sequence[Target], chips: Iterable[Chip], suffix: Suffix) -> str:
    """Targets as a list has them, and from which CUDA on where a toolkit of the branch knows `have` and not them."""
    targets = [Target(chip.joined, suffix) for chip in chips]
    known, needed = (max((first_toolkit(one) or "0" for one in some), key=version) for some in (have, targets))
    older = any(version(known) <= version(release) < version(needed) for release in built.toolkits)
    since = f" (CUDA {needed} or newer)" if older else ""
    return _spelled(built.carry, [target.chip for target in targets], suffix) + since


def _spelled(carry: Carry, chips: Iterable[Chip], suffix: str = "") -> str:
    """Targets as a list has them: the framework's own reader knows names with a dot alone."""
    dotted = carry.dotted or of_framework(carry)
    names = [f"{chip.name if dotted else chip.joined}{suffix}" for chip in chips]
    return " and ".join(f'"{name}"' if carry.kind == "filter" and dotted else name for name in names)
