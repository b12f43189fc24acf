"""The result of a fleet run: a row per source, a page per target, shared findings, and changes. Results are
stored between runs, one for each source and the last complete run.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from bwlint import __version__
from bwlint.chips import parse_targets
from bwlint.fleet.job import (
    AnsweredJob,
    AsBefore,
    AskedOfAll,
    Checked,
    FleetJob,
    FleetSource,
    NotChecked,
    answer_of,
    packed_answer,
)
from bwlint.index.kept import basis
from bwlint.index.packed import NotData, packed, unpacked
from bwlint.model.findings import FAIL_ON, SEVERITIES, Category, Claim, FailOn, Finding, Region, Report, Severity

LIMIT = 512 * 1024**2
"""Bytes that all of it may have; what was used least lately goes first."""
LONGEST = 90 * 24 * 3600
"""Seconds after which what no run has used goes."""
_OWN = ("source-", "last-")


@dataclass(frozen=True, slots=True)
class FleetRow:
    """One source. `report` and `contents` are of what is shown; None and () where it `failed` for that reason."""

    source: FleetSource
    failed: str
    checked: Checked | None

    @property
    def report(self) -> Report | None:
        return self.checked.report if self.checked else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was there to be read."""
        return self.checked is not None and not self.checked.scanned


@dataclass(frozen=True, slots=True)
class HazardPlace:
    """Where a hazard stands in a source."""

    source: str
    path: str
    region: Region


@dataclass(frozen=True, slots=True)
class Hazard:
    """Findings of one rule with one message about the same lines, wherever they stand. `finding` is the first, of the
    highest severity; `targets` are the chips that it is about."""

    content: str
    finding: Finding
    targets: tuple[str, ...]
    places: tuple[HazardPlace, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.source for place in self.places))


@dataclass(frozen=True, slots=True)
class PageRow:
    """What a source has for one target: how many findings of each severity and rule name."""

    source: str
    counts: tuple[tuple[Severity, str, int], ...]
    findings: tuple[Finding, ...]

    def of(self, severity: Severity) -> int:
        """How many of a severity."""
        return sum(number for found, _, number in self.counts if found == severity)


