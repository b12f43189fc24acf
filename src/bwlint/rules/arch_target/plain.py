"""arch-target where a list has a target that what it compiles cannot be assembled for: for want of a suffix, or of an
instruction that others of the list have. Where a program picks the target that it compiles for the chip at hand, tried
on every chip, and for flags of a build that are named after targets: a list of modules against what they compile for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePath

from bwlint.chips import EVERY, NONE, ChipSet, Target, TargetSet, known_targets, siblings, spelling
from bwlint.chips.flags import PLAIN, find_flags
from bwlint.chips.frameworks import arch_list
from bwlint.chips.wording import called, plain
from bwlint.evaluate.values import CHIPS
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.compiled import Behind, behind, refused
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.family_evidence import place_in
from bwlint.judging.legality import charges_of, claimed, legal, short
from bwlint.judging.siblings import Admission, admission, calls
from bwlint.model.expr import Expr, Span, is_text, walk
from bwlint.model.facts import Carry, Function, Module, Operation, Path, Use
from bwlint.model.findings import NoFix
from bwlint.sources.read import read_bytes
from bwlint.sources.tree import checkout_folder, package_root
from bwlint.world.builds import pair_of
from bwlint.world.gates import Judged

_SHOWN = 8
_RUNS_SETUP = re.compile(
    rb"\bsetup\.py[ \t]|\bpip3?[ \t]+(?:install|wheel)\b[^\n]{0,200}[ \t]\.(?:[ \t\n]|$)|-m[ \t]+build\b"
)


_Needing = list[tuple[Module, Operation]]
_NAMES = re.compile(r"(?:sm|compute)_")
_PICKS = re.compile(r"arch|target|gencode|sm_?name", re.I)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Sources and the list that they are compiled for, which stands in `home`."""

    build: Module
    carry: Carry
    home: Module
    listed: Carry
    beside: Mapping[tuple[str, ...], tuple[Target, ...]]
    """The targets of the flags in `home` for some of the same sources, by the sources."""

    @property
    def targets(self) -> tuple[Target, ...]:
        return tuple(dict.fromkeys(known_targets((*self.listed.sass, *self.listed.ptx))))

    @property
    def together(self) -> tuple[Target, ...]:
        """The targets of the list, and those of other flags for the same sources."""
        flags = self.beside.get(self.carry.sources, ()) if self.carry.kind == "gencode" else ()
        return tuple(dict.fromkeys((*self.targets, *flags)))


def check_file(context: Context, module: Module) -> Iterator[Draft]:
    yield from _of_chosen(context, module)
    yield from _of_lists(context, module)


def _of_lists(context: Context, module: Module) -> Iterator[Draft]:
    for one in (*_own(context, module), *_handed(context, module)):
        every = one.together
        if not any(target.loads_on() & context.targets for target in every):
            continue
        code = behind(context, one.build, one.carry)
        own = [target for target in one.targets if one.listed.kind != "asked" or target.chip in context.targets]
        own = own or [target for target in one.targets if target.loads_on() & context.targets]
        found = {target: needing for target in own if (needing := _needing(context, one, every, code, target))}
        for kept, targets in _by_kept(context, every, found).items():
            yield _draft(one, targets, kept, found[targets[0]])


def _by_kept(
    context: Context, every: tuple[Target, ...], found: dict[Target, _Needing]
) -> dict[Target | None, list[Target]]:
    """The targets that are in the way of another one of the list, by that; by None those that want a suffix."""
    told: dict[Target | None, list[Target]] = {}
    for target, needing in found.items():
        able = [other for other in every if all(other in legal(operation) for _, operation in needing)]
        told.setdefault(next(iter(sorted(able, key=lambda one: one.chip not in context.targets)), None), []).append(
            target
        )
    return told


def _own(context: Context, module: Module) -> Iterator[_Compiled]:
    """The sources that a file names, with their lists: that of a file above is reported where the sources are named."""
    beside = _flags_by_sources(module)
    for carry in module.carries:
        if carry.sources:
            path, listed = context.builds.list_of(module, carry)
            here = listed if path == module.path else replace(listed, at=carry.at)
            if here is carry and carry.is_a("inherited") and carry.name == arch_list() and not _is_set(context, module):
                here = replace(carry, kind="asked", sass=PLAIN, text=f"{arch_list()} that is not set")
            yield _Compiled(module, carry, module, here, beside)


