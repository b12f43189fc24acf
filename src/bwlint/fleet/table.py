"""The result of a fleet run: a row per source, a page per target, shared findings, and changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bwlint.chips import parse_targets
from bwlint.fleet.job import Checked, FleetSource, NotChecked
from bwlint.fleet.state import LastRun
from bwlint.model.findings import FAIL_ON, SEVERITIES, Category, Claim, FailOn, Finding, Region, Report, Severity


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
