"""The lines of sources that a page shows: those around each place of a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bwlint.model.findings import WHOLE_FILE, Finding, Region
from bwlint.model.ledger import Row
from bwlint.report import Lines
from bwlint.report.snippet import code_point

AROUND = 3
"""Lines of context before and after."""

DRAWN_PLACES = 5
"""Places of a row of a ledger that the page draws, as audit.js has it."""

_HEAD, _TAIL = 8, 3
_LONG = 1000
"""UTF-16 units of a line: a longer one is cut to what is around its first place."""

Excerpts = dict[str, dict[int, "str | list[str | int]"]]
"""By path and line: the line with its end, or where it is cut the number of units that are left out and the rest."""


def excerpts(findings: Iterable[Finding], lines: Lines) -> Excerpts:
    """The excerpts for `findings`; a file that cannot be read has none."""
    return _excerpts((place for finding in findings for place in _places(finding)), lines)


def of_rows(rows: Iterable[Row], lines: Lines) -> Excerpts:
    """The same for the rows of a ledger, each with its first places: those that the page draws."""
    places = (place for row in rows for place in row.places[:DRAWN_PLACES])
    return _excerpts(((place.path, Region(place.line, 1, place.end_line, 1)) for place in places), lines)


def _excerpts(places: Iterable[tuple[str, Region]], lines: Lines) -> Excerpts:
    found: Excerpts = {}
    sources: dict[str, Sequence[str]] = {}
    for path, region in places:
        if path not in sources:
            sources[path] = lines(path) or ()
        kept = found.setdefault(path, {}) if sources[path] else {}
        for number in _numbers(region, len(sources[path])):
            text = sources[path][number - 1]
            if len(text) <= _LONG:
                kept[number] = text
            else:
                kept.setdefault(number, _cut(text, region.column if number == region.line else 1))
    return found


def _places(finding: Finding) -> Iterator[tuple[str, Region]]:
    if finding.region != WHOLE_FILE:
        yield finding.path, finding.region
    for related in finding.related:
        if related.region != WHOLE_FILE:
            yield related.path, related.region


def _numbers(region: Region, count: int) -> Iterator[int]:
    first, last = max(1, region.line - AROUND), min(count, region.end_line + AROUND)
    if last - first <= _HEAD + _TAIL + 2 * AROUND:
        yield from range(first, last + 1)
        return
    yield from range(first, min(count, region.line + _HEAD) + 1)
    yield from range(max(first, region.end_line - _TAIL), last + 1)


def _cut(text: str, column: int) -> list[str | int]:
    start = max(0, code_point(text, column) - _LONG // 4)
    skipped = len(text[:start].encode("utf-16-le", "surrogatepass")) // 2
    return [skipped, text[start : start + _LONG]]
