"""Passes over a tree until nothing is left to repair, and their result in lines for stderr.

Files are changed in memory; `write` brings them to the disk.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from bwlint.chips import NONE, ChipSet
from bwlint.model.escape import visible
from bwlint.model.findings import Finding
from bwlint.model.naming import counted
from bwlint.model.progress import Advance, quiet
from bwlint.repair.changes import moved, origin
from bwlint.repair.plan import Decision, Key, PassPlan, Quit, Unrepaired, Wish, connected, moving, plan, wishes
from bwlint.repair.source import EditedFile
from bwlint.repair.write import Replacement
from bwlint.report.summary import at_least
from bwlint.run.check import judge
from bwlint.run.gather import Gathered, again, gather
from bwlint.run.request import CheckRequest, GateSets, Outcome
from bwlint.sources.read import SourceText, Unread, given

MOST_PASSES = 12
_MOST_REASONS = 5


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a fix has changed a file (a real path), in offsets of the text on disk."""

    real: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Done:
    """A fix that was applied, or a comment that was written: in which pass, where, and whether the first one saw it."""

    wish: Wish
    number: int
    spots: tuple[Spot, ...]
    seen_at_first: bool


@dataclass(frozen=True, slots=True)
class Repaired:
    """`before` is the outcome as things stand on disk, `left` the fixes still there when the passes ended."""

    before: Outcome
    outcome: Outcome
    changed: tuple[EditedFile, ...]
    done: tuple[Done, ...]
    refused: tuple[Unrepaired, ...]
    passes: int
    left: int = 0


Decide = Callable[[Wish, Outcome], Decision]
News = Callable[[Outcome], Outcome]
"""Takes from an outcome the findings to leave alone: a baseline knows them, or an older revision has them."""


def everything(wish: Wish, outcome: Outcome) -> Decision:
    """Apply every fix."""
    return wish


def all_of_it(outcome: Outcome) -> Outcome:
    """Leave no finding alone."""
    return outcome


def repaired(
    request: CheckRequest,
    stack: ExitStack,
    advance: Advance = quiet,
    *,
    unsafe: bool = False,
    decide: Decide = everything,
    news: News = all_of_it,
) -> Repaired:
    """Repair what `request` names, in memory, as long as `stack` lives. Both outcomes of the result are those that
    `news` leaves. Raises UsageError and ConfigError."""
    gathered = gather(request, stack, advance)
    return _Run(gathered, stack, unsafe, decide, news, judge(gathered)).to_the_end()