def _is_set(context: Context, module: Module) -> bool:
    """Whether a script of the project says which targets torch compiles for."""
    return bool(context.search(module).word("build", arch_list()))


def _flags_by_sources(module: Module) -> dict[tuple[str, ...], tuple[Target, ...]]:
    flags = [carry for carry in module.carries if carry.kind == "gencode"]
    places: dict[str, list[int]] = defaultdict(list)
    for place, flag in enumerate(flags):
        for source in flag.sources:
            places[source].append(place)
    found: dict[tuple[str, ...], tuple[Target, ...]] = {}
    for sources in dict.fromkeys(flag.sources for flag in flags):
        own = sorted({place for source in sources for place in places[source]})
        found[sources] = tuple(dict.fromkeys(target for place in own for target in known_targets(flags[place].sass)))
    return found


def _handed(context: Context, module: Module) -> Iterator[_Compiled]:
    """The sources of the setup.py beside or above a script that runs it, where it takes its list from the script."""
    lists = [one for one in module.carries if one.is_a("request") and one.name == arch_list()]
    if module.language != "build" or not lists or not _runs_setup(module):
        return
    last = checkout_folder(package_root(module.path))
    folders = takewhile(lambda folder: folder.is_relative_to(last), PurePath(module.path).parents)
    build = next(filter(None, (context.builds.load(str(folder / "setup.py")) for folder in folders)), None)
    for carry in build.carries if build is not None else ():
        if build is not None and carry.is_a("inherited") and context.builds.list_of(build, carry)[1] is carry:
            yield from (_Compiled(build, carry, module, listed, {}) for listed in lists)


def _runs_setup(module: Module) -> bool:
    data = read_bytes(module.path)
    return isinstance(data, bytes) and _RUNS_SETUP.search(data) is not None


def _needing(context: Context, one: _Compiled, every: tuple[Target, ...], code: Behind, target: Target) -> _Needing:
    """What is refused for a target of a list, and not for another one of it or for its own chip's with a suffix.

    For the checked chips it is reported at the source, unless a suffix is all that it wants.
    """
    asked = bool(target.loads_on() & context.targets)
    wanted = _suffixed(target) if asked else None
    others = (other for other in every if other != target and (asked or other.loads_on() & context.targets))
    others = (other for other in others if asked or not any(_stops(context, code, other, third) for third in every))
    found: dict[tuple[str, Span], tuple[Module, Operation]] = {}
    for kept in (wanted, *others):
        for module, operation in refused(context, code, target, kept) if kept is not None else ():
            if operation.kind == "atom" and kept is not wanted:
                continue  # a library's atom compiles everywhere, to a trap
            if not asked or one.home is not one.build or _wants_suffix(operation, target):
                found[module.path, operation.at] = module, operation
    return list(found.values())


def _stops(context: Context, code: Behind, given: Target, kept: Target) -> bool:
    """Whether the code is refused for a target itself, and so is not to be compiled for that one alone."""
    return any(operation.kind == "instruction" for _, operation in refused(context, code, given, kept))


def _wants_suffix(operation: Operation, target: Target) -> bool:
    wanted = _suffixed(target)
    return wanted is not None and wanted in legal(operation) and target not in legal(operation)


def _suffixed(target: Target) -> Target | None:
    """The target of most chips with a suffix, for a plain one."""
    suffixes = target.chip.suffixes
    return Target(target.number, "f" if "f" in suffixes else "a") if suffixes and not target.suffix else None


def _draft(one: _Compiled, targets: list[Target], kept: Target | None, needing: _Needing) -> Draft:
    (first_in, first), *others = needing
    target, file = targets[0], first_in.path.rpartition("/")[2]
    names = " and ".join(map(str, targets))
    more = f" and {len(others)} more" if others else ""
    beside = f" {kept} in this list has it, so ptxas stops the build." if kept else ""
    wanted = _suffixed(target)
    loads = wanted.loads_on() if kept is None and wanted is not None else target.loads_on()
    guards = f"Compile it for {kept} only, or put it behind a guard."
    if (
        kept is not None
        and one.listed.text == kept.name.removeprefix("sm_")
        and target not in known_targets(one.listed.sass)
    ):
        beside = f" -arch with {kept} alone compiles for {target} too, so ptxas stops the build."
        guards = f"Write the pair, -gencode arch=compute_{one.listed.text},code={kept}."
    joined = one.carry.kind == "extension" or one.home is not one.build
    asked = one.listed.kind == "asked"
    beside += f" The plain target comes from {one.listed.text}." if asked else ""
    return Draft(
        place=DraftPlace(module=one.home, at=_flag(one, target), admitted=loads, certain=loads),
        severity="note" if asked else "warning" if joined else "error",
        confidence="medium" if asked or joined else "high",
        message=f"`{short(first)}` ({file}:{first.at[0]}{more}) does not exist on {names}.{beside}",
        label=f"without it on {names}" if kept else "without a suffix",
        advice=guards if kept else f"Write {wanted} (loads on {plain(loads)}).",
        related=tuple(RelatedSpan(where, found.at, f"`{short(found)}`") for where, found in needing[:_SHOWN]),
        remedy=_remedy(one, kept, _flag(one, target)),
        claims=_claims(first, target),
    )


