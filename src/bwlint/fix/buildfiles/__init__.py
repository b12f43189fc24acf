"""Lists, flags and conditions of builds: the missing sibling, the family target, what a source cannot be built for.

A spelling is only a proposal. The file is read again with it, its list has to reach just the chips that are wanted,
every other list has to say what it said, and the rule that found the fault must have nothing left to say of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bwlint.behind import Behind, behind, lost
from bwlint.chips import NONE, Chip, ChipSet, Target, siblings
from bwlint.chips.pairs import same_cubin
from bwlint.chips.toolkits import first_toolkit, version, within
from bwlint.facts import Carry
from bwlint.findings import Edit, Fix, Proof
from bwlint.fix import Job
from bwlint.fix.buildfiles import proof, spellings
from bwlint.fix.buildfiles.proof import Proposal
from bwlint.fix.buildfiles.spellings import Piece, Token, tokens
from bwlint.fix.python.change import Change
from bwlint.fix.python.meant import comments, said_exactly
from bwlint.readers.buildfiles import is_cmake
from bwlint.readers.buildfiles.places import Places
from bwlint.sources.read import Text
from bwlint.wording import plain

__all__ = ["mend"]

_ACCEPT = frozenset({"filter", "match"})
_LISTS = frozenset({"list", "piece", "request", "kernel", "filter"})
_OPTION = re.compile(r"sm_?[0-9]{2,3}[af]", re.I)
_LONGEST_TITLE = 60


def mend(job: Job) -> Fix | str:
    """The fix of a list, a flag or a condition of a build; a string says why there is none."""
    at = job.remedy.at or job.draft.at
    index = next((n for n, one in enumerate(proof.stated(job.module)) if one.at == at), None)
    if index is None:
        return "the list is not found again in the file"
    place = _Place.of(job, index)
    if isinstance(place, str):
        return place
    refusal = ""
    for proposal in place.proposals():
        edits = tuple(place.edit(piece) for piece in proposal.pieces)
        unsafe = "; ".join(dict.fromkeys(filter(None, (job.remedy.unsafe, proposal.unsafe))))
        words = f"{job.remedy.evidence or 'none'} (unsafe: {unsafe})" if unsafe else job.remedy.evidence
        proved = proof.prove(job, index, proposal, edits, words)
        if isinstance(proved, Proof):
            return Fix("unsafe" if unsafe else "safe", proposal.kind, _title(proposal), edits, proved)
        refusal = refusal or proved
    return refusal or place.refusal()


@dataclass(frozen=True, slots=True)
class _Place:
    """One list, flag or condition that is to reach `gains` too, or not `losses`; neither: it lacks a suffix."""

    job: Job
    index: int
    carry: Carry
    gains: ChipSet
    losses: ChipSet
    code: Behind
    start: int
    end: int

    @classmethod
    def of(cls, job: Job, index: int) -> _Place | str:
        carry = proof.stated(job.module)[index]
        before = proof.reached(carry)
        gains, losses = job.remedy.chips - before, before - job.remedy.chips
        if gains and losses:
            return "the set wanted both gains and loses chips"
        if carry.kind == "file":
            return "PTX is written by a compiler, which has to be asked for another target"
        change = Change("family", job.remedy.chips, gains | losses, _twins(before, gains | losses))
        said = said_exactly(comments(job.source, carry.at), change)
        if said is not None:
            return said
        text = Text(job.source)
        region = text.region(*carry.at)
        start = text.offset(region.line, region.column)
        end = text.offset(region.end_line, region.end_column)
        code = behind(job.context, job.module, carry) if carry.kind not in _ACCEPT else Behind(())
        return cls(job, index, carry, gains, losses, code, start, end)

    @property
    def source(self) -> str:
        return self.job.source

    @property
    def written(self) -> tuple[Token, ...]:
        return tokens(self.source, self.start, self.end)

    def edit(self, piece: Piece) -> Edit:
        return _edit(self.job, piece)

    def refusal(self) -> str:
        if self.gains and not self._possible():
            return self._too_early()
        return "no known rewrite for this spelling"

    def proposals(self) -> Iterator[Proposal]:
        """What may be written, the best first."""
        if self.losses:
            yield from self._dropped()
        elif not self.gains and self.carry.kind == "filter":
            yield from self._every_suffix()
        elif not self.gains:
            yield from self._suffixed()
        elif self.carry.kind == "match":
            yield from self._conditions()
        elif self.carry.kind == "filter":
            yield from self._accepted()
        else:
            yield from self._family()
            yield from self._beside()

    # -- lists, flags

    def _exact(self) -> tuple[Token, ...]:
        """The targets that keep the chips out which are wanted."""
        return tuple(token for token in self.written if _twins(token.target.loads_on(), self.gains))

    def _family(self) -> Iterator[Proposal]:
        """The family target in the place of the exact one, where every toolkit of the branch has it."""
        exact = self._exact()
        if not exact:
            return
        lowest = min((token.target for token in exact), key=lambda target: target.number)
        if not lowest.chip.family or "f" not in lowest.chip.suffixes:
            return
        family = Target(lowest.number, "f")
        known = self._known_everywhere(family)
        if not self.gains <= family.loads_on() or (self.carry.kind == "kernel" and not known):
            return
        if any(same_cubin(family, other) for other in self._together()) or not self._reader_takes(family):
            return
        pieces = [spellings.instead(token, family) for token in exact]
        risks = [lost(self.job.context, self.code, token.target, family) for token in exact]
        risk = next(filter(None, risks), None)
        if risk is not None:
            return
        unsafe = self._outside()
        if not known:
            unsafe = f"a toolkit before CUDA {first_toolkit(family)} does not know {family}"
        yield from self._with_conditions(pieces, exact, {token.target: (family,) for token in exact}, unsafe)

    def _beside(self) -> Iterator[Proposal]:
        """The exact target of the sibling beside that of its twin."""
        exact = self._exact()
        if not exact or not self._possible():
            return
        given = {token.target: self._mirrored(token.target) for token in exact}
        risks = [lost(self.job.context, self.code, kept, new) for kept, targets in given.items() for new in targets]
        unsafe = next(filter(None, risks), None) or self._outside()
        if not unsafe and self.carry.kind != "kernel" and not all(map(self._known_everywhere, _every(given))):
            unsafe = f"a toolkit before CUDA {first_toolkit(_every(given)[0])} does not know {_every(given)[0]}"
        if self.carry.kind in _LISTS:
            piece = spellings.beside(self.source, self.written, exact, _every(given), self._lone())
            if piece is not None:
                yield from self._with_conditions([piece], exact, given, unsafe)
        elif self.carry.kind == "gencode" and len(self.gains) == 1:
            pairs = [(token, target) for token in exact for target in given[token.target]]
            flag = spellings.doubled_flag(self.source, self.start, self.end, pairs)
            if flag is not None and (self.job.module.language != "python" or self._in_a_list()):
                yield Proposal((flag,), "family", self._wanted(), self.gains, frozenset({self.index}), 1, unsafe)

    def _suffixed(self) -> Iterator[Proposal]:
        """The family target in the place of the plain one."""
        here = [token for token in self.written if self._is_bare(token)]
        for token in here:
            family = Target(token.target.number, "f")
            if self._known_everywhere(family) and self._reader_takes(family):
                pieces = tuple(spellings.instead(one, Target(one.target.number, "f")) for one in here)
                yield Proposal(pieces, "family", "Build for the family", NONE, frozenset({self.index}), 0, "")
                return

    def _is_bare(self, token: Token) -> bool:
        chip = token.target.chip
        return not token.target.suffix and "f" in chip.suffixes and chip in self.job.context.targets

    def _dropped(self) -> Iterator[Proposal]:
        written = self.written
        wrong = [token for token in written if token.target.loads_on() & self.losses]
        pieces = spellings.without(self.source, written, wrong)
        if pieces is not None and wrong and self.carry.kind in _LISTS:
            names = " and ".join(f"`{self.source[token.start : token.end]}`" for token in wrong)
            yield Proposal(pieces, "bound", f"Drop {names}", NONE, frozenset({self.index}), 0, "")

    # -- what is accepted

    def _accepted(self) -> Iterator[Proposal]:
        """The names of the sibling beside those of its twin, in this list or in one of a later toolkit."""
        same = [
            (n, one)
            for n, one in enumerate(proof.stated(self.job.module))
            if one.kind == self.carry.kind and one.name == self.carry.name
        ]
        for n, one in [(self.index, self.carry), *(pair for pair in same if pair[0] != self.index)]:
            if not within(one.toolkit) & within(self.carry.toolkit) or not _possible(self.gains, one):
                continue
            text = Text(self.source)
            region = text.region(*one.at)
            start = text.offset(region.line, region.column)
            written = tokens(self.source, start, text.offset(region.end_line, region.end_column))
            twins = [token for token in written if _twins(ChipSet.joining([token.target.chip]), self.gains)]
            named = [
                other for _, carry in same if within(carry.toolkit) >= within(one.toolkit) for other in _sass(carry)
            ]
            mine = [target for target in dict.fromkeys(named) if any(target.chip == twin.target.chip for twin in twins)]
            added = sorted({new for target in mine for new in self._mirrored(target)}, key=lambda t: (t.number, t.name))
            piece = spellings.beside(self.source, written, twins, added, self._lone())
            if piece is not None:
                yield Proposal((piece,), "family", self._wanted(), self.gains, frozenset({n}), 0, "")

    def _every_suffix(self) -> Iterator[Proposal]:
        """The names that one chip of a family has and another lacks, beside those that it has."""
        written = self.written
        names = self._together()
        for last in reversed(written):
            chip = last.target.chip
            mine = [target for target in names if target.chip in siblings(chip)]
            wanted = (Target(chip.joined, target.suffix) for target in mine if _has(chip, target.suffix))
            added = sorted({target for target in wanted if target.suffix and target not in names}, key=str)
            piece = spellings.beside(self.source, written, [last], added)
            if piece is not None and chip in self.job.context.targets:
                yield Proposal((piece,), "family", f"Accept all of {chip}", NONE, frozenset({self.index}), 0, "")

    def _conditions(self) -> Iterator[Proposal]:
        piece = self._condition(self.start, self.end, self._mirrored)
        touched = frozenset({self.index})
        if piece is not None:
            yield Proposal((piece,), "family", self._wanted(), self.gains, touched, 0, "")

    def _condition(self, start: int, end: int, add: spellings.Add) -> Piece | None:
        if "IN_LIST" in self.source[start:end]:
            return spellings.membership(self.source, start, end, add)
        return spellings.alternatives(self.source, start, end, add)

    def _with_conditions(
        self, pieces: Sequence[Piece], exact: Sequence[Token], given: dict[Target, tuple[Target, ...]], unsafe: str
    ) -> Iterator[Proposal]:
        """A change of a list with those of the conditions over it that ask for the target which is changed."""
        more, touched = [], {self.index}
        for n, one in enumerate(proof.stated(self.job.module)):
            if (
                one.kind != "match"
                or not self.carry.name
                or not re.search(rf"\b{re.escape(self.carry.name)}\b", one.text or one.name)
            ):
                continue
            names = {target: tuple(t for t in given.get(target, ()) if t not in _sass(one)) for target in _sass(one)}
            if not any(names.values()):
                continue
            text = Text(self.source)
            region = text.region(*one.at)
            place = text.offset(region.line, region.column), text.offset(region.end_line, region.end_column)
            piece = self._condition(*place, partial(_given, names))
            if piece is None:
                return
            more.append(piece)
            touched.add(n)
        yield Proposal((*pieces, *more), "family", self._wanted(), self.gains, frozenset(touched), 0, unsafe)

    # -- what is known of it

    def _mirrored(self, target: Target) -> tuple[Target, ...]:
        """The target with the suffix of its twin for each chip that is to be gained."""
        if not _twins(ChipSet.joining([target.chip]), self.gains):
            return ()
        own = [chip for chip in self.gains if target.chip in siblings(chip)]
        return tuple(Target(chip.joined, target.suffix) for chip in own if _has(chip, target.suffix))

    def _together(self) -> tuple[Target, ...]:
        same = [
            one for one in proof.stated(self.job.module) if one.name == self.carry.name and one.kind == self.carry.kind
        ]
        return tuple(
            target for one in same if within(one.toolkit) & within(self.carry.toolkit) for target in _sass(one)
        )

    def _known_everywhere(self, target: Target) -> bool:
        """Whether every toolkit that the branch allows has a target."""
        first = first_toolkit(target)
        return first is not None and all(version(one) >= version(first) for one in within(self.carry.toolkit))

    def _possible(self) -> bool:
        return _possible(self.gains, self.carry)

    def _too_early(self) -> str:
        low = self.carry.toolkit[0]
        plain_ones = " and ".join(str(chip.joined) for chip in _twins(~self.gains, self.gains))
        lacks = f"CUDA {low}, which this branch allows, has no target of {plain(self.gains)}"
        return f"{lacks}: plain {plain_ones} loads there"

    def _reader_takes(self, target: Target) -> bool:
        """torch's own reader of TORCH_CUDA_ARCH_LIST refuses every f: one that has some is read by another program."""
        if "TORCH" not in self.carry.name.upper() or target.suffix != "f":
            return True
        lists = (one for one in proof.stated(self.job.module) if one.name == self.carry.name)
        return any(other.suffix == "f" for one in lists for other in _sass(one))

    def _outside(self) -> str:
        return f"{self.code.outside} is not in this tree" if self.code.outside else ""

    def _lone(self) -> str:
        """What separates words of a command of CMake; elsewhere a second word may be another thing."""
        return " " if is_cmake(self.job.module.path) else ""

    def _in_a_list(self) -> bool:
        return proof.in_a_list(self.source, self.carry.at)

    def _wanted(self) -> str:
        return f"Treat {' and '.join(self.gains.names)} like {' and '.join(_twins(~self.gains, self.gains).names)}"


