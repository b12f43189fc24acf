"""Tests of a running Python program, rewritten by codemods.

A spelling is only a proposal. What decides is the interpreter, which runs the edited text: an edit whose set
is not exactly what is wanted does not leave this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Literal

from bwlint.chips import ChipSet
from bwlint.chips.spelling import IN_NAMES, PREFIX
from bwlint.fix import Job
from bwlint.fix.change import WantedChange
from bwlint.fix.meant import meant_exactly
from bwlint.fix.python.place import Candidate, ConditionPlace
from bwlint.fix.python.proof import GateChecker, compares_limit
from bwlint.model.facts import Gate, Module
from bwlint.model.findings import Fix, NoFix, Proof
from bwlint.model.kinds import GateKind
from bwlint.sources.read import SourceText
from bwlint.world.gates import Judged
from bwlint.world.tree import Sets, Tree

__all__ = ["Spelling", "first_proved", "mend", "origin", "propose"]

Spelling = Callable[[ConditionPlace], Iterable[Candidate] | NoFix]
"""Proposes new texts of a test, the most idiomatic first; `NoFix` says why there can be none."""

_TABLES: frozenset[GateKind] = frozenset({"table", "lookup"})
_LONGEST_TITLE = 60
_UNKNOWN_SPELLING = NoFix("this spelling is not rewritten")
_XFAIL = re.compile(r"(?<!\w)xfail(?!\w)")
_MAY_NAME_CHIP = re.compile(rf"(?<!\w)\d|['\"]{PREFIX}?\d|\.{IN_NAMES}\d")


def mend(job: Job) -> Fix | NoFix:
    judged, remedy = job.judged, job.remedy
    if judged is None:
        return NoFix("nothing here tells which test to mend")
    place = origin(job, judged)
    doubt = remedy.unsafe or _known_to_fail(job, place)
    return _proposed(job, place, _wanted(judged, place, remedy.chips), doubt)


def _proposed(job: Job, origin: Judged, wanted: ChipSet, doubt: str | None) -> Fix | NoFix:
    tree, evidence = job.context.tree, job.remedy.evidence
    return propose(tree, job.module, job.root, origin.gate, origin.sets, wanted, job.source, evidence, doubt)


def _wanted(judged: Judged, origin: Judged, chips: ChipSet) -> ChipSet:
    """The set wanted of the gate to mend: the same chips change there, whichever way round it asks."""
    if origin is judged:
        return chips
    changed = (chips | judged.core) - (chips & judged.core)
    return (origin.core | changed) - (origin.core & changed)


def _known_to_fail(job: Job, judged: Judged) -> str | None:
    """Whether who is left out is expected to fail: somebody has seen that."""
    at = judged.other.at
    if at is None or judged.other.ends != "skip":
        return None
    text = SourceText(job.source)
    lines = " ".join(text.line(number) for number in range(at[0], at[2] + 1))
    return "the test is expected to fail there" if _XFAIL.search(lines) else None


def origin(job: Job, judged: Judged) -> Judged:
    """The gate to mend: of a call of a helper that skips or raises, the test in the helper that the finding is at."""
    if judged.gate.kind != "helper-call":
        return judged
    own = (other for other in job.context.judged[job.module.path] if other.gate.at == job.draft.at)
    return next(own, judged)


def propose(
    tree: Tree,
    module: Module,
    root: str,
    gate: Gate,
    sets: Sets,
    wanted: ChipSet,
    source: str,
    evidence: str,
    unsafe_reason: str | None,
) -> Fix | NoFix:
    """The fix after which the test of `gate` holds on exactly the chips `wanted`, or why there is none.

    `source` is the text that `module` was read from, without a byte order mark. The fix is safe unless
    `unsafe_reason` says why not; the words of both stand in its proof.
    """
    change = WantedChange.between(sets, wanted, _beyond(module, gate, sets, wanted) if unsafe_reason else None)
    if isinstance(change, NoFix):
        return change
    place = ConditionPlace(tree, module, root, gate, sets, source, gate.leaf or gate.at, change)
    if said := meant_exactly(gate, place.span, source, change):
        return said
    if compares_limit(gate, place.span, module):
        return NoFix("the literal is compared with a queried shared-memory limit")
    if gate.kind in _TABLES and not unsafe_reason:
        return NoFix("what stands in a row is for a person to say")
    spellings = (_of("rows"),) if gate.kind in _TABLES else _SPELLINGS
    proved = first_proved(place, spellings, _words(evidence, unsafe_reason))
    if isinstance(proved, NoFix):
        return proved
    candidate, proof = _with_words(place, *proved)
    return Fix("unsafe" if unsafe_reason else "safe", change.kind, _title(change, candidate), candidate, proof)


def _beyond(module: Module, gate: Gate, sets: Sets, wanted: ChipSet) -> Literal["admit", "bound"]:
    """Whether the working side of a gate gains chips or loses some."""
    denies = Judged(module, gate, sets, "").denies
    return "admit" if bool(wanted - sets.core) != denies else "bound"


def _with_words(place: ConditionPlace, candidate: Candidate, proof: Proof) -> tuple[Candidate, Proof]:
    """An edit with those of the words beside the gate that name one member of the family that it admits now."""
    from bwlint.fix.beside import moved, stale

    change, module, source = place.change, place.module, place.source
    refusal = Judged(module, place.gate, place.sets, "").other
    found = stale(module, source, place.gate, refusal, change.twins, change.chips) if change.twins else []
    edits = [edit for words in found for edit in moved(module, source, words, change.chips | change.twins)]
    proved = GateChecker(place).prove((*edits, *candidate), proof.evidence) if edits else None
    return ((*edits, *candidate), proved) if isinstance(proved, Proof) else (candidate, proof)


def _literals(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
    """Literals that name a chip, rewritten in their own spelling."""
    text = SourceText(place.source)
    # most helper calls hold no literal, and libcst is slow
    if not any(_MAY_NAME_CHIP.search(text.line(number)) for number in range(place.span[0], place.span[2] + 1)):
        return ()
    from bwlint.fix.python.locate import edits

    found = edits(place.module.path, place.source, place.span, place.change)
    return found if isinstance(found, NoFix) else ((edit,) for edit in found)


def _of(name: str) -> Spelling:
    """The proposals of a module of this package, which is loaded when they are asked for."""

    def spelling(place: ConditionPlace) -> Iterable[Candidate] | NoFix:
        found: Iterable[Candidate] | NoFix = import_module(f"{__name__}.{name}").proposals(place)
        return found

    return spelling


_SPELLINGS: tuple[Spelling, ...] = (_of("methods"), _literals, _of("helpers"), _of("flags"), _of("bounds"))


def first_proved(
    place: ConditionPlace, spellings: Iterable[Spelling], evidence: str
) -> tuple[Candidate, Proof] | NoFix:
    """The first proposal that holds, with its proof; else why the first one does not."""
    checker = GateChecker(place)
    refusal: NoFix | None = None
    for spelling in spellings:
        candidates = spelling(place)
        if isinstance(candidates, NoFix):
            refusal = refusal or candidates
            continue
        for candidate in candidates:
            proof = checker.prove(candidate, evidence)
            if isinstance(proof, Proof):
                return candidate, proof
            refusal = refusal or proof
    return refusal or _UNKNOWN_SPELLING


def _words(evidence: str, unsafe_reason: str | None) -> str:
    return f"{evidence} (unsafe: {unsafe_reason})" if unsafe_reason else evidence


def _title(change: WantedChange, candidate: Candidate) -> str:
    edit = candidate[-1]
    text = " ".join(edit.text.split()).strip(", ")
    if len(text) > _LONGEST_TITLE:
        return change.title
    region = edit.region
    inserted = (region.line, region.column) == (region.end_line, region.end_column)
    return f"{change.title}: {'add' if inserted else 'write'} `{text}`"
