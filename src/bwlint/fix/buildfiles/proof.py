"""The proof of an edit: the file is read again, and its lists are compared with what they said."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bwlint.chips import NONE, ChipSet, Target, known_targets, siblings
from bwlint.chips.toolkits import first_toolkit, releases, version, within
from bwlint.fix import Job
from bwlint.fix.buildfiles.spellings import Piece
from bwlint.fix.edited import apply
from bwlint.fix.edited import edited as edited_module
from bwlint.fix.python.syntax import parse
from bwlint.model.expr import Span
from bwlint.model.facts import Carry, Module
from bwlint.model.findings import Edit, NoFix, Proof
from bwlint.model.kinds import ACCEPTING, FLAGS, LISTED
from bwlint.readers import ReadError
from bwlint.rules.arch_target import builds, plain

MOST_RELATED = 60
"""How many lists may add up to one that is changed."""
_Changed: TypeAlias = tuple[Carry, Carry]
"""A list before and after."""


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
    spared: ChipSet = NONE
    """Chips that a test keeps away from the list, whatever it has for them."""
    how: Literal["here", "splits", "repeats", "moves"] = "here"
    """splits: the list gets a branch of its own for later toolkits, in front of the one where it stands; repeats: what
    stands there is written again behind it for later toolkits; moves: targets go to a branch whose toolkits know them.
    """


def stated(module: Module) -> tuple[Carry, ...]:
    """The carries of a file that are written down in it; those made of others are left out."""
    return tuple(carry for carry in module.carries if not carry.is_a("extension", "inherited"))


def reached(carry: Carry) -> ChipSet:
    """The chips that load what a carry makes, or whose names it accepts."""
    if carry.kind in ACCEPTING:
        return ChipSet.joining(target.chip for target in known_targets((*carry.sass, *carry.ptx)))
    found = NONE
    for target in known_targets(carry.sass):
        found |= target.loads_on()
    return found


def prove(job: Job, index: int, proposal: Proposal, edits: Sequence[Edit], evidence: str) -> Proof | NoFix:
    """The proof that edits do what a proposal says and nothing else; `NoFix` says what is wrong."""
    text = apply(job.source, edits)
    try:
        edited = edited_module(job.module, text)
    except ReadError as error:
        return NoFix(f"the edited file does not parse: {error}")
    changed = _CHECKS[proposal.how](job, index, proposal, edited, edits)
    if isinstance(changed, NoFix):
        return changed
    old, now = changed
    return Proof(_may(old).names, reached(old).names, _may(now).names, reached(now).names, evidence)


def _here(job: Job, index: int, proposal: Proposal, edited: Module, edits: Sequence[Edit]) -> _Changed | NoFix:
    """The list as it was and as it is now, if it alone changes where it stands."""
    before, after = stated(job.module), stated(edited)
    first = min(proposal.touched)
    new = after[first + 1 : first + 1 + proposal.added]
    after = (*after[: first + 1], *after[first + 1 + proposal.added :])
    if len(after) != len(before) or len(new) != proposal.added:
        return NoFix("the edited file has other lists than before")
    places = [*range(first + 1), *[first] * proposal.added, *range(first + 1, len(before))]
    wrong = _differs(before, after, new, proposal) or _gates(job.module, edited, edits)
    wrong = wrong or _faults(job, index, edited, proposal, places)
    return wrong or (before[first], _joined(after[first], new))


def _split(job: Job, index: int, proposal: Proposal, edited: Module, edits: Sequence[Edit]) -> _Changed | NoFix:
    """The same for a list that has a branch of its own for later toolkits: older ones get what they got."""
    before, after = stated(job.module), stated(edited)
    if len(after) != len(before) + 1:
        return NoFix("the edited file has other lists than before")
    old = before[index]
    earlier, later = sorted(after[index : index + 2], key=lambda one: version(one.toolkit[0] or releases()[0]))
    toolkits = within(later.toolkit), within(earlier.toolkit)
    if toolkits[0] & toolkits[1] or toolkits[0] | toolkits[1] != within(old.toolkit):
        return NoFix("the edit would change which toolkits build this list")
    if _said(replace(earlier, toolkit=old.toolkit)) != _said(old):
        return NoFix("the edit would change the list for older toolkits")
    rest = (*after[:index], replace(later, toolkit=old.toolkit), *after[index + 2 :])
    places = [*range(index + 1), *range(index, len(before))]
    return _differs(before, rest, (), proposal) or _faults(job, index, edited, proposal, places) or (old, later)


def _repeated(job: Job, index: int, proposal: Proposal, edited: Module, edits: Sequence[Edit]) -> _Changed | NoFix:
    """The same for lists behind those that were, in a branch of their own: nothing that was there changes."""
    before, after = stated(job.module), stated(edited)
    after_line = edits[0].region.line + 1
    lines = range(after_line, after_line + edits[0].text.count("\n"))
    new = [one for one in after if one.at[0] in lines]
    if [_said(one) for one in before] != [_said(one) for one in after if one not in new]:
        return NoFix("the edit would change other lists")
    if not new or any(not _is_known(one) or reached(one) != proposal.gains for one in new):
        return NoFix("the new branch would not build just what is wanted")
    names, old = iter(range(len(before))), before[index]
    places = [index if one in new else next(names) for one in after]
    wrong = _gates(job.module, edited, edits) or _faults(job, index, edited, proposal, places)
    return wrong or (old, _joined(old, [one for one in new if one.name == old.name]))


def _unmoved(job: Job, index: int, proposal: Proposal, edited: Module, edits: Sequence[Edit]) -> _Changed | NoFix:
    """The same where targets change their branch: each toolkit is given all that it was given and knows."""
    before, after = stated(job.module), stated(edited)
    added = len(after) - len(before)
    if added not in (0, 1) or any(_given(before, release) != _given(after, release) for release in releases()):
        return NoFix("a toolkit that knows a target would not get it any more")
    places = [*range(index + 1), *[index] * added, *range(index + 1, len(before))]
    wrong = _gates(job.module, edited, edits) or _faults(job, index, edited, proposal, places)
    return wrong or (before[index], before[index])


def _given(carries: Sequence[Carry], release: str) -> dict[tuple[str, str], frozenset[str]]:
    """What a toolkit knows of what it is given, by name."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for carry in carries:
        if release in within(carry.toolkit):
            known = (target.name for target in known_targets(carry.sass) if _knows(release, target))
            name = "" if carry.kind in FLAGS else carry.kind, carry.name
            found[name] = found.get(name, frozenset()) | frozenset(known)
    return found


