"""A fleet as a folder of Markdown: an index, a page a target, and one of what several sources have."""

from __future__ import annotations

from collections.abc import Iterator

from bwlint.fleet.table import Fleet, FleetRow, Hazard, PageRow, SourceChange, TargetPage
from bwlint.model.findings import Finding
from bwlint.report.fleet_text import in_line, place, rules, severities, summary
from bwlint.report.markdown import plain, table


def pages(fleet: Fleet) -> dict[str, str]:
    return {
        "index.md": _text(_index(fleet)),
        "shared.md": _text(_shared(fleet)),
        **{f"{page.target}.md": _text(_page(page)) for page in fleet.pages},
    }


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _index(fleet: Fleet) -> Iterator[str]:
    yield from ("# bwlint fleet", "", f"{plain(summary(fleet))}.", "")
    yield from (f"- [{page.target}]({page.target}.md): {_of_page(page)}" for page in fleet.pages)
    yield from (f"- [in several sources](shared.md): {len(fleet.shared)}", "", "## Sources", "")
    yield from table(("source", "revision", "result"), *(_source(row) for row in fleet.rows))
    yield from _changes(fleet)


def _of_page(page: TargetPage) -> str:
    return severities([finding for row in page.rows for finding in row.findings])


def _source(row: FleetRow) -> tuple[str, str, str]:
    checked = row.checked
    if checked is None:
        return plain(row.source.name), "", f"failed: {plain(in_line(row.failed))}"
    result = "nothing was scanned" if row.is_empty else severities(checked.report.findings)
    return plain(row.source.name), plain(checked.version or checked.revision[:12]), result


def _page(page: TargetPage) -> Iterator[str]:
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
        yield from _hazard(hazard)


def _hazard(hazard: Hazard) -> Iterator[str]:
    finding = hazard.finding
    yield f"## {finding.severity} {plain(finding.name)}: {plain(finding.message)}"
    yield from ("", f"On {', '.join(hazard.targets)}, in {len(hazard.sources)} sources.", "")
    yield from table(
        ("source", "place"), *((plain(at.source), plain(place(at.path, at.region))) for at in hazard.places)
    )


def _changes(fleet: Fleet) -> Iterator[str]:
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