@dataclass(frozen=True, slots=True)
class TargetPage:
    """The sources with something to say for one target, in the order of the list."""

    target: str
    rows: tuple[PageRow, ...]


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A source beside the last run: `status` is new, changed or gone; of one that failed nothing is said."""

    source: str
    status: str
    new: tuple[Finding, ...] = ()
    gone: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """The result of a run, whoever did the work. `before` is the version that the last run had, if any."""

    targets: tuple[str, ...]
    rows: tuple[FleetRow, ...]
    hazards: tuple[Hazard, ...]
    pages: tuple[TargetPage, ...]
    before: str | None
    changes: tuple[SourceChange, ...]

    @property
    def shared(self) -> tuple[Hazard, ...]:
        """Hazards of more than one source."""
        return tuple(hazard for hazard in self.hazards if len(hazard.sources) > 1)


def fleet_of(
    answers: Sequence[tuple[FleetSource, Checked | NotChecked]],
    targets: tuple[str, ...],
    severity: Severity,
    last: LastRun | None,
) -> Fleet:
    """The table of all sources, in their order, with findings from a severity on."""
    rows = tuple(
        FleetRow(source, answer.reason, None)
        if isinstance(answer, NotChecked)
        else FleetRow(source, "", _shown(answer, severity))
        for source, answer in answers
    )
    pages = tuple(TargetPage(target, tuple(_page_rows(rows, targets, target))) for target in targets)
    return Fleet(
        targets,
        rows,
        tuple(_hazards(rows, targets)),
        pages,
        last.tool if last else None,
        tuple(_changes(rows, last, severity)) if last else (),
    )


def fails(answers: Sequence[Checked | NotChecked], fail_on: FailOn) -> bool:
    """Whether a source has findings from that severity on."""
    shown = (_shown(answer, fail_on) for answer in answers if isinstance(answer, Checked))
    return any(answer.report.findings for answer in shown)


def _shown(answer: Checked, severity: FailOn) -> Checked:
    shown = SEVERITIES[FAIL_ON.index(severity) :]
    pairs = [pair for pair in _pairs(answer) if pair[1].severity in shown]
    report = replace(answer.report, findings=tuple(finding for _, finding in pairs))
    return replace(answer, report=report, contents=tuple(content for content, _ in pairs))


def _pairs(answer: Checked) -> Iterator[tuple[str, Finding]]:
    return zip(answer.contents, answer.report.findings, strict=True)


def _page_rows(rows: Sequence[FleetRow], targets: tuple[str, ...], target: str) -> Iterator[PageRow]:
    for row in rows:
        found = row.report.findings if row.report else ()
        here = tuple(finding for finding in found if target in concerned(finding, targets))
        if here:
            counts = Counter((finding.severity, finding.name) for finding in here)
            ordered = sorted(counts.items(), key=lambda item: (-SEVERITIES.index(item[0][0]), -item[1], item[0][1]))
            yield PageRow(row.source.name, tuple((*key, number) for key, number in ordered), here)


def _hazards(rows: Sequence[FleetRow], targets: tuple[str, ...]) -> list[Hazard]:
    """What most sources have first, then by severity, then in the order of the list."""
    groups: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for row in rows:
        for content, finding in _pairs(row.checked) if row.checked else ():
            groups[content].append((row.source.name, finding))
    hazards = [_hazard(content, group, targets) for content, group in groups.items()]
    return sorted(hazards, key=lambda one: (-len(one.sources), -SEVERITIES.index(one.finding.severity)))


def _hazard(content: str, group: Sequence[tuple[str, Finding]], targets: tuple[str, ...]) -> Hazard:
    worst = max((finding for _, finding in group), key=lambda finding: SEVERITIES.index(finding.severity))
    about = {chip for _, finding in group for chip in concerned(finding, targets)}
    places = tuple(HazardPlace(source, finding.path, finding.region) for source, finding in group)
    return Hazard(content, worst, tuple(target for target in targets if target in about), places)


_TURNED_AWAY: frozenset[Category] = frozenset({"arch-target", "excluded", "family-split", "test-gate"})


def concerned(finding: Finding, targets: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the targets on which a finding tells of trouble. Its claims say so; a gate's own is about all chips that
    it was tried on, of which some may be turned away."""
    named = {chip for claim in finding.claims if claim.kind not in ("gate", "guard") for chip in _chips(claim)}
    if about := tuple(target for target in targets if target in named):
        return about
    tried = {chip for claim in finding.claims for chip in _chips(claim)}
    about = tuple(target for target in targets if target in tried) or targets
    if finding.category not in _TURNED_AWAY:
        return about
    return tuple(target for target in about if target not in finding.admitted) or about


def _chips(claim: Claim) -> tuple[str, ...]:
    if not claim.targets:
        return claim.chips
    return (*claim.chips, *parse_targets(claim.targets)[0].names)


def _changes(rows: Sequence[FleetRow], last: LastRun, severity: Severity) -> Iterator[SourceChange]:
    for row in rows:
        if row.checked is None:
            continue
        before = last.checked.get(row.source.name)
        if before is None:
            yield SourceChange(row.source.name, "new", row.checked.report.findings)
            continue
        shown = _shown(before, severity)
        new, gone = _missing(row.checked, shown), _missing(shown, row.checked)
        if new or gone:
            yield SourceChange(row.source.name, "changed", new, gone)
    listed = {row.source.name for row in rows}
    for name in sorted(last.checked.keys() - listed):
        yield SourceChange(name, "gone", (), _shown(last.checked[name], severity).report.findings)


def _missing(one: Checked, other: Checked) -> tuple[Finding, ...]:
    """The findings of one that the other has not, or not as often."""
    left = Counter(other.contents)
    missing = []
    for content, finding in _pairs(one):
        if left[content]:
            left[content] -= 1
        else:
            missing.append(finding)
    return tuple(missing)


def usual_folder() -> Path:
    """Where programs of this user keep what outlives them."""
    from platformdirs import user_state_path

    return user_state_path("bwlint", appauthor=False) / "fleet"


