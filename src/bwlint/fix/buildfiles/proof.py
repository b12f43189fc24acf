"""The proof of an edit: the file is read again, and its lists are compared with what they said."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bwlint.chips import NONE, ChipSet, Target, siblings
from bwlint.evaluate.expr import Span
from bwlint.facts import Carry, Module
from bwlint.findings import Edit, Proof
from bwlint.fix import Job
from bwlint.fix.apply import apply
from bwlint.fix.buildfiles.spellings import Piece
from bwlint.readers import ReadError, reader
from bwlint.rules import arch_target

_ACCEPT = frozenset({"filter", "match"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit and what it is to bring about.

    The carries at `touched` gain the chips `gains` (none: they lose some, or keep all); the first of them gets `added`
    new ones behind it. `unsafe` says why a person should look at it.
    """

    pieces: tuple[Piece, ...]
    kind: Literal["family", "bound"]
    title: str
    gains: ChipSet
    touched: frozenset[int]
    added: int
    unsafe: str


def stated(module: Module) -> tuple[Carry, ...]:
    """The carries of a file that are written down in it; those made of others are left out."""
    return tuple(carry for carry in module.carries if carry.kind != "extension")


def targets(names: Iterable[str]) -> Iterator[Target]:
    """The targets that bwlint knows of some names."""
    for name in names:
        try:
            yield Target.parse(name)
        except ValueError:
            continue


def reached(carry: Carry) -> ChipSet:
    """The chips that load what a carry makes, or whose names it accepts."""
    if carry.kind in _ACCEPT:
        return ChipSet.joining(target.chip for target in targets((*carry.sass, *carry.ptx)))
    found = NONE
    for target in targets(carry.sass):
        found |= target.loads_on()
    return found


def prove(job: Job, index: int, proposal: Proposal, edits: Sequence[Edit], evidence: str) -> Proof | str:
    """The proof that edits do what a proposal says and nothing else; a string says what is wrong."""
    text = apply(job.source, edits)
    try:
        edited = _read(job.module, text)
    except ReadError as error:
        return f"the edited file does not parse: {error}"
    before, after = stated(job.module), stated(edited)
    first = min(proposal.touched)
    new = after[first + 1 : first + 1 + proposal.added]
    after = (*after[: first + 1], *after[first + 1 + proposal.added :])
    if len(after) != len(before) or len(new) != proposal.added:
        return "the edited file has other lists than before"
    wrong = (
        _differs(before, after, new, proposal) or _gates(job.module, edited) or _faults(job, index, edited, proposal)
    )
    if wrong is not None:
        return wrong
    old, now = before[first], _joined(after[first], new)
    return Proof(_may(old).names, reached(old).names, _may(now).names, reached(now).names, evidence)


def _read(module: Module, text: str) -> Module:
    return reader(module.language).read(module.path, text, module.name, module.is_package, frozenset())


def _joined(carry: Carry, new: Sequence[Carry]) -> Carry:
    sass = tuple(name for one in (carry, *new) for name in one.sass)
    return replace(carry, sass=sass, ptx=tuple(name for one in (carry, *new) for name in one.ptx))


def _differs(before: Sequence[Carry], after: Sequence[Carry], new: Sequence[Carry], proposal: Proposal) -> str | None:
    first = min(proposal.touched)
    for place, (old, now) in enumerate(zip(before, after, strict=True)):
        if place not in proposal.touched:
            if _said(old) != _said(now):
                return f"the edit would change the list at line {old.at[0]} too"
            continue
        if _frame(old) != _frame(now):
            return "the edited list is another one"
        told = _joined(now, new) if place == first else now
        wrong = _moved(old, told, proposal)
        if wrong is not None:
            return wrong
    return None


def _said(carry: Carry) -> tuple[object, ...]:
    return (*_frame(carry), carry.sass, carry.ptx, carry.text, carry.name)


def _frame(carry: Carry) -> tuple[object, ...]:
    name = "" if carry.kind in ("match", "option") else carry.name
    return carry.kind, name, carry.sources, carry.toolkit, carry.qualname


def _moved(old: Carry, now: Carry, proposal: Proposal) -> str | None:
    """What is wrong with how the chips of a list moved."""
    had, has = reached(old), reached(now)
    if proposal.kind == "bound":
        return (
            None if has <= had and has != had and set(now.sass) <= set(old.sass) else "the list would not be as wanted"
        )
    if old.kind in _ACCEPT and not set(old.sass) <= set(now.sass):
        return "the edited list would not accept all that it did"
    mine = NONE
    for chip in proposal.gains:
        mine |= siblings(chip)
    mine = mine or has
    if has - mine != had - mine or not had <= has or not has - had <= proposal.gains:
        return "the edited list would reach other chips than wanted"
    if [t for t in targets(old.sass) if t.chip not in mine] != [t for t in targets(now.sass) if t.chip not in mine]:
        return "the edit would change the list for other chips"
    return None


def _may(carry: Carry) -> ChipSet:
    found = reached(carry)
    for target in targets(carry.ptx) if carry.kind not in _ACCEPT else ():
        found |= target.jits_on()
    return found


def _gates(module: Module, edited: Module) -> str | None:
    """Gates and guards beside the lists stay as they are."""
    for old, new in ((module.gates, edited.gates), (module.guards, edited.guards)):
        if [(one.kind, one.qualname, one.name, one.text) for one in old] != [
            (one.kind, one.qualname, one.name, one.text) for one in new
        ]:
            return "the edited file has other gates than before"
    return None


def _faults(job: Job, index: int, edited: Module, proposal: Proposal) -> str | None:
    """The fault is gone, and none is there that was not."""
    before = _said_of(job, job.module, 0, 0)
    first = min(proposal.touched)
    after = _said_of(job, edited, first, proposal.added)
    own = [(place, label) for place, label, _ in before if place == index]
    labels = {label for _, label in own if label == job.draft.label}
    if any(place == index and label in labels for place, label, _ in after):
        return "the finding would still be there"
    known = {(place, label) for place, label, _ in before if place in proposal.touched - {index}}
    left = after - before
    for place, label, message in left:
        if (place, label) not in known:
            return f"the edited file would have another fault: {message}"
    return None


def _said_of(job: Job, module: Module, first: int, added: int) -> Counter[tuple[int, str, str]]:
    """What the rule says of each list of a file, by the place of the list; those that an edit adds count as one."""
    places: dict[Span, int] = {}
    for place, carry in enumerate(stated(module)):
        places.setdefault(carry.at, place - min(max(place - first, 0), added) if added else place)
    return Counter(
        (places[draft.at], draft.label, draft.message) for draft in arch_target.check_file(job.context, module)
    )


def in_a_list(source: str, at: Span) -> bool:
    """Whether the string at a place of a Python file is an element of a list or a tuple that is written out."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    rows = [node.elts for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple)]
    return any((one.lineno, one.col_offset) == at[:2] for row in rows for one in row)
