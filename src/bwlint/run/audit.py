"""One `bwlint audit`: collect, judge and rank every check of the chip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from typing import TYPE_CHECKING

from bwlint.index.remembered import as_before
from bwlint.judging.aside import place_mark
from bwlint.ledger.naming import group_of
from bwlint.ledger.question import Question
from bwlint.ledger.rows import rows, told_of
from bwlint.ledger.spelled import of_sightings
from bwlint.model.ledger import Ledger, Row, RowGroup, Sighting
from bwlint.model.progress import Advance, quiet
from bwlint.run.gather import Gathered, gather
from bwlint.run.request import CheckRequest
from bwlint.sources.kinds import OWN_FILES
from bwlint.sources.texts import Names
from bwlint.world.collect import LazySightings

Stretches = Sequence[tuple[int, int]]

if TYPE_CHECKING:
    from bwlint.chips import ChipSet
    from bwlint.model.findings import Finding, Suppressed
    from bwlint.run.engine import Analysis


def audit(request: CheckRequest, stack: ExitStack, advance: Advance = quiet) -> Ledger:
    """The ledger of a request. What it unpacks lives as long as `stack`. Raises UsageError and ConfigError."""
    from bwlint.run.check import judge

    gathered = gather(request, stack, advance)
    outcome = judge(gathered)
    report = outcome.report
    return Ledger(report.targets, outcome.rows, report.skipped, report.stats)


def rows_of(
    gathered: Gathered,
    names: Names,
    analysis: Analysis | None = None,
    findings: tuple[Finding, ...] = (),
    suppressed: tuple[Suppressed, ...] = (),
    carried: Sequence[Finding] = (),
) -> tuple[Row, ...]:
    """The rows of what was gathered, with what rules have found there and what comments silence of it.

    `carried` are findings in binaries, whose paths are told as they are.
    """
    files = {file.real: file for file in gathered.found.files}
    told = (*told_of(findings, suppressed, names.real), *told_of(carried, (), str))
    binaries = {finding.path for finding in carried}
    native = analysis.context.native if analysis else None

    def reported(real: str) -> str:
        if real in binaries:
            return real
        file = files.get(real)
        return file.path if file is not None else names.reported(real, gathered.found.files[0])

    def group(real: str) -> RowGroup:
        place = place_mark(real, files[real].root)[0] if real in files else real
        return group_of(place, real, native.unbuilt.holds if native else lambda real: False)

    def aside(real: str) -> str:
        return place_mark(real, files[real].root)[1] if real in files else ""

    return rows(_questions(gathered, analysis), told, gathered.targets, reported, cache(group), cache(aside))


def _questions(gathered: Gathered, analysis: Analysis | None) -> Iterator[Question]:
    covered: dict[str, list[tuple[int, int]]] = {}
    for file, found in analysis.questions if analysis else ():
        covered[file.real] = [(place.line, place.end_line) for one in found for place in one.places]
        yield from found
    for file, seen in gathered.collected.seen:
        if file.path.rpartition("/")[2] in OWN_FILES:
            continue
        place, mark = place_mark(file.real, file.root)
        rest = (file.real, place, covered.get(file.real, ()), gathered.targets, mark)
        make = partial(_spelled, seen, *rest)
        yield from as_before(repr(("spelled", seen.key, *rest)), make) if isinstance(seen, LazySightings) else make()


def _spelled(
    seen: Sequence[Sighting], path: str, place: str, covered: Stretches, asked: ChipSet, mark: str
) -> tuple[Question, ...]:
    return tuple(of_sightings(path, place, seen, covered, asked, mark))