def _remedy(one: _Compiled, kept: Target | None, at: Span) -> Remedy | NoFix:
    """The suffix that is wanted, where the target is written; which sources a list is for is nobody else's to say."""
    written = next((carry for carry in one.home.carries if carry.at == at), one.listed)
    if kept is not None:
        return NoFix("one list serves sources of several generations: which targets each is built for is your choice")
    if one.carry.kind == "inherited" or one.listed.is_a("asked", "match", "filter"):
        return NoFix("the targets are chosen when the build is configured, and no list here names them")
    loads = ChipSet.union(target.loads_on() for target in known_targets(written.sass))
    unsafe = "the suffix costs the PTX for later chips" if written.ptx else None
    return Remedy("carry", loads, evidence="without it the sources do not compile", unsafe=unsafe)


def _claims(operation: Operation, target: Target) -> tuple[Claimed, ...]:
    if charges := charges_of(operation, TargetSet.joining([target])):
        return tuple(claimed(operation, charge) for charge in charges)
    said = claims.other(f"`{short(operation)}` is not made for {target}", ChipSet.of(target.chip.name))
    return (Claimed(said, None),)


def _flag(one: _Compiled, target: Target) -> Span:
    """Where the target is written: a file with several extensions has its flags elsewhere."""
    flags = (c for c in one.home.carries if c.kind == "gencode" and target.name.removeprefix("sm_") in c.sass)
    at = one.listed.at
    return next((flag.at for flag in flags), at) if one.carry.kind == "extension" else at


def _of_chosen(context: Context, module: Module) -> Iterator[Draft]:
    if module.language != "python" or context.in_test(module):
        return
    told = [carry.at for carry in module.carries]
    for text in module.targets:
        target = Target.parse(text.text.rpartition("_")[2])
        left = _sent_to(context, module, text.at) - target.loads_on()
        if left and not any(at.holds(text.at) or text.at.holds(at) for at in told):
            told.append(text.at)
            yield _exact(module, text.at, target, left)
    for function in module.functions.values():
        for path, value in function.returns:
            if value.at is not None and _may_name(function, value) and not any(map(value.at.holds, told)):
                yield from _returned(context, module, path, value)


def _sent_to(context: Context, module: Module, at: Span) -> ChipSet:
    """The asked chips of one family that a test around a place asks for; none where others get there too."""
    here = context.let_in(module, at)
    asked = here & context.targets
    return asked if any(here <= siblings(chip) for chip in asked) else NONE


def _returned(context: Context, module: Module, path: Path, value: Expr) -> Iterator[Draft]:
    """The value of a function that names a target, on two chips of a family."""
    assert value.at is not None
    reached = ChipSet.common(context.tree.may(module, test) for test in path)
    found = context.tree.value(module, value)
    if reached == EVERY and not found.device:
        return  # a name that is given, whatever the chip
    picked = dict(zip(CHIPS, found.spread(), strict=True))
    pairs = ((one, other) for other in reached & context.targets for one in siblings(other) & reached if one != other)
    for one, other in pairs:
        mine, others = _target(picked[one]), _target(picked[other])
        if mine is None or others is None or one not in mine.loads_on():
            continue
        if mine == others and other not in others.loads_on():
            yield _exact(module, value.at, mine, ChipSet.of(other.name))


def _may_name(function: Function, value: Expr) -> bool:
    """Whether a function is called after a target, or its value has a piece of one's name."""
    texts = (node.args[0] for node in walk(value) if is_text(node))
    return _PICKS.search(function.qualname) is not None or any(map(_NAMES.search, texts))


