"""The ladder: each claim goes up every rung that knows its kind, whatever the rung below has shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import cast

from bwlint.confirm.places import Locate
from bwlint.confirm.receipt import RUNGS, Attempt, Receipt, Rung, Tried
from bwlint.confirm.world import Subject, World
from bwlint.findings import Claim, Finding


def receipts(findings: Iterable[Finding], locate: Locate, world: World) -> Iterator[Receipt]:
    """A receipt for each finding, in order, as soon as it is there."""
    for finding in findings:
        tried = tuple(climb(_subject(finding, claim, locate), world) for claim in finding.claims)
        yield Receipt(finding.fingerprint, finding.rule, finding.path, finding.region.line, tried)


def _subject(finding: Finding, claim: Claim, locate: Locate) -> Subject:
    place = locate(claim.path or finding.path)
    return Subject(finding, claim, place.real, place.root)


def climb(subject: Subject, world: World) -> Tried:
    """All attempts at one claim. What goes wrong in a rung, even in our own code, is a reason and no end of the run."""
    attempts = tuple(_attempt(rung, subject, world) for rung in RUNGS if subject.claim.kind in _module(rung).KINDS)
    return Tried(subject.claim, attempts)


def _attempt(rung: Rung, subject: Subject, world: World) -> Attempt:
    try:
        attempt = cast(Attempt, _module(rung).attempt(subject, world))
    except Exception as error:
        return Attempt(rung, True, True, False, None, f"internal error: {type(error).__name__}: {error}")
    if attempt.executed and world.altered:
        # What ran was not what was released.
        return replace(attempt, outcome="inconclusive", reason=f"{world.altered}; it said: {attempt.reason}")
    return attempt


@cache
def _module(rung: Rung) -> ModuleType:
    return import_module(f"bwlint.confirm.rungs.{rung}")
