"""Names that a build file accepts: lists of them, and conditions over lists."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.chips import NONE, Target, siblings
from bwlint.chips.toolkits import version, within
from bwlint.fix.buildfiles import spellings
from bwlint.fix.buildfiles.branches import in_front
from bwlint.fix.buildfiles.place import CarryPlace, has, possible, sass
from bwlint.fix.buildfiles.proof import Proposal
from bwlint.fix.buildfiles.spellings import Piece
from bwlint.model.facts import Carry
from bwlint.readers.buildfiles import is_cmake


def names(place: CarryPlace) -> Iterator[Proposal]:
    """The names of the sibling beside those of its twin, in this list or in one of a later toolkit."""
    mine = (place.carry.kind, place.carry.name)
    same = [(n, one) for n, one in enumerate(place.stated) if (one.kind, one.name) == mine]
    for n, one in [(place.index, place.carry), *(pair for pair in same if pair[0] != place.index)]:
        if not within(one.toolkit) & within(place.carry.toolkit) or not possible(place.gains, one):
            continue
        there = [name for _, carry in same if within(carry.toolkit) >= within(one.toolkit) for name in sass(carry)]
        piece = _beside(place, one, there)
        if piece is not None:
            yield Proposal((piece,), "family", place.wanted(), place.gains, frozenset({n}), 0, "")


def branch(place: CarryPlace) -> Iterator[Proposal]:
    """The names of the sibling in a branch of their own, where the one at hand allows older toolkits."""
    low = place.carry.toolkit[0]
    later = max((first for chip in place.gains if (first := chip.min_cuda)), key=version, default="")
    path = place.job.module.path
    if not is_cmake(path) or not low or not later or version(later) <= version(low):
        return
    inner = _beside(place, place.carry, list(sass(place.carry)))
    piece = in_front(place.source, path, (inner,), low, later) if inner is not None else None
    if piece is not None:
        title = f"{place.wanted()} from CUDA {later} on"
        unsafe = f"whether CUDA {later} is to have a branch of its own is for the author to say"
        yield Proposal((piece,), "family", title, place.gains, frozenset({place.index}), 1, unsafe, how="splits")


def _beside(place: CarryPlace, carry: Carry, there: list[Target]) -> Piece | None:
    """The names of the sibling in a list, for those of its twin that are accepted together with the list."""
    written = place.written(carry)
    twins = [token for token in written if place.mirrored(token.target)]
    chips = {token.target.chip for token in twins}
    added = {new for target in there if target.chip in chips for new in place.mirrored(target)}
    return spellings.beside(place.source, written, twins, sorted(added, key=_order), place.lone())


def every_suffix(place: CarryPlace) -> Iterator[Proposal]:
    """The names that one chip of a family has and another lacks, beside those that it has."""
    written, there = place.written(place.carry), place.together()
    for last in reversed(written):
        chip = last.target.chip
        others = [target for target in there if target.chip in siblings(chip) and target.suffix]
        wanted = {Target(chip.joined, target.suffix) for target in others if has(chip, target.suffix)}
        piece = spellings.beside(place.source, written, [last], sorted(wanted - set(there), key=_order))
        if piece is not None and chip in place.job.context.targets:
            yield Proposal((piece,), "family", f"Accept all of {chip}", NONE, frozenset({place.index}), 0, "")


def condition(place: CarryPlace, carry: Carry, add: spellings.Add) -> Piece | None:
    """What a condition over a list of names needs to admit what `add` gives for each name in it."""
    start, end = place.stretch(carry)
    spell = spellings.membership if "IN_LIST" in place.source[start:end] else spellings.alternatives
    return spell(place.source, start, end, add)


def _order(target: Target) -> tuple[int, str]:
    return target.number, target.suffix
