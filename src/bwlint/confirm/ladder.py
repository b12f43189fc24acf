"""Run every rung that can test a claim, whatever the rung below has shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import cast

from bwlint.chips import Target, chip
from bwlint.confirm.places import Locate
from bwlint.confirm.receipt import RUNGS, Attempt, Receipt, Rung, Tried, not_eligible, not_executed
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Claim, Finding

_MOST_AMOUNTS = 8
_LARGEST = 1 << 40
_LONGEST = 200


def receipts(findings: Iterable[Finding], locate: Locate, world: Workbench) -> Iterator[Receipt]:
    """A receipt for each finding, in order, as soon as it is there."""
    for finding in findings:
        tried = tuple(climb(_subject(finding, claim, locate), world) for claim in finding.claims)
        yield Receipt(finding.fingerprint, finding.rule, finding.path, finding.region.line, tried)


def _subject(finding: Finding, claim: Claim, locate: Locate) -> Subject:
    place = locate(claim.path or finding.path)
    return Subject(finding, claim, place.real, place.root)


def climb(subject: Subject, world: Workbench) -> Tried:
    """All attempts at one claim. What goes wrong in a rung, even in our own code, is a reason and no end of the run."""
    rungs = [rung for rung in RUNGS if subject.claim.kind in _module(rung).KINDS]
    strange = _strange(subject.claim)
    if strange:
        return Tried(subject.claim, tuple(not_eligible(rung, strange) for rung in rungs))
    return Tried(subject.claim, tuple(_attempt(rung, subject, world) for rung in rungs))


def _strange(claim: Claim) -> str:
    """What a report that is read back claims of things that nobody knows here; "" where all is known."""
    try:
        for name in claim.chips:
            chip(name)
        for name in claim.targets:
            Target.parse(name)
    except ValueError as error:
        return str(error)[:_LONGEST]
    if len(claim.amounts) > _MOST_AMOUNTS or not all(0 <= amount <= _LARGEST for amount in claim.amounts):
        return "no chip has the amounts that the claim names"
    return ""


def _attempt(rung: Rung, subject: Subject, world: Workbench) -> Attempt:
    try:
        attempt = cast(Attempt, _module(rung).attempt(subject, world))
    except Exception as error:
        return not_executed(rung, f"internal error: {type(error).__name__}: {error}")
    if attempt.executed and world.altered:
        # What ran was not what was released.
        return replace(attempt, outcome="inconclusive", reason=f"{world.altered}; it said: {attempt.reason}")
    return attempt


@cache
def _module(rung: Rung) -> ModuleType:
    return import_module(f"bwlint.confirm.rungs.{rung}")
