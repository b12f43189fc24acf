"""A fleet for people: what failed, a page a target, each hazard once with its places, and what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bwlint.fleet.table import Fleet, Hazard, PageRow, TargetPage
from bwlint.model.escape import visible
from bwlint.model.findings import SEVERITIES, WHOLE_FILE, Finding, Region
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.snippet import Paint, columns
from bwlint.report.text import painter


def render(fleet: Fleet, setting: Setting) -> str:
    """The parts of a fleet, an empty line between."""
    paint = painter(setting.color)
    parts = (
        _failed(fleet, paint),
        *(_page(page, paint) for page in fleet.pages),
        _hazards("in several sources", fleet.shared, paint),
        _hazards("in one source", [one for one in fleet.hazards if len(one.sources) == 1], paint),
        _changes(fleet, paint),
    )
    return "\n".join(text for part in parts if (text := "".join(f"{line}\n" for line in part)))


def summary(fleet: Fleet) -> str:
    """``40 sources, 2 failed: 29 warnings, 4 hazards in several sources; 3 new and 1 gone since the last run``."""
    failed = sum(row.checked is None for row in fleet.rows)
    empty = sum(row.is_empty for row in fleet.rows)
    parts = [counted(len(fleet.rows), "source"), *([f"{failed} failed"] if failed else [])]
    parts += [f"{empty} with nothing to scan"] if empty else []
    found = [finding for row in fleet.rows if row.report for finding in row.report.findings]
    told = [severities(found)]
    told += [f"{counted(len(fleet.shared), 'hazard')} in several sources"] if fleet.shared else []
    text = f"{', '.join(parts)}: {', '.join(told)}"
    if fleet.before is None:
        return text
    new, gone = sum(len(one.new) for one in fleet.changes), sum(len(one.gone) for one in fleet.changes)
    return f"{text}; {new} new and {gone} gone since the last run"


def severities(findings: Sequence[Finding]) -> str:
    """``1 error, 29 warnings``, or that there is nothing."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(counted(counts[one], one) for one in reversed(SEVERITIES) if counts[one]) or "no findings"


def rules(row: PageRow) -> str:
    """``2 arch-target, 1 leak``."""
    counts = Counter(finding.name for finding in row.findings)
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def in_line(reason: str) -> str:
    """What somebody else said in several lines."""
    return " ".join(reason.split())


def place(path: str, region: Region) -> str:
    """Where somebody can go and look."""
    return path if region == WHOLE_FILE else f"{path}:{region.line}:{region.column}"


def _failed(fleet: Fleet, paint: Paint) -> Iterator[str]:
    for row in fleet.rows:
        if row.checked is None:
            yield f"{paint('failed', 'error')} {visible(row.source.name)}: {visible(in_line(row.failed))}"
        elif row.is_empty:
            yield f"{paint('empty', 'warning')} {visible(row.source.name)}: nothing was scanned"


def _page(page: TargetPage, paint: Paint) -> Iterator[str]:
    every = [finding for row in page.rows for finding in row.findings]
    where = f" in {counted(len(page.rows), 'source')}" if every else ""
    yield paint(f"{page.target}: {severities(every)}{where}", "title")
    room = max((columns(visible(row.source)) for row in page.rows), default=0)
    for row in page.rows:
        name = visible(row.source)
        yield f"  {name}{' ' * (room - columns(name))}  {severities(row.findings)}: {rules(row)}"


def _hazards(title: str, hazards: Sequence[Hazard], paint: Paint) -> Iterator[str]:
    if not hazards:
        return
    yield paint(f"{title}:", "title")
    for hazard in hazards:
        finding = hazard.finding
        head = paint(visible(f"{finding.severity}[{finding.rule}]"), finding.severity)
        yield f"{head} {visible(finding.name)}: {visible(finding.message)} ({', '.join(hazard.targets)})"
        for at in hazard.places:
            yield f"  {paint('-->', 'gutter')} {visible(at.source)}: {visible(place(at.path, at.region))}"


def _changes(fleet: Fleet, paint: Paint) -> Iterator[str]:
    if not fleet.changes:
        return
    yield paint("since the last run:", "title")
    for change in fleet.changes:
        name = visible(change.source)
        if change.status != "changed":
            word = "new in the list" if change.status == "new" else "no longer in the list"
            yield f"  {name}: {word}, {severities((*change.new, *change.gone))}"
            continue
        yield f"  {name}:"
        yield from (f"    {paint('+', 'bad')} {_line(finding)}" for finding in change.new)
        yield from (f"    {paint('-', 'good')} {_line(finding)}" for finding in change.gone)


def _line(finding: Finding) -> str:
    where = place(finding.path, finding.region)
    return visible(f"{where}: {finding.severity}[{finding.rule}] {finding.name}: {finding.message}")