def _target(text: object) -> Target | None:
    """The one target that a string is, or that nvcc's flags in it make."""
    if not isinstance(text, str):
        return None
    whole = spelling.spelled(text)
    found = list(known_targets([whole.target] if whole else [name for flag in find_flags(text) for name in flag.sass]))
    return found[0] if len(found) == 1 else None


def _exact(module: Module, at: Span, target: Target, left: ChipSet) -> Draft:
    return Draft(
        place=DraftPlace(module=module, at=at, admitted=target.loads_on(), certain=target.loads_on()),
        severity="warning",
        confidence="medium",
        message=f"This picks {target} on {called(left)} too, but only {plain(target.loads_on())} loads it.",
        label=f"not for {plain(left)}",
        advice=f"Name the chip's own target there ({', '.join(f'sm_{chip.joined}{target.suffix}' for chip in left)}).",
        remedy=NoFix("nothing here shows that the compiler knows the other target"),
        claims=(Claimed(claims.build([pair_of(target, target)], left), at),),
    )


def check(context: Context, judged: Judged) -> Iterator[Draft]:
    """A flag keeps a module from a build for a chip, and the module's own list compiles it for that chip."""
    if not judged.sets.flags or judged.gate.kind != "condition":
        return
    side = judged.gate.yes
    here = judged.on(side)
    lost: dict[ChipSet, list[tuple[Use, Admission]]] = {}
    for use in calls(context, judged, side):
        found = admission(context, judged.module, use)
        if found is None or not found.chips & here:
            continue
        missing = context.targets & found.chips - here - _elsewhere(context, judged, use)
        if missing:
            lost.setdefault(missing, []).append((use, found))
    for missing, places in lost.items():
        yield _left_out(context, judged, missing, places)


def _elsewhere(context: Context, judged: Judged, use: Use) -> ChipSet:
    """The chips for which other conditions of the file build the same module."""
    found = NONE
    for other in context.beside(judged.module):
        if other is judged or not other.sets.flags:
            continue
        for side in (other.gate.yes, other.gate.no):
            if any(use.name == named.name and use.at != named.at for named in side.uses):
                found |= other.on(side)
    return found


def _remedy_of_flags(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Remedy:
    """The flag of the missing chip asked for too; safe where all that it lets in is compiled for that chip."""
    name = places[0][0].name.rpartition(".")[2]
    evidence = f"`{name}` is compiled for {places[0][1].chips} ({place_in(judged, places[0][1].at)})"
    known = {use.at for use, _ in places}
    uses = (use for use in calls(context, judged, judged.gate.yes) if use.at not in known)
    own = [(use.at, other) for use in uses if spelling.numberless(other := use.name.rpartition(".")[2])]
    if not own:
        return Remedy("test", judged.core | missing, evidence=evidence)
    unsafe = f"`{own[0][1]}` is let in too, and is made for its own chip"
    at = own[0][0] if len(own) == 1 else None  # what it is kept apart from
    return Remedy("test", judged.core | missing, evidence=evidence, unsafe=unsafe, at=at)


def _left_out(context: Context, judged: Judged, missing: ChipSet, places: list[tuple[Use, Admission]]) -> Draft:
    here = judged.on(judged.gate.yes)
    parted = any(siblings(chip) & here for chip in missing)
    name = places[0][0].name.rpartition(".")[2]
    what = f"`{name}`" if len(places) == 1 else f"`{name}` and {len(places) - 1} more"
    compiled = "which compiles" if len(places) == 1 else "which compile"
    related = [
        RelatedSpan(place.at, place.at.at, f"`{place.name}` is compiled for {place.chips}") for _, place in places[:8]
    ]
    return Draft(
        place=DraftPlace.of_gate(judged),
        severity="warning" if parted else "note",
        confidence="high" if parted else "medium",
        message=f"A build for {called(missing)} alone leaves out {what}, {compiled} for {plain(missing)} too.",
        label=f"asks for {here & places[0][1].chips or here}",
        advice=f"Ask for {called(missing)} too{'' if parted else ', or compile it at first use'}.",
        related=tuple(related),
        remedy=_remedy_of_flags(context, judged, missing, places),
        claims=(Claimed(claims.other(f"a build for {plain(missing)} alone leaves out {what}", missing, name)),),
    )
