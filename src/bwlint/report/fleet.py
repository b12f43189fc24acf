"""A fleet: for people (what failed, a page a target, each hazard once with its places, and what is new), as a folder of
Markdown, and as JSON, an API (described by `fleet.schema.json`; version 1 gains keys but loses none)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bwlint.fleet.table import Fleet, FleetRow, Hazard, PageRow, SourceChange, TargetPage
from bwlint.model.escape import visible
from bwlint.model.findings import SEVERITIES, WHOLE_FILE, Finding, Region
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.snippet import Paint, columns
from bwlint.report.text import in_a_line, painter
from bwlint.report.words import plain, table
from bwlint.report.write import document, picked, written


def as_text(fleet: Fleet, setting: Setting) -> str:
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


def unbroken(reason: str) -> str:
    """What somebody else said in several lines."""
    return " ".join(reason.split())


def place(path: str, region: Region) -> str:
    """Where somebody can go and look."""
    return path if region == WHOLE_FILE else f"{path}:{region.line}:{region.column}"


def _failed(fleet: Fleet, paint: Paint) -> Iterator[str]:
    for row in fleet.rows:
        if row.checked is None:
            yield f"{paint('failed', 'error')} {visible(row.source.name)}: {visible(unbroken(row.failed))}"
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
    return in_a_line(finding, place(finding.path, finding.region))


def as_pages(fleet: Fleet) -> dict[str, str]:
    return {
        "index.md": _joined(_index(fleet)),
        "shared.md": _joined(_shared(fleet)),
        **{f"{page.target}.md": _joined(_target_page(page)) for page in fleet.pages},
    }


def _joined(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _index(fleet: Fleet) -> Iterator[str]:
    yield from ("# bwlint fleet", "", f"{plain(summary(fleet))}.", "")
    yield from (f"- [{page.target}]({page.target}.md): {_of_page(page)}" for page in fleet.pages)
    yield from (f"- [in several sources](shared.md): {len(fleet.shared)}", "", "## Sources", "")
    yield from table(("source", "revision", "result"), *(_source(row) for row in fleet.rows))
    yield from _changes_since(fleet)


def _of_page(page: TargetPage) -> str:
    return severities([finding for row in page.rows for finding in row.findings])


def _source(row: FleetRow) -> tuple[str, str, str]:
    checked = row.checked
    if checked is None:
        return plain(row.source.name), "", f"failed: {plain(unbroken(row.failed))}"
    result = "nothing was scanned" if row.is_empty else severities(checked.report.findings)
    return plain(row.source.name), plain(checked.version or checked.revision[:12]), result


def _target_page(page: TargetPage) -> Iterator[str]:
    yield from (f"# {page.target}", "", f"{_of_page(page)}; [all sources](index.md)", "")
    if page.rows:
        heads = ("source", "errors", "warnings", "notes", "rules")
        yield from table(heads, *(_counts(row) for row in page.rows))
    for row in page.rows:
        yield from (f"## {plain(row.source)}", "")
        yield from table(("rule", "place", "finding"), *(_finding(finding) for finding in row.findings))


def _counts(row: PageRow) -> tuple[str, ...]:
    return (plain(row.source), *(str(row.of(one)) for one in ("error", "warning", "note")), plain(rules(row)))


def _finding(finding: Finding) -> tuple[str, str, str]:
    where = plain(place(finding.path, finding.region))
    return f"{finding.severity} {plain(finding.name)}", where, plain(finding.message)


def _shared(fleet: Fleet) -> Iterator[str]:
    yield from ("# In several sources", "", "[All sources](index.md)", "")
    for hazard in fleet.shared:
        yield from _hazard_page(hazard)


def _hazard_page(hazard: Hazard) -> Iterator[str]:
    finding = hazard.finding
    yield f"## {finding.severity} {plain(finding.name)}: {plain(finding.message)}"
    yield from ("", f"On {', '.join(hazard.targets)}, in {len(hazard.sources)} sources.", "")
    yield from table(
        ("source", "place"), *((plain(at.source), plain(place(at.path, at.region))) for at in hazard.places)
    )


def _changes_since(fleet: Fleet) -> Iterator[str]:
    if not fleet.changes:
        return
    yield from ("## Since the last run", "")
    rows = [row for change in fleet.changes for row in _of_change(change)]
    yield from table(("source", "", "place", "finding"), *rows)


def _of_change(change: SourceChange) -> Iterator[tuple[str, ...]]:
    name = plain(change.source)
    if change.status != "changed":
        word = "new in the list" if change.status == "new" else "no longer in the list"
        yield name, word, "", severities((*change.new, *change.gone))
        return
    for word, findings in (("new", change.new), ("gone", change.gone)):
        for finding in findings:
            yield (name, word, *_finding(finding)[1:])


_TOLD = ("rule", "name", "severity", "message")
"""Of a finding, wherever it is named."""


def as_json(fleet: Fleet, setting: Setting) -> str:
    return written(
        setting.version,
        targets=fleet.targets,
        sources=[_source_json(row, setting) for row in fleet.rows],
        pages=[_page_json(page) for page in fleet.pages],
        hazards=[_hazard_json(hazard) for hazard in fleet.hazards],
        before=fleet.before,
        changes=[_change_json(change) for change in fleet.changes],
    )


def _source_json(row: FleetRow, setting: Setting) -> dict[str, Any]:
    checked = row.checked
    return {
        "source": row.source.name,
        "kind": row.source.kind,
        "status": "failed" if checked is None else "empty" if row.is_empty else "checked",
        "reason": row.failed,
        "revision": checked.revision if checked else "",
        "version": checked.version if checked else "",
        "report": document(checked.report, setting) if checked else None,
    }


def _page_json(page: TargetPage) -> dict[str, Any]:
    return {
        "target": page.target,
        "sources": [
            {
                "source": row.source,
                **{f"{severity}s": row.of(severity) for severity in SEVERITIES},
                "rules": [
                    {"severity": severity, "name": name, "findings": number} for severity, name, number in row.counts
                ],
            }
            for row in page.rows
        ],
    }


def _hazard_json(hazard: Hazard) -> dict[str, Any]:
    return {
        **picked(hazard, "content", "targets", "sources", "places"),
        **picked(hazard.finding, *_TOLD, "category", "advice"),
    }


def _change_json(change: SourceChange) -> dict[str, Any]:
    placed = (*_TOLD, "path", "region")
    return {
        **picked(change, "source", "status"),
        "new": [picked(finding, *placed) for finding in change.new],
        "gone": [picked(finding, *placed) for finding in change.gone],
    }
