"""Choose the fixes of one pass: those without conflicts; the rest wait or are refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bwlint.model.findings import Finding, Fix, Proof
from bwlint.repair.changes import Changes, TextChange, get_on
from bwlint.report.summary import at_least
from bwlint.run.request import Outcome

Key = tuple[str, str, str]
"""The path, the rule and the fingerprint of a finding, which stay the same from pass to pass."""

OUTSIDE = "an edit is outside the given paths"
NEEDS_LEAVE = "unsafe, needs --unsafe-fixes"


@dataclass(frozen=True, slots=True)
class Wish:
    """A finding and all changes that would mend it, or silence it (`note`); `others` are other ways to mend it."""

    finding: Finding
    changes: tuple[tuple[str, TextChange], ...]
    note: bool = False
    others: tuple[Wish, ...] = ()

    @property
    def key(self) -> Key:
        return self.finding.path, self.finding.rule, self.finding.fingerprint

    @property
    def files(self) -> frozenset[str]:
        return frozenset(real for real, _ in self.changes)

    def in_file(self, real: str) -> list[TextChange]:
        return [change for path, change in self.changes if path == real]


@dataclass(frozen=True, slots=True)
class Unrepaired:
    """A finding that is not repaired, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Quit:
    """Nobody wants to hear of further fixes."""


Decision: TypeAlias = Wish | Quit | None
"""What to do about a fix: apply it, or the changes returned in its place; skip it (None); or go on without asking."""


@dataclass(slots=True)
class PassPlan:
    """One pass."""

    chosen: list[Wish] = field(default_factory=list)

    def changes(self) -> dict[str, list[TextChange]]:
        """What happens to each file, by real path, in order; what several fixes ask for once."""
        by_file: dict[str, set[TextChange]] = defaultdict(set)
        for wish in self.chosen:
            for real, change in wish.changes:
                by_file[real].add(change)
        return {real: sorted(found) for real, found in by_file.items()}


def wishes(outcome: Outcome, *, unsafe: bool) -> tuple[list[Wish], list[Unrepaired]]:
    """The fixes of the shown findings, safe ones first, and those that may not be applied."""
    found: list[Wish] = []
    refused: list[Unrepaired] = []
    for finding in at_least(outcome.report, outcome.severity).findings:
        fixes = finding.ways or ((finding.fix,) if finding.fix else ())
        made = [_wish(outcome, replace(finding, fix=fix), fix, unsafe=unsafe) for fix in fixes]
        usable = [wish for wish in made if isinstance(wish, Wish)]
        if usable:
            found.append(replace(usable[0], others=tuple(usable[1:])))
        elif made:
            refused.append(Unrepaired(finding, str(made[0])))
    return sorted(found, key=lambda wish: wish.finding.fix is not None and wish.finding.fix.applicability), refused


def _wish(outcome: Outcome, finding: Finding, fix: Fix, *, unsafe: bool) -> Wish | str:
    if not fix.edits:
        return "the fix changes nothing"
    if fix.applicability == "unsafe" and not unsafe:
        return NEEDS_LEAVE
    changes: list[tuple[str, TextChange]] = []
    for edit in fix.edits:
        real = outcome.names.real(edit.path)
        text = outcome.texts.of(real) if real in outcome.names.files else None
        if text is None:
            return OUTSIDE
        changes.append((real, TextChange.of(edit, text)))
    wish = Wish(finding, tuple(changes))
    if not all(get_on(wish.in_file(real)) for real in wish.files):
        return "its edits overlap"
    return wish


def plan(wanted: Iterable[Wish], alone: frozenset[str], decide: Callable[[Wish], Decision]) -> PassPlan:
    """The fixes of one pass. Of those that touch the files `alone` (real paths), the first one is taken."""
    made, taken = PassPlan(), defaultdict[str, Changes](Changes)
    closed: set[str] = set()
    for wish in wanted:
        if not _fits(wish, taken) or wish.files & closed:
            continue
        decision = decide(wish)
        if isinstance(decision, Quit):
            break
        if decision is None or not _fits(decision, taken):
            continue
        for real, change in decision.changes:
            taken[real].add(change)
        closed |= {real for real in decision.files if real in alone}
        made.chosen.append(decision)
    return made


def _fits(wish: Wish, taken: Mapping[str, Changes]) -> bool:
    return all(taken[real].takes(change) for real, change in wish.changes)


def connected(found: Iterable[Wish], start: Iterable[str]) -> Iterator[Wish]:
    """The fixes that change one of the files `start`, or a file that such a fix changes too, and so on."""
    reached, left = set(start), list(found)
    while True:
        near = [wish for wish in left if wish.files & reached]
        if not near:
            return
        yield from near
        left = [wish for wish in left if not wish.files & reached]
        reached |= {real for wish in near for real in wish.files}


def moving(proof: Proof) -> set[str]:
    """The chips or targets for which another thing may or must be true after an edit."""
    return {*proof.before_may} ^ {*proof.after_may} | {*proof.before_must} ^ {*proof.after_must}
