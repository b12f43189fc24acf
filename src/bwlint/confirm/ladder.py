"""Run every rung that can test a claim, whatever the rung below has shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

from bwlint.chips import Target, chip
from bwlint.confirm.receipt import RUNGS, Attempt, Receipt, Rung, Tried, not_eligible, not_executed
from bwlint.confirm.workbench import Subject, Workbench
from bwlint.model.findings import Claim, Finding
from bwlint.sources.tree import package_root, project_folder
from bwlint.sources.worktree import is_in

_MOST_AMOUNTS = 8
_LARGEST = 1 << 40
_LONGEST = 200


def receipts(findings: Iterable[Finding], locate: Locate, world: Workbench) -> Iterator[Receipt]:
    """A receipt for each finding, in order, as soon as it is there."""
    for finding in findings:
        located = ((claim, locate(claim.path or finding.path)) for claim in finding.claims)
        tried = tuple(climb(Subject(finding, claim, at.real, at.root), world) for claim, at in located)
        yield Receipt(finding.fingerprint, finding.rule, finding.path, finding.region.line, tried)


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


def _module(rung: Rung) -> ModuleType:
    return import_module(f"bwlint.confirm.rungs.{rung}")


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Where the file of a finding lies: `real` on disk, or the archive that holds it ("" where neither is there), and
    the folder of its tree."""

    real: str
    root: str


Locate = Callable[[str], FindingPlace]
"""From the path of a finding to its place."""


def places(roots: tuple[str, ...], known: Callable[[str], str], wheels: Mapping[str, str]) -> Locate:
    """What finds the place of a path that a finding gives. `roots` are the folders that were scanned (real paths),
    `known` gives the real path of a scanned file and any other text back as it is, `wheels` are unpacked packages by
    the path that they are reported under."""

    def locate(path: str) -> FindingPlace:
        of_wheel = (real for reported, real in wheels.items() if path.startswith(f"{reported}/"))
        real = _existing(known(path)) or next(of_wheel, "")
        return FindingPlace(real, _root(real, roots)) if real else FindingPlace("", "")

    return locate


def _existing(path: str) -> str:
    """A path, or the file above it that must be an archive with the rest as a member; "" where neither is there."""
    if os.path.lexists(path):
        return os.path.realpath(path)
    # Not Path.is_file, which raises for a name that is too long.
    return next((os.path.realpath(above) for above in Path(path).parents if os.path.isfile(above)), "")  # noqa: PTH113


def _root(real: str, roots: tuple[str, ...]) -> str:
    """The scanned folder around a file or the project around that: what it includes may lie beside a scanned folder."""
    project = project_folder(package_root(real))
    around = [root for root in roots if is_in(real, root)]
    scanned = max(around, key=len) if around else project
    return project if is_in(scanned, project) else scanned