def _given(names: dict[Target, tuple[Target, ...]], target: Target) -> tuple[Target, ...]:
    return names.get(target, ())


def _every(given: dict[Target, tuple[Target, ...]]) -> tuple[Target, ...]:
    return tuple(dict.fromkeys(target for targets in given.values() for target in targets))


def _twins(have: ChipSet, missing: ChipSet) -> ChipSet:
    """Those of the chips that are of the family of one that is missing."""
    found = NONE
    for chip in missing:
        found |= siblings(chip) & have
    return found - missing


def _has(chip: Chip, suffix: str) -> bool:
    return suffix in ("", *chip.suffixes)


def _possible(gains: ChipSet, carry: Carry) -> bool:
    """Whether a toolkit of the branch knows the chips, and the first that it allows is not too early for them."""
    low = carry.toolkit[0]
    firsts = [first for chip in gains if (first := chip.min_cuda) is not None]
    return carry.kind == "kernel" or all(not low or version(first) <= version(low) for first in firsts)


def _sass(carry: Carry) -> Iterator[Target]:
    yield from proof.targets(carry.sass)


def _edit(job: Job, piece: Piece) -> Edit:
    span = Places(job.source).span(piece.start, piece.end)
    return Edit(job.module.path, Text(job.source).region(*span), piece.text)


def _title(proposal: Proposal) -> str:
    text = ", ".join(spellings.words(proposal.pieces[:1]))
    if not text or len(text) > _LONGEST_TITLE:
        return proposal.title
    piece = proposal.pieces[0]
    return f"{proposal.title}: {'add' if piece.start == piece.end else 'write'} `{text}`"
