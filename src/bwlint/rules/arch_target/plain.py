"""arch-target where a list has a target that what it compiles cannot be assembled for: for want of a suffix, or of an
instruction that others of the list have.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePath

from bwlint.chips import ChipSet, Target, TargetSet, known_targets
from bwlint.chips.flags import PLAIN
from bwlint.chips.frameworks import arch_list
from bwlint.chips.wording import plain
from bwlint.judging import claims
from bwlint.judging.claims import Claimed
from bwlint.judging.compiled import Behind, behind, refused
from bwlint.judging.context import Context
from bwlint.judging.drafts import Draft, DraftPlace, RelatedSpan, Remedy
from bwlint.judging.legality import charges_of, claimed, legal, short
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module, Operation
from bwlint.model.findings import NoFix
from bwlint.sources.read import read_bytes
from bwlint.sources.tree import checkout_folder, package_root

_SHOWN = 8
_RUNS_SETUP = re.compile(
    rb"\bsetup\.py[ \t]|\bpip3?[ \t]+(?:install|wheel)\b[^\n]{0,200}[ \t]\.(?:[ \t\n]|$)|-m[ \t]+build\b"
)


_Needing = list[tuple[Module, Operation]]


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