def _knows(release: str, target: Target) -> bool:
    first = first_toolkit(target)
    return first is not None and version(first) <= version(release)


def _is_known(carry: Carry) -> bool:
    return all(_knows(release, target) for target in known_targets(carry.sass) for release in within(carry.toolkit))


def _joined(carry: Carry, new: Sequence[Carry]) -> Carry:
    sass = tuple(name for one in (carry, *new) for name in one.sass)
    return replace(carry, sass=sass, ptx=tuple(name for one in (carry, *new) for name in one.ptx))


def _differs(before: Sequence[Carry], after: Sequence[Carry], new: Sequence[Carry], proposal: Proposal) -> NoFix | None:
    first = min(proposal.touched)
    for place, (old, now) in enumerate(zip(before, after, strict=True)):
        if place not in proposal.touched:
            if _said(old) != _said(now):
                return NoFix(f"the edit would change the list at line {old.at[0]} too")
            continue
        if _frame(old) != _frame(now):
            return NoFix("the edited list is another one")
        told = _joined(now, new) if place == first else now
        wrong = _moved(old, told, proposal)
        if wrong is not None:
            return wrong
    return None


def _said(carry: Carry) -> tuple[object, ...]:
    return (*_frame(carry), carry.sass, carry.ptx, carry.text, carry.name)


def _frame(carry: Carry) -> tuple[object, ...]:
    name = "" if carry.is_a("match", "option") else carry.name
    return carry.kind, name, carry.sources, carry.toolkit, carry.qualname


def _moved(old: Carry, now: Carry, proposal: Proposal) -> NoFix | None:
    """What is wrong with how the chips of a list moved."""
    had, has = reached(old) - proposal.spared, reached(now) - proposal.spared
    if proposal.kind == "bound":
        is_wanted = has <= had and has != had and set(now.sass) <= set(old.sass)
        return None if is_wanted else NoFix("the list would not be as wanted")
    if old.kind in ACCEPTING and not set(old.sass) <= set(now.sass):
        return NoFix("the edited list would not accept all that it did")
    mine = NONE
    for chip in proposal.gains:
        mine |= siblings(chip)
    mine = mine or has
    if has - mine != had - mine or not had <= has or not has - had <= proposal.gains:
        return NoFix("the edited list would reach other chips than wanted")
    rest = [[one for one in known_targets(carry.sass) if one.chip not in mine] for carry in (old, now)]
    if rest[0] != rest[1]:
        return NoFix("the edit would change the list for other chips")
    return None