@dataclass(slots=True)
class _Run:
    gathered: Gathered
    stack: ExitStack
    unsafe: bool
    decide: Decide
    news: News
    outcome: Outcome
    sources: dict[str, EditedFile | str] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    refused: dict[Key, Unrepaired] = field(default_factory=dict)
    held_back: dict[Key, Unrepaired] = field(default_factory=dict)
    """What the newest outcome has no fix for, or none that is safe: another pass may change that."""
    alone: set[str] = field(default_factory=set)
    """Files in which several fixes at once went wrong."""
    decided: dict[Wish, Wish] = field(default_factory=dict)
    skipped: set[Key] = field(default_factory=set)
    ended: bool = False
    """Whether somebody has said that it is enough."""

    def to_the_end(self) -> Repaired:
        before, number, at_first = self.news(self.outcome), 0, frozenset[Key]()
        wanted = self._wanted()
        while wanted and number < MOST_PASSES:
            number += 1
            at_first = at_first or frozenset(wish.key for wish in wanted)
            made = self._plan(wanted)
            wanted = []
            if not made.chosen:
                break
            self._apply(made, number, at_first)
            wanted = [] if self.ended else self._wanted()
        changed = tuple(source for source in self.sources.values() if isinstance(source, EditedFile) and source.changes)
        after = self.news(self.outcome)
        return Repaired(before, after, changed, tuple(self.done), self._refusals(), number, len(wanted))

    def _refusals(self) -> tuple[Unrepaired, ...]:
        """What was refused of what there is still to be found."""
        there = {Wish(finding, ()).key for finding in self.outcome.report.findings}
        return tuple(refusal for key, refusal in (self.held_back | self.refused).items() if key in there)

    def _wanted(self) -> list[Wish]:
        found, refused = wishes(self.news(self.outcome), unsafe=self.unsafe)
        self.held_back = {Wish(refusal.finding, ()).key: refusal for refusal in refused}
        known = self.refused.keys() | self.skipped
        return [able for wish in found if wish.key not in known and (able := self._able(wish)) is not None]

    def _refuse(self, wish: Wish, reason: str) -> None:
        self.refused.setdefault(wish.key, Unrepaired(wish.finding, reason))

    def _able(self, wish: Wish) -> Wish | None:
        """A wish with the ways whose files can be changed; None where there is none."""
        ways = [replace(way, others=()) for way in (wish, *wish.others) if self._obstacle(way) is None]
        if not ways:
            self._refuse(wish, self._obstacle(wish) or "")
            return None
        return replace(ways[0], others=tuple(ways[1:]))

    def _obstacle(self, wish: Wish) -> str | None:
        found = (source for real in sorted(wish.files) if isinstance(source := self._source(real), str))
        return next(found, None)

    def _source(self, real: str) -> EditedFile | str:
        if real not in self.sources:
            text = self.outcome.texts.of(real)
            unpacked = real.startswith(self.gathered.found.mounts)
            if unpacked or text is None:
                self.sources[real] = "bwlint does not rewrite files of a package" if unpacked else "no longer readable"
            else:
                self.sources[real] = EditedFile.of(self.outcome.names.files[real], text.source, self._named)
        return self.sources[real]

    @property
    def _named(self) -> tuple[str, ...]:
        return self.gathered.settings.request.paths

    def _plan(self, wanted: Sequence[Wish]) -> PassPlan:
        """The fixes of a pass after which every file can be read; where it cannot, one fix at a time is tried."""
        own = self.gathered.settings.own_words()
        while True:
            open_to = [wish for wish in wanted if wish.key not in self.refused.keys() | self.skipped]
            made = plan(open_to, frozenset(self.alone), self._decide)
            faults = self._faults(made, own)
            if not faults:
                return made
            for real, fault in faults.items():
                touching = [wish for wish in made.chosen if real in wish.files]
                if len(touching) == 1:
                    self._refuse(touching[0], fault)
                self.alone.add(real)

    def _decide(self, wish: Wish) -> Decision:
        """Nobody is asked twice about the same change."""
        if wish in self.decided:
            return self.decided[wish]
        decision = Quit() if self.ended else self.decide(wish, self.outcome)
        if isinstance(decision, Wish):
            self.decided[wish] = decision
        elif decision is None:
            self.skipped.add(wish.key)
        else:
            self.ended = True
        return decision

    def _faults(self, made: PassPlan, own: frozenset[str]) -> dict[str, str]:
        found = {}
        for real, changes in made.changes().items():
            source = self.sources[real]
            if isinstance(source, EditedFile) and (fault := source.then(changes).fault(own)):
                found[real] = fault
        return found

    def _apply(self, made: PassPlan, number: int, at_first: frozenset[Key]) -> None:
        """Change the files and judge them again; what does not turn out as proved is taken back."""
        before = {real: source for real in made.changes() if isinstance(source := self.sources[real], EditedFile)}
        expected = _Expected.of(self.outcome, made)
        self._set({real: before[real].then(changes) for real, changes in made.changes().items()})
        wrong = expected.wrong(self.outcome)
        spoilt = {real for wish in wrong for real in wish.files}
        taken_back = list(connected(made.chosen, spoilt))
        if taken_back:
            self._set({real: before[real] for wish in taken_back for real in wish.files})
            for wish in wrong:
                if all(sum(real in other.files for other in taken_back) == 1 for real in wish.files):
                    self._refuse(wish, "the finding would remain")
            self.alone |= {real for wish in taken_back for real in wish.files}
        for wish in made.chosen:
            if wish not in taken_back:
                spots = tuple(Spot(real, *origin(c.start, c.end, before[real].changes)) for real, c in wish.changes)
                self.done.append(Done(wish, number, spots, wish.key in at_first))

    def _set(self, sources: dict[str, EditedFile]) -> None:
        self.sources |= sources
        contents = {real: data for real, s in sources.items() if not isinstance(data := s.after, Unread)}
        self.stack.enter_context(given(contents))
        self.gathered = again(self.gathered, frozenset(sources))
        self.outcome = judge(self.gathered)
        gc.collect()  # a run makes cycles by the million, and `check` has switched the collector off


@dataclass(frozen=True, slots=True)
class _Expected:
    """What has to be true after a pass: each finding is gone, and no gate moves on chips that no fix speaks of."""

    chosen: tuple[Wish, ...]
    places: dict[Key, tuple[int, str]]
    sets: GateSets
    chips: ChipSet
    """Those that the proofs let move."""

    @classmethod
    def of(cls, outcome: Outcome, made: PassPlan) -> _Expected:
        changes = made.changes()
        places: dict[Key, tuple[int, str]] = {}
        for wish in made.chosen:
            real = outcome.names.real(wish.finding.path)
            text = outcome.texts.of(real)
            region = wish.finding.region
            if text is not None:
                offset = moved(text.offset(region.line, region.column), changes.get(real, ()))
                places[wish.key] = (offset, wish.finding.message)
        of_targets = {real for wish in made.chosen if not _is_of_chips(wish) for real in wish.files}
        sets = {real: outcome.sets[real] for real in changes.keys() - of_targets if real in outcome.sets}
        chips = ChipSet.of(*sorted({name for wish in made.chosen if _is_of_chips(wish) for name in _moving(wish)}))
        return cls(tuple(made.chosen), places, sets, chips)

    def wrong(self, after: Outcome) -> list[Wish]:
        """The fixes that did not turn out as they should."""
        there = self._there(after)
        strayed = {real for real in self.sets if self._strayed(real, after)}
        found = []
        for wish in self.chosen:
            offset, message = self.places.get(wish.key, (-1, ""))
            is_alone = sum(bool(other.files & wish.files) for other in self.chosen) == 1
            has_strayed = not is_alone and wish.files & strayed
            if has_strayed or (wish.finding.path, wish.finding.rule, offset, message) in there:
                found.append(wish)
        return found

    def _there(self, after: Outcome) -> set[tuple[str, str, int, str]]:
        paths = {wish.finding.path for wish in self.chosen}
        found = set()
        for finding in after.report.findings:
            text: SourceText | None = after.texts.of(after.names.real(finding.path)) if finding.path in paths else None
            if text is not None:
                offset = text.offset(finding.region.line, finding.region.column)
                found.add((finding.path, finding.rule, offset, finding.message))
        return found

    def _strayed(self, real: str, after: Outcome) -> bool:
        old, new = self.sets[real], after.sets.get(real, ())
        if len(old) != len(new):
            return False  # each fix alone is proved; nothing can be said of both
        moved_on = NONE
        for (may, must), (may_after, must_after) in zip(old, new, strict=True):
            moved_on |= may - may_after | may_after - may | must - must_after | must_after - must
        return not moved_on <= self.chips


