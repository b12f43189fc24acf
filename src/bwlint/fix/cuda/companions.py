"""Guards that must be edited together, because their code belongs together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bwlint.chips import TargetSet
from bwlint.chips.atoms import atom
from bwlint.fix.cuda.guards import border
from bwlint.fix.cuda.terms import offsets
from bwlint.judging.guards import Guarded
from bwlint.judging.legality import legal
from bwlint.model.facts import Gate, Operation
from bwlint.model.kinds import NAMED
from bwlint.readers.cuda.lexer import Code

_WORD = re.compile(r"[A-Za-z_]\w*")


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
) -> Iterator[tuple[Gate, TargetSet]]:
    """The guards of the function at the same border: they use what this one introduces, or have as little there."""
    at, name = border(guarded.guard.test), guarded.guard.qualname
    alike = [one for one in guards if border(one.guard.test) == at]
    near = [one for one in alike if one.guard.qualname == name]
    outside, end = [], 0
    for one in alike:
        start, stop = _around(code, one)
        outside.append(code.text[end : max(end, start)])
        end = max(end, stop)
    elsewhere = {*_WORD.findall("".join([*outside, code.text[end:]]))}
    mine = _words(code, guarded) - elsewhere
    for other in near:
        if other.guard.at == guarded.guard.at or not lost & other.sets.live:
            continue
        compiled = lost & other.sets.may
        lacking = any(compiled - legal(one) for one in other.operations() if one.kind in NAMED)
        if lacking or mine & _words(code, other):
            yield other.guard, other.sets.may - lost if compiled else other.sets.may | (lost & other.sets.live)


def _kind(operation: Operation) -> str:
    """What an instruction or an atom belongs to: the trigger and the wait of a kernel that begins early are one."""
    found = atom(operation.name) if operation.kind == "atom" else None
    return found.group if found is not None else operation.name.partition(".")[0]


def _words(code: Code, guarded: Guarded) -> frozenset[str]:
    """The words behind a guard, on both sides."""
    sides = [side.at for side in (guarded.guard.yes, guarded.guard.no) if side.at is not None]
    return frozenset(word for at in sides for word in _WORD.findall(code.text, *offsets(code, at)))


def _around(code: Code, guarded: Guarded) -> tuple[int, int]:
    """From where to where a guard and its two sides stand."""
    sides = [side.at for side in (guarded.guard.yes, guarded.guard.no) if side.at is not None]
    return offsets(code, guarded.guard.at)[0], max(offsets(code, at)[1] for at in (guarded.guard.at, *sides))