def _may(carry: Carry) -> ChipSet:
    found = reached(carry)
    for target in known_targets(carry.ptx) if carry.kind not in ACCEPTING else ():
        found |= target.jits_on()
    return found


def _gates(module: Module, edited: Module, edits: Sequence[Edit]) -> NoFix | None:
    """Gates and guards beside the lists stay as they are; one that is such a list itself changes with it."""
    lines = {edit.region.line for edit in edits}
    itself = {
        n for n, gate in enumerate(module.gates) if gate.kind in LISTED and lines & {*range(gate.at[0], gate.at[2] + 1)}
    }
    both = ([*one.gates, None, *one.guards] for one in (module, edited))
    old, new = ([one and (one.kind, one.qualname, one.name, one.text) for one in gates] for gates in both)
    same = len(old) == len(new) and all(
        n in itself or one == other for n, (one, other) in enumerate(zip(old, new, strict=True))
    )
    return None if same else NoFix("the edited file has other checks than before")


def _faults(job: Job, index: int, edited: Module, proposal: Proposal, places: Sequence[int]) -> NoFix | None:
    """The fault is gone, and none is there that was not; `places` are those that the lists had before."""
    before, after = stated(job.module), stated(edited)
    related = {n for n, one in enumerate(before) if _related(one, [before[place] for place in proposal.touched])}
    if len(related) > MOST_RELATED:
        return NoFix("too many lists add up to one here")
    old = _said_of(job, job.module, [(n, before[n]) for n in sorted(related)])
    new = _said_of(job, edited, [(n, one) for n, one in zip(places, after, strict=True) if n in related])
    asked = [_asked_for(job, module) for module in (job.module, edited)]
    left = 0 < asked[0] <= asked[1]
    if left or any((place, label) == (index, job.draft.label) for place, label, _ in new):
        return NoFix("the finding would remain")
    known = {(place, label) for place, label, _ in old if place in proposal.touched}
    for place, label, _ in new - old:
        if (place, label) not in known and label != builds.NO_FAMILY:  # the old test did not hold for it either
            line = next(carry.at[0] for one, carry in zip(places, after, strict=True) if one == place)
            return NoFix(f"line {line} has the list for another case, and needs the same edit")
    return None


def _asked_for(job: Job, module: Module) -> int:
    """How often a suffix, or another list, is asked for in a file with the words of the finding."""
    return sum(draft.label == job.draft.label for draft in plain.check_file(job.context, module))


def _related(carry: Carry, touched: Iterable[Carry]) -> bool:
    """Whether what the rule says of a list may rest on one that is touched."""
    kinds = {(carry.kind in FLAGS, one.kind in FLAGS) for one in touched}
    return carry.kind == "match" or (True, True) in kinds or any(one.name == carry.name for one in touched)


def _said_of(job: Job, module: Module, carries: Sequence[tuple[int, Carry]]) -> Counter[tuple[int, str, str]]:
    """What the rule says of some lists of a file, by the place that each has in the file as it stands."""
    places: dict[Span, int] = {}
    for place, carry in carries:
        places.setdefault(carry.at, place)
    part = replace(module, carries=tuple(carry for _, carry in carries))
    return Counter((places[draft.at], draft.label, draft.message) for draft in builds.check_file(job.context, part))


def in_a_list(source: str, at: Span) -> bool:
    """Whether the string at a place of a Python file is an element of a list or a tuple that is written out."""
    syntax = parse(source)
    nodes = ast.walk(syntax.tree) if syntax is not None else ()
    rows = [node.elts for node in nodes if isinstance(node, (ast.List, ast.Tuple))]
    return any((one.lineno, one.col_offset) == at[:2] for row in rows for one in row)


_CHECKS = {"here": _here, "splits": _split, "repeats": _repeated, "moves": _unmoved}
"""What shows that an edit does what a proposal of its kind says."""
