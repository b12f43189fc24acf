"""Findings, suppression comments and matrix rows of one open file, for an editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bwlint.model.findings import Finding
from bwlint.model.ledger import Row
from bwlint.repair.changes import TextChange
from bwlint.repair.comment import comment
from bwlint.report.baseline import load
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import ConfigError, UsageError
from bwlint.sources.read import SourceText
from bwlint.sources.walk import SourceFile

REASON = "TODO: say why"


@dataclass(frozen=True, slots=True)
class LineNote:
    """What is shown above a line: on which chips an operation works, or what is asked there."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found in a text, what of it the baseline of the configuration knows (numbers of findings), and `fault`:
    what could not be used, such as a configuration.
    """

    text: SourceText
    findings: tuple[Finding, ...] = ()
    known: frozenset[int] = frozenset()
    file: SourceFile | None = None
    fault: str = ""
    questions: tuple[LineNote, ...] = ()
    """Those that somebody should look at and that are no findings."""

    def silencing(self, finding: Finding) -> TextChange | None:
        """A comment for a finding; None where none can stand there."""
        return None if self.file is None else comment(self.file, self.text, [finding], REASON)


def judged(path: str, text: str, targets: Sequence[str], *, fixes: bool) -> Judgement:
    """The findings of a text that stands for the file at `path`, as unsaved as it is; with `fixes`, each with its own,
    whose proofs take many times as long.
    """
    source, data = SourceText(text), text.encode("utf-8", "surrogatepass")
    request = CheckRequest((path,), tuple(targets), jobs=1, stdin=data, fixes=fixes)
    with ExitStack() as stack:
        try:
            outcome = check(request, stack)
        except (UsageError, ConfigError) as error:
            return Judgement(source, fault=str(error))
    # As paths: reports write those of Windows with slashes.
    here = [finding for finding in outcome.report.findings if Path(finding.path) == Path(path)]
    file, fault = outcome.names.files.get(outcome.names.real(path)), ""
    new = here
    try:
        if outcome.baseline and here:
            new, _ = load(Path(outcome.baseline)).split(here)
    except UsageError as error:
        fault = str(error)
    strangers = {id(finding) for finding in new}
    known = frozenset(number for number, finding in enumerate(here) if id(finding) not in strangers)
    return Judgement(source, tuple(here), known, file, fault, tuple(_questions(outcome.rows, path)))


def _questions(rows: Sequence[Row], path: str) -> Iterator[LineNote]:
    for row in rows:
        place = row.places[0]
        if row.kind == "review" and not row.findings and Path(place.path) == Path(path):
            chips = ", ".join(chip for chip, kind in row.verdicts if kind == "review")
            why, _, _ = row.why.partition(". ")
            yield LineNote(place.line, f"{chips}: review ({why})")


def tabulated(path: str, targets: Sequence[str]) -> tuple[LineNote, ...]:
    """The rows of the matrix that a file of Python has, as it is on the disk."""
    from bwlint.matrix import matrix

    if not path.endswith(".py") or not Path(path).is_file():
        return ()
    try:
        table = matrix((path,), tuple(targets) or ("12.0", "12.1"), jobs=1)
    except (UsageError, ConfigError):
        return ()
    return tuple(
        LineNote(row.line, " · ".join(f"{chip}: {row.cells[chip].word}" for chip in table.chips))
        for row in table.rows
        if Path(row.path).resolve() == Path(path).resolve()
    )
