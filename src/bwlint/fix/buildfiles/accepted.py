"""Names that a build file accepts: lists of them, and conditions over lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import NONE, Target, siblings
from bwlint.chips.toolkits import version, within
from bwlint.fix.buildfiles import spellings
from bwlint.fix.buildfiles.branches import in_front
from bwlint.fix.buildfiles.place import CarryPlace, has, possible, sass
from bwlint.fix.buildfiles.proof import Proposal
from bwlint.fix.buildfiles.spellings import Piece
from bwlint.judging.compiled import behind, lost
from bwlint.model.facts import Carry
from bwlint.readers.buildfiles import is_cmake

_WORD = re.compile(r"[0-9]+[af]?")
_SPARSE = re.compile(r"(?i)sparse|(?:^|[^a-z])\w{0,6}sp(?:[^a-z]|$)")


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
            python = place.job.module.language == "python"
            unsafe = "bwlint does not look at what the program does with the name" if python else ""
            yield Proposal((piece,), "family", place.wanted(), place.gains, frozenset({n}), 0, unsafe)


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
        unsafe = f"whether CUDA {later} gets a branch of its own is your choice"
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


def family_too(place: CarryPlace) -> Iterator[Proposal]:
    """The family target beside the exact ones that a condition holds for."""
    pair = family_of(place)
    if pair is None or is_sparse(place) or not place.reader_takes(pair[0]):
        return
    wide, exact = pair
    piece = condition(place, place.carry, lambda target: (wide,) if target == exact else ())
    if piece is not None:
        unsafe = unshown(place, exact, wide) or ""
        yield Proposal((piece,), "family", f"Accept {wide} too", NONE, frozenset({place.index}), 0, unsafe)


def family_of(place: CarryPlace) -> tuple[Target, Target] | None:
    """The family target that a condition does not hold for, and the exact one that it does."""
    held = [target for target in sass(place.carry) if target.suffix == "a" and target.chip in place.job.context.targets]
    if not held:
        return None
    lowest = min(held, key=lambda target: target.number)
    first = min(siblings(lowest.chip), key=lambda chip: chip.joined)
    wide = Target(first.joined, "f") if has(first, "f") else lowest
    return None if wide in sass(place.carry) else (wide, lowest)


def is_sparse(place: CarryPlace) -> bool:
    """Whether a condition is called after sparse kernels: those of FP4 are for the exact targets alone."""
    return any(_SPARSE.search(name) for name in (place.job.module.path, *place.carry.sources))


def unshown(place: CarryPlace, exact: Target, wide: Target) -> str | None:
    """Why it is not shown that what a condition lets through compiles for the family; None where it is."""
    code = behind(place.job.context, place.job.module, place.carry)
    if not code.modules or code.outside:
        return f"{code.outside or 'the code that it lets through'} is not in this tree"
    return lost(place.job.context, code, exact, wide)


def sibling_takes(place: CarryPlace, exact: Target, wide: Target) -> bool:
    """Whether another condition of the project over the same list holds for both targets."""
    variable = place.carry.name.partition(" ")[0]
    names = {target.name.removeprefix("sm_") for target in (exact, wide)}
    if not variable.isidentifier() or is_sparse(place):
        return False
    hits = place.job.context.search(place.job.module).word("build", variable)
    return any("MATCHES" in hit.text and names <= set(_WORD.findall(hit.text)) for hit in hits)


def condition(place: CarryPlace, carry: Carry, add: spellings.Add) -> Piece | None:
    """What a condition over a list of names needs to admit what `add` gives for each name in it."""
    start, end = place.stretch(carry)
    spell = spellings.membership if "IN_LIST" in place.source[start:end] else spellings.alternatives
    return spell(place.source, start, end, add)


def _order(target: Target) -> tuple[int, str]:
    return target.number, target.suffix
