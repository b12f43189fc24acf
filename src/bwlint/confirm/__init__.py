"""`bwlint confirm`: findings put to the assembler and to a GPU. What was asked for, what could run and what did run are
kept apart; a rung that did not run proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from bwlint.confirm.ladder import climb
from bwlint.confirm.receipt import Receipt
from bwlint.confirm.world import Subject, World
from bwlint.findings import Claim, Finding


@dataclass(frozen=True, slots=True)
class Place:
    """Where the file of a finding lies: `real` on disk, or the archive that holds it ("" where neither is there), and
    the folder of its tree."""

    real: str
    root: str


Locate = Callable[[str], Place]
"""From the path of a finding to its place."""


def receipts(findings: Iterable[Finding], locate: Locate, world: World) -> Iterator[Receipt]:
    """A receipt for each finding, in order, as soon as it is there."""
    for finding in findings:
        tried = tuple(climb(_subject(finding, claim, locate), world) for claim in finding.claims)
        yield Receipt(finding.fingerprint, finding.rule, finding.path, finding.region.line, tried)


def _subject(finding: Finding, claim: Claim, locate: Locate) -> Subject:
    place = locate(claim.path or finding.path)
    return Subject(finding, claim, place.real, place.root)