def _is_of_chips(wish: Wish) -> bool:
    """Whether a proof is about chips, and not about compile targets."""
    return all("." in name for name in _moving(wish))


def _moving(wish: Wish) -> set[str]:
    """What the proof of a fix lets move."""
    fix = wish.finding.fix
    return set() if wish.note or fix is None else moving(fix.proof)


def summary(repaired: Repaired, did: str, unwritten: Collection[str] = (), *, verbose: bool) -> str:
    """What was fixed (`did`), what has to wait, what is not fixed and why; `unwritten` files stayed as they were."""
    left = f"deferred {counted(repaired.left, 'finding')} after {MOST_PASSES} passes; run it again for the rest"
    waiting = [left] if repaired.left else []
    lines = [*_fixed(repaired, did, unwritten), *waiting, *_refused(repaired, verbose=verbose)]
    return "".join(f"bwlint: {line}\n" for line in lines)


def _fixed(repaired: Repaired, did: str, unwritten: Collection[str]) -> Iterable[str]:
    written = [done for done in repaired.done if not done.wish.files & set(unwritten)]
    fixed = [done for done in written if not done.wish.note]
    notes = len(written) - len(fixed)
    if fixed:
        counts = Counter(done.wish.finding.name for done in fixed).most_common()
        rules = ", ".join(f"{count} {name}" for name, count in counts)
        files = len({spot.real for done in fixed for spot in done.spots})
        later = sum(done.number > 1 for done in fixed)
        in_turn = f", {later} of them in a later pass" if later else ""
        yield f"{did} {counted(len(fixed), 'finding')} in {counted(files, 'file')}: {rules}{in_turn}"
    if notes:
        yield f"suppressed {counted(notes, 'finding')} by a comment"


def _refused(repaired: Repaired, *, verbose: bool) -> Iterable[str]:
    """Reasons with their counts, of the findings that are shown."""
    refused = not_fixed(repaired)
    if not refused:
        return
    reasons = Counter(reason for _, reason in refused).most_common()
    shown = reasons if verbose else reasons[:_MOST_REASONS]
    rest = sum(count for _, count in reasons[len(shown) :])
    words = [visible(reason) + f" ({count})" * (len(reasons) > 1) for reason, count in shown]
    words += [f"other reasons ({rest}; --verbose lists them)"] * bool(rest)
    yield f"did not fix {counted(len(refused), 'finding')}: {'; '.join(words)}"
    if verbose:
        for finding, reason in refused:
            place = f"{finding.path}:{finding.region.line}:{finding.region.column}"
            yield f"not fixed: {visible(place)}: {finding.name}: {visible(reason)}"


def not_fixed(repaired: Repaired) -> Sequence[tuple[Finding, str]]:
    """The findings that are left though somebody looked for a fix, each with the reason."""
    found = [(refusal.finding, refusal.reason) for refusal in repaired.refused]
    left = at_least(repaired.outcome.report, repaired.outcome.severity).findings
    found += [(finding, finding.fix_refused) for finding in left if finding.fix_refused is not None]
    return sorted(found, key=lambda entry: (entry[0].path, entry[0].region.line, entry[0].region.column))


def groups(repaired: Repaired) -> list[list[Replacement]]:
    """What to write of a run: files that one fix changes together are one group."""
    left = {source.file.real: source for source in repaired.changed}
    wishes = [done.wish for done in repaired.done]
    found: list[list[Replacement]] = []
    for real in sorted(left):
        reals = {real, *(other for wish in connected(wishes, [real]) for other in wish.files)} & left.keys()
        group = [
            Replacement(other, left[other].data, after)
            for other in sorted(reals)
            if not isinstance(after := left[other].after, Unread)
        ]
        for other in reals:
            del left[other]
        if group:
            found.append(group)
    return found
