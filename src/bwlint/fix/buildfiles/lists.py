"""Lists and flags of a build: the family target, the exact one of the sibling, names that are accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bwlint.chips import NONE, ChipSet, Target, known_targets, siblings
from bwlint.chips.targets import same_cubin
from bwlint.chips.toolkits import first_toolkit, within
from bwlint.chips.wording import plain
from bwlint.fix.buildfiles import branches, spellings
from bwlint.fix.buildfiles.place import CarryPlace, has, possible, sass, twins
from bwlint.fix.buildfiles.proof import Proposal, in_a_list, reached
from bwlint.fix.buildfiles.spellings import Piece, TargetToken
from bwlint.judging.compiled import lost
from bwlint.model.facts import Carry
from bwlint.model.kinds import FLAGS, CarryKind
from bwlint.readers.exact_names import exact_names

_LISTS: frozenset[CarryKind] = frozenset({"list", "piece", "request", "kernel"})
_Given = Mapping[Target, tuple[Target, ...]]
"""What is written for an exact target, or beside it."""
_WORD = re.compile(r"[0-9]+[af]?")
_SPARSE = re.compile(r"(?i)sparse|(?:^|[^a-z])\w{0,6}sp(?:[^a-z]|$)")


def family(place: CarryPlace) -> Iterator[Proposal]:
    """The family target in the place of the exact one, where nothing needs that and the toolkits have it."""
    exact = _exact(place)
    lowest = min((token.target for token in exact), key=lambda target: target.number, default=None)
    if lowest is None or not lowest.chip.family or "f" not in lowest.chip.suffixes:
        return
    wide = Target(lowest.number, "f")
    bare = Target(lowest.number)  # what the older toolkit knows serves the family too, where nothing needs a suffix
    if (early := place.too_old_for(wide)) and not place.outside() and not place.too_old_for(bare):
        wide = bare if _lost(place, {token.target: (bare,) for token in exact}) is None else wide
    known = place.known_everywhere(wide)
    if not place.gains <= wide.loads_on() or (place.carry.kind == "kernel" and not known):
        return
    if any(same_cubin(wide, other) for other in place.together()) or not place.reader_takes(wide):
        return
    given = {token.target: (wide,) for token in exact}
    if _lost(place, given) is not None:
        return
    pieces = [spellings.instead(token, wide) for token in exact]
    if early and wide.suffix:
        yield from _in_a_branch(place, pieces, str(first_toolkit(wide)))
        return
    unsafe = place.outside() if known else f"a toolkit before CUDA {first_toolkit(wide)} does not know {wide}"
    if place.carry.kind == "option":
        unsafe = f"{unsafe}; bwlint does not look for other uses of the option for {lowest}".removeprefix("; ")
    yield Proposal(tuple(pieces), "family", place.wanted(), place.gains, frozenset({place.index}), 0, unsafe)


def own(place: CarryPlace) -> Iterator[Proposal]:
    """The target of the one chip that a test lets in, which does not load what stands there."""
    alone = place.job.context.let_in(place.job.module, place.carry.at) if place.carry.kind in FLAGS else NONE
    exact = _exact(place)
    if len(alone) != 1 or not alone <= place.gains or not exact:
        return
    chip = next(iter(alone))
    pieces = tuple(spellings.instead(token, Target(chip.joined, token.target.suffix)) for token in exact)
    title = f"Build for {chip}, which alone gets here"
    yield Proposal(pieces, "family", title, place.gains, frozenset({place.index}), 0, "", spared=~alone)


def _in_a_branch(place: CarryPlace, pieces: Sequence[Piece], first: str) -> Iterator[Proposal]:
    """A list that is changed for the toolkits from one on; older ones get what they got."""
    front = branches.in_front(place.source, place.job.module.path, pieces, place.carry.toolkit[0], first)
    if front is not None:
        held = twins(~place.gains, place.gains) & reached(place.carry)
        what = place.wanted() if held else f"Build for {plain(place.gains)}"
        title = f"{what} from CUDA {first} on: write `{' '.join(spellings.words(pieces))}`"
        unsafe = "this splits the list by the release of CUDA: check that you want that"
        yield Proposal((front,), "family", title, place.gains, frozenset({place.index}), 1, unsafe, how="splits")


def added(place: CarryPlace) -> Iterator[Proposal]:
    """A target that the wanted chips load, in a list that has none of their family."""
    new, code = place.native(), place.written(place.carry)
    first = first_toolkit(new) if new is not None else None
    if new is None or first is None or not code:
        return
    title = f"Build for {plain(place.gains)}"
    if not place.too_old_for(new):
        unsafe = "" if place.known_everywhere(new) else f"a toolkit before CUDA {first} does not know {new}"
        if place.carry.kind == "gencode":
            flag = _second_flag(place, [(token, new) for token in code])
            pieces, touched = ([flag] if flag is not None else []), {place.index}
        else:
            pieces, touched = _to_each(place, new)
        if pieces:
            flags = int(place.carry.kind == "gencode")
            yield Proposal(tuple(pieces), "family", title, place.gains, frozenset(touched), flags, unsafe)
        return
    path, low = place.job.module.path, place.carry.toolkit[0]
    body = spellings.replaced(place.source, *branches.body(place.source, path, code[0].start), new)
    block = branches.again(place.source, path, body, low, first) if low and body else None
    if block is not None:
        title = f"{title} from CUDA {first} on: add `{body[0].text}`"
        yield Proposal((block,), "family", title, place.gains, frozenset({place.index}), 0, "", how="repeats")
    last = max(code, key=lambda token: token.target.number)
    piece = spellings.beside(place.source, code, [last], [new], place.lone()) if place.carry.kind in _LISTS else None
    if block is None and piece is not None:
        yield from _in_a_branch(place, [piece], first)


def beside(place: CarryPlace) -> Iterator[Proposal]:
    """The exact target of the sibling beside that of its twin."""
    exact = _exact(place)
    given = {token.target: place.mirrored(token.target) for token in exact}
    new = tuple(dict.fromkeys(target for targets in given.values() for target in targets))
    if not new:
        return
    piece = spellings.beside(place.source, place.written(place.carry), exact, new, place.lone())
    if not possible(place.gains, place.carry) or any(map(place.too_old_for, new)):
        if piece is not None and place.carry.kind in _LISTS:
            yield from _in_a_branch(place, [piece], str(first_toolkit(new[0])))
        return
    unsafe = _lost(place, given) or place.outside()
    if not unsafe and place.carry.kind != "kernel" and not all(map(place.known_everywhere, new)):
        unsafe = f"a toolkit before CUDA {first_toolkit(new[0])} does not know {new[0]}"
    if place.carry.kind in _LISTS:
        if piece is not None:
            yield Proposal((piece,), "family", place.wanted(), place.gains, frozenset({place.index}), 0, unsafe)
    elif place.carry.kind == "gencode" and len(place.gains) == 1:
        flag = _second_flag(place, [(token, target) for token in exact for target in given[token.target]])
        if flag is not None:
            yield Proposal((flag,), "family", place.wanted(), place.gains, frozenset({place.index}), 1, unsafe)


def moved(place: CarryPlace) -> Iterator[Proposal]:
    """Targets in the list, or in the branch, of the toolkits that know them."""
    late, code = place.late(), place.written(place.carry)
    gone = spellings.without(place.source, code, [token for token in code if token.target in late])
    firsts = {str(first_toolkit(target)) for target in late}
    if gone is None or len(firsts) != 1:
        return
    first, path = firsts.pop(), place.job.module.path
    title = f"Give {' and '.join(map(str, late))} to CUDA {first} and newer alone"
    for n, one in enumerate(place.stated):
        if (one.kind, one.name, *one.toolkit) == (place.carry.kind, place.carry.name, first, place.carry.toolkit[1]):
            there = place.written(one)
            piece = spellings.beside(place.source, there, there[-1:], late, place.lone())
            if piece is not None:
                yield Proposal((*gone, piece), "bound", title, NONE, frozenset({place.index, n}), 0, "", how="moves")
    same = Piece(gone[0].start, gone[0].start, "")
    front = branches.in_front(place.source, path, (same,), place.carry.toolkit[0], first)
    if front is not None:
        unsafe = "this splits the list by the release of CUDA: check that you want that"
        yield Proposal((front, *gone), "bound", title, NONE, frozenset({place.index}), 1, unsafe, how="moves")


def _to_each(place: CarryPlace, new: Target) -> tuple[list[Piece], set[int]]:
    """A target more in a list and in those of its name that say the same, with their places; none if one has none."""
    own, found, touched = place.carry, list[Piece](), set[int]()
    for n, one in enumerate(place.stated):
        if (one.kind, one.name, one.sass, one.toolkit) == (own.kind, own.name, own.sass, own.toolkit):
            code = place.written(one)
            last = max(code, key=lambda token: token.target.number, default=None)
            piece = spellings.beside(place.source, code, [last], [new], place.lone()) if last is not None else None
            if piece is None:
                return [], set()
            found.append(piece)
            touched.add(n)
    return list(dict.fromkeys(found)), touched


def _second_flag(place: CarryPlace, names: Sequence[tuple[TargetToken, Target]]) -> Piece | None:
    flag = spellings.doubled_flag(place.source, *place.stretch(place.carry), names)
    return flag if place.job.module.language != "python" or in_a_list(place.source, place.carry.at) else None


def tested(place: CarryPlace) -> Iterator[Proposal]:
    """A condition that holds for the names of the sibling too."""
    pair = family_of(place)
    wide = {pair[1]: pair[:1]} if pair is not None and sibling_takes(place, *pair) else {}
    piece = condition(place, lambda one: (*wide.get(one, ()), *place.mirrored(one)))
    if piece is not None and kept_there(place, [piece]) is None:
        yield Proposal((piece,), "family", place.wanted(), place.gains, frozenset({place.index}), 0, "")


def kept_there(place: CarryPlace, pieces: Sequence[Piece]) -> Target | None:
    """A target that the sibling does not load, which stands where a condition leads to and in no piece."""
    if place.carry.arm is None:
        return None
    start, end = place.stretch(replace(place.carry, at=place.carry.arm))
    for at, name in exact_names(place.source[start:end]):
        if not any(piece.start <= start + at < piece.end for piece in pieces):
            for target in known_targets([name]):
                if not place.gains <= target.loads_on():
                    return target
    return None


def suffixed(place: CarryPlace) -> Iterator[Proposal]:
    """The family target in the place of the plain one; the exact one where a test lets its chip alone in."""
    bare = [token for token in place.written(place.carry) if _is_bare(place, token)]
    alone = place.job.context.let_in(place.job.module, place.carry.at)
    pieces, unsafe, spared = [], "", NONE
    for token in bare:
        wide = Target(token.target.number, "f")
        if alone and alone <= ChipSet.of(token.target.chip.name):
            wide, spared = Target(token.target.number, "a"), siblings(token.target.chip) - alone
        if place.too_old_for(wide) or not place.reader_takes(wide):
            return
        if not place.known_everywhere(wide) and first_toolkit(wide) != first_toolkit(token.target):
            unsafe = f"a toolkit before CUDA {first_toolkit(wide)} does not know {wide}"
        pieces.append(spellings.instead(token, wide))
    if pieces:
        title = "Build with the suffix that is needed"
        touched = frozenset({place.index})
        yield Proposal(tuple(pieces), "family", title, NONE, touched, 0, unsafe, spared=spared)


def dropped(place: CarryPlace) -> Iterator[Proposal]:
    """A list without the targets that its sources cannot be built for."""
    written = place.written(place.carry)
    wrong = [token for token in written if token.target.loads_on() & place.losses]
    pieces = spellings.without(place.source, written, wrong) if wrong else None
    if pieces is not None and place.carry.kind in _LISTS:
        names = " and ".join(f"`{place.source[token.start : token.end]}`" for token in wrong)
        yield Proposal(pieces, "bound", f"Drop {names}", NONE, frozenset({place.index}), 0, "")


def _exact(place: CarryPlace) -> tuple[TargetToken, ...]:
    """The targets that keep out the chips which are wanted."""
    return tuple(token for token in place.written(place.carry) if twins(token.target.loads_on(), place.gains))


def _is_bare(place: CarryPlace, token: TargetToken) -> bool:
    chip = token.target.chip
    return not token.target.suffix and "f" in chip.suffixes and chip in place.job.context.targets


def _lost(place: CarryPlace, given: _Given) -> str | None:
    """What is behind the list and would not be compiled for what is given."""
    found = (lost(place.job.context, place.code, kept, new) for kept, targets in given.items() for new in targets)
    return next(filter(None, found), None)


def accepted(place: CarryPlace) -> Iterator[Proposal]:
    """The names of the sibling beside those of its twin, in this list or in one of a later toolkit."""
    mine = (place.carry.kind, place.carry.name)
    same = [(n, one) for n, one in enumerate(place.stated) if (one.kind, one.name) == mine]
    for n, one in [(place.index, place.carry), *(pair for pair in same if pair[0] != place.index)]:
        if not within(one.toolkit) & within(place.carry.toolkit) or not possible(place.gains, one):
            continue
        there = [name for _, carry in same if within(carry.toolkit) >= within(one.toolkit) for name in sass(carry)]
        piece = _mirrored(place, one, there)
        if piece is not None:
            python = place.job.module.language == "python"
            unsafe = "bwlint does not look at what the program does with the name" if python else ""
            yield Proposal((piece,), "family", place.wanted(), place.gains, frozenset({n}), 0, unsafe)


def _mirrored(place: CarryPlace, carry: Carry, there: list[Target]) -> Piece | None:
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


def sibling_takes(place: CarryPlace, exact: Target, wide: Target) -> bool:
    """Whether another condition of the project over the same list holds for both targets."""
    variable = place.carry.name.partition(" ")[0]
    names = {target.name.removeprefix("sm_") for target in (exact, wide)}
    if not variable.isidentifier() or is_sparse(place):
        return False
    hits = place.job.context.search(place.job.module).word("build", variable)
    return any("MATCHES" in hit.text and names <= set(_WORD.findall(hit.text)) for hit in hits)


def condition(place: CarryPlace, add: spellings.Add) -> Piece | None:
    """What a condition over a list of names needs to admit what `add` gives for each name in it."""
    start, end = place.stretch(place.carry)
    spell = spellings.membership if "IN_LIST" in place.source[start:end] else spellings.alternatives
    return spell(place.source, start, end, add)


def _order(target: Target) -> tuple[int, str]:
    return target.number, target.suffix
