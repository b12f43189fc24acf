"""Guards that must be edited together, because their code belongs together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bwlint.chips import ChipSet, TargetSet, group, spelling
from bwlint.chips.atoms import atom
from bwlint.chips.wording import plain
from bwlint.fix.cuda.guards import border
from bwlint.fix.cuda.terms import offsets
from bwlint.judging.guards import Guarded
from bwlint.judging.legality import legal
from bwlint.model.facts import Gate, Operation, Side
from bwlint.model.findings import NoFix
from bwlint.model.kinds import NAMED
from bwlint.readers.cuda.lexer import Code
from bwlint.world.gates import refuses

_WORD = re.compile(r"[A-Za-z_]\w*")
_TENSOR_CORES_OF_THEIR_OWN = group("hopper") | ChipSet.where(lambda chip: bool(chip.tmem_per_sm))
_OTHERS = rf"(?:{'|'.join(str(chip.joined) for chip in _TENSOR_CORES_OF_THEIR_OWN)})a?(?![0-9])"
_OF_OTHERS = re.compile(
    rf"\w*(?:(?i:wgmma|tcgen05|hopper)|(?!SM90_(?:TMA|BULK)_){spelling.IN_NAMES}{_OTHERS})\w*"
    rf"|\w+\s*<(?:[^<>;{{}}]*,)?\s*{_OTHERS}\s*[,>][^;{{}}()]*"
)
"""Code that is named or made for a generation whose instructions 12.x lack: `consume_sm90`, `consume<Traits, 90>`.
CuTe's copies by TMA, which 12.x have, are called after the first chip that has it."""
_INTRODUCED = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)"
    r"|\b(?:struct|class|union)\s+(?P<type>\w+)[^;{}()]{0,200}\{"
    r"|(?<![\w.>])(?P<function>\w+)\s*\([^;{}()]{0,400}\)\s*\{",
    re.M,
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "defined"})


def opened(guarded: Guarded, guards: tuple[Guarded, ...], gained: TargetSet) -> Iterator[tuple[Gate, TargetSet]]:
    """The guards in the same words in front of the same kind of code, with what they are to compile for."""
    kinds = {_kind(one) for one in guarded.operations() if one.kind in NAMED}
    for other in guards:
        same = other.guard.text == guarded.guard.text and other.guard.at != guarded.guard.at
        more = gained & other.sets.live - other.sets.may
        needs = [one for one in other.operations() if one.kind in NAMED]
        if same and more and needs and all(more <= legal(one) and _kind(one) in kinds for one in needs):
            yield other.guard, other.sets.may | more


def bounded(
    code: Code, guarded: Guarded, guards: tuple[Guarded, ...], lost: TargetSet
) -> tuple[tuple[Gate, TargetSet], ...] | NoFix:
    """The guards of the function at the same border, which change with one; none opens other code or an error."""
    at, name = border(guarded.guard.test), guarded.guard.qualname
    alike = [one for one in guards if border(one.guard.test) == at]
    near = [one for one in alike if one.guard.qualname == name]
    outside, end = [], 0
    for one in alike:
        start, stop = _around(code, one)
        outside.append(code.text[end : max(end, start)])
        end = max(end, stop)
    elsewhere = {*_WORD.findall("".join([*outside, code.text[end:]]))}
    mine = _words(code, guarded.guard.yes, guarded.guard.no) - elsewhere
    found: list[tuple[Gate, TargetSet]] = []
    for other in near:
        if other.guard.at == guarded.guard.at or not lost & other.sets.live:
            continue
        compiled = lost & other.sets.may
        lacking = any(compiled - legal(one) for one in other.operations() if one.kind in NAMED)
        if not (lacking or mine & _words(code, other.guard.yes, other.guard.no)):
            continue
        if compiled:
            found.append((other.guard, other.sets.may - lost))
        elif not (harm := _harm(code, other, lost)):
            found.append((other.guard, other.sets.may | (lost & other.sets.live)))
        elif mine & _words(code, other.guard.no):
            return NoFix(f"the #else at line {other.guard.at[0]} uses what is defined here, and {harm}")
    return tuple(found)


def _harm(code: Code, other: Guarded, gained: TargetSet) -> str:
    """Why chips must not be let through a guard that keeps them out: what they have there, or would get."""
    if refuses(other.guard.no):
        return f"ends in an error on {plain(gained.chips)}"
    named = of_another_generation(code, other.guard.yes)
    return f"the code above it is `{named}`, which is not for {plain(gained.chips)}" if named else ""


def of_another_generation(code: Code, side: Side) -> str:
    """What of a branch is made for 9.0 or 10.x alone, by its name or its template's arguments; "" for nothing."""
    named = _OF_OTHERS.search(code.text, *offsets(code, side.at)) if side.at is not None else None
    return named[0] if named else ""


def _kind(operation: Operation) -> str:
    """What an instruction or an atom belongs to: the trigger and the wait of a kernel that begins early are one."""
    found = atom(operation.name) if operation.kind == "atom" else None
    return found.group if found is not None else operation.name.partition(".")[0]


def _words(code: Code, *sides: Side) -> frozenset[str]:
    places = [side.at for side in sides if side.at is not None]
    return frozenset(word for at in places for word in _WORD.findall(code.text, *offsets(code, at)))


def _around(code: Code, guarded: Guarded) -> tuple[int, int]:
    """From where to where a guard and its two sides stand."""
    sides = [side.at for side in (guarded.guard.yes, guarded.guard.no) if side.at is not None]
    return offsets(code, guarded.guard.at)[0], max(offsets(code, at)[1] for at in (guarded.guard.at, *sides))


def not_introduced(code: Code, guarded: Guarded, guards: Sequence[Guarded], gained: TargetSet) -> str | None:
    """A name that the working side of a guard uses, and that the file introduces for others than `gained` alone."""
    at = guarded.working.at
    if at is None:
        return None
    others = (other for other in guards if other.guard.at != guarded.guard.at)
    regions = [region for other in others for region in _regions(code, other)]
    used = set(_WORD.findall(code.text, *offsets(code, at)))
    missing: dict[str, bool] = {}
    for name, place in _introduced(code.text):
        if name in used:
            around = [targets for start, end, targets in regions if start <= place < end]
            lacks = any(gained - targets for targets in around)
            missing[name] = missing.get(name, True) and lacks
    return next((name for name in sorted(missing) if missing[name]), None)


# one file holds many guards
@lru_cache(maxsize=2)
def _introduced(text: str) -> tuple[tuple[str, int], ...]:
    found = ((next(filter(None, match.groups())), match.start()) for match in _INTRODUCED.finditer(text))
    return tuple((name, place) for name, place in found if name not in _CONTROL)


def _regions(code: Code, guarded: Guarded) -> Iterator[tuple[int, int, TargetSet]]:
    """The two sides of a guard, with the targets that they are compiled for."""
    sets, guard = guarded.sets, guarded.guard
    for side, targets in ((guard.yes, sets.may), (guard.no, sets.live - sets.must)):
        if side.at is not None:
            yield (*offsets(code, side.at), targets)