@dataclass(frozen=True, slots=True)
class LastRun:
    """The answers of a run that came to its end, by the names of sources, and the bwlint that gave them."""

    tool: str
    checked: Mapping[str, Checked]


@dataclass(frozen=True, slots=True)
class FleetState:
    """A folder; everything in it is whole or not there, whenever a run is killed."""

    folder: Path
    asked: AskedOfAll
    lists: tuple[str, ...]
    """What the lists of this run are known by."""

    def begin(self) -> None:
        """Make the folder; raises OSError where nothing can be kept in it."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._put("begun", b"")

    def kept(self, source: FleetSource) -> Checked | None:
        """The last answer of a source, if this bwlint gave it."""
        found = self._get(self._key("source", source.kind, source.where))
        if found is None or not found.startswith(basis()):
            return None
        with suppress(NotData):
            answer = answer_of(found[len(basis()) :])
            return answer if isinstance(answer, Checked) else None
        return None

    def keep(self, job: FleetJob, answer: bytes) -> None:
        """Keep an answer; raises OSError."""
        self._put(self._key("source", job.source.kind, job.source.where), basis() + answer)

    def last(self) -> LastRun | None:
        """What the last whole run with these lists and options came to."""
        found = self._get(self._key("last", *self.lists))
        if found is None:
            return None
        with suppress(NotData, TypeError, ValueError):
            tool, answers = unpacked(found)
            checked = {name: answer_of(bytes.fromhex(data)) for name, data in answers.items()}
            return LastRun(tool, {name: one for name, one in checked.items() if isinstance(one, Checked)})
        return None

    def end(self, checked: Mapping[str, Checked]) -> None:
        """The run has ended; raises OSError."""
        answers = {name: packed_answer(one).hex() for name, one in checked.items()}
        self._put(self._key("last", *self.lists), packed((__version__, answers)))

    def prune(self) -> None:
        """Remove what no run has used for `LONGEST`, and what is beyond `LIMIT`; never what this run has used."""
        with suppress(OSError):
            began, now, left = (self.folder / "begun").stat().st_mtime, time.time(), LIMIT
            files = [path for path in self.folder.iterdir() if path.name.startswith(_OWN) and path.is_file()]
            for status, path in sorted(((path.stat(), path) for path in files), key=lambda one: -one[0].st_mtime):
                left -= status.st_size
                if status.st_mtime < began and (left < 0 or now - status.st_mtime > LONGEST):
                    path.unlink(missing_ok=True)

    def _key(self, kind: str, *parts: str) -> str:
        told: Sequence[object] = [*parts, self.asked.target, self.asked.select, self.asked.ignore]
        return f"{kind}-{blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()}"

    def _get(self, name: str) -> bytes | None:
        with suppress(OSError):
            os.utime(self.folder / name)
            return (self.folder / name).read_bytes()
        return None

    def _put(self, name: str, data: bytes) -> None:
        temporary = self.folder / f"{name}.tmp"
        temporary.write_bytes(data)
        temporary.replace(self.folder / name)


Work = Callable[[Sequence[FleetJob]], Iterable[tuple[FleetJob, AnsweredJob]]]
"""Who does the jobs: gives each with its answer, in any order."""


@dataclass(frozen=True, slots=True)
class DoneSource:
    """A source that is done; `said` is what its process said on stderr, and what could not be kept."""

    source: FleetSource
    answer: Checked | NotChecked
    said: str


def checked(
    sources: Sequence[FleetSource], state: FleetState, work: Work, *, is_fresh: bool = False
) -> Iterator[DoneSource]:
    kept = {source: None if is_fresh else state.kept(source) for source in sources}
    jobs = [FleetJob(source, state.asked, before.revision if before else "") for source, before in kept.items()]
    for job, answered in work(jobs):
        answer, said = answered.answer, answered.said
        if isinstance(answer, AsBefore):
            before = kept[job.source]
            answer = before or NotChecked("an earlier run left no result for it")
        elif isinstance(answer, Checked):
            try:
                state.keep(job, answered.data)
            except OSError as error:
                said += f"not kept: {error.strerror}\n"
        yield DoneSource(job.source, answer, said)
