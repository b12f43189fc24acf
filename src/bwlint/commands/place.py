"""The output of `explain FILE:LINE`: the audit rows of that line, or why it has none; with `--why-silent` what `check`
reports there, or each reason for which it reports nothing. FILE may lie in a package: `pypi:NAME==VERSION/FILE`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from bwlint.chips import all_chips
from bwlint.commands.audit import rendered
from bwlint.commands.check import outcome_of
from bwlint.commands.terminal import failure, put_right, say, setting
from bwlint.index import kept
from bwlint.model.escape import visible
from bwlint.model.findings import Finding
from bwlint.model.ledger import Ledger, Row
from bwlint.report import text
from bwlint.report.summary import at_least
from bwlint.run.gather import Settings
from bwlint.run.request import CheckRequest, Outcome
from bwlint.settings import catalog
from bwlint.settings.config import UsageError
from bwlint.settings.decisions import apply, load
from bwlint.sources.pypi import PREFIX, is_package
from bwlint.sources.tree import PROJECT_MARKS
from bwlint.sources.walk import discover

_PLACE = re.compile(r"(.+?):([1-9]\d{0,8})(?::\d{1,9})?")
"""A file and a line, with the column where `check` prints one."""
_PACKAGED = re.compile(rf"({PREFIX}[^/]+|.+?\.(?:whl|tar\.gz|zip))/(.+)")
_NO_QUESTION = "this line names no chip, checks none and depends on none"
_DECIDED = "fail: somebody has decided that it is broken, and check reads no decisions"
_KINDS = {
    "review": "review: the checked chips are treated unlike a neighbour, and bwlint cannot prove that wrong",
    "open": "open: `why` says what bwlint does not know, and check reports only what it knows",
    "pass": "pass: `why` says why there is nothing to report",
}


def parsed(text: str) -> tuple[str, int] | None:
    """The file and the line that a word on the command line names; None where it names no place. Raises Failure for a
    file that is not there."""
    found = _PLACE.fullmatch(text)
    if not found and Path(text).is_file():
        raise failure(UsageError(f"which line? Write {text}:LINE"))
    if found and not (_packaged(found[1])[0] or Path(found[1]).is_file()):
        raise failure(UsageError(f"no such file: {found[1]} (write FILE:LINE as check prints it)"))
    return (found[1], int(found[2])) if found else None


def _packaged(path: str) -> tuple[str, str]:
    """The package that holds a file, as an argument of `check` ("": none does), and the path of the file in it."""
    found = _PACKAGED.fullmatch(path)
    return (found[1], found[2]) if found is not None and is_package(found[1]) else ("", path)


def explained(path: str, line: int) -> str:
    """What `check` reports of a line, and the rows that it has; judged with the folder that we are in."""
    with ExitStack() as stack:
        place = _judged(path, line, stack)
        loud = _split(place)[0]
        found = tuple(one for one in loud if one in place.of(loud) or place.is_named_in(one))
        said = f"{place.name}: check reports this:\n\n{place.shown(found)}\n" if found else ""
        return said + _rough(place) + (place.table() or ("" if found else f"{place.name}: {_without_rows(place)}\n"))


def why_silent(path: str, line: int) -> str:
    """What `check` reports of a line; where that is nothing, what it found and hides, and what the audit knows."""
    with ExitStack() as stack:
        return "".join(_said(_judged(path, line, stack), stack))


@dataclass(frozen=True, slots=True)
class _AskedLine:
    """A line, what a run says of all that it read (`outcome`), and the `rows` that have the line."""

    path: str
    line: int
    real: str
    settings: Settings
    outcome: Outcome
    ledger: Ledger
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}"

    def has(self, path: str, first: int, last: int) -> bool:
        """Whether these lines of a file, as reports call it, have the line."""
        return first <= self.line <= max(first, last) and os.path.realpath(self.outcome.names.real(path)) == self.real

    def of(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Those of the findings that stand on the line, have a place there, or answer a question that does."""
        # Rows that were joined are the same question asked at several places, of which each has its own answer.
        answered = {print_ for row in self.rows if len(row.questions) == 1 for print_ in row.findings}
        return tuple(
            finding
            for finding in findings
            if (finding.fingerprint in answered and self.has(finding.path, self.line, self.line))
            or self.has(finding.path, finding.region.line, finding.region.end_line)
            or any(o.rule and self.has(o.path, o.region.line, o.region.end_line) for o in finding.related)
        )

    def is_named_in(self, finding: Finding) -> bool:
        """Whether the line is one of the places that a finding shows beside its own."""
        return any(self.has(one.path, one.region.line, one.region.end_line) for one in finding.related)

    def shown(self, findings: Sequence[Finding]) -> str:
        """Findings as `check` prints them, whole."""
        how = setting({"output": None, "full": True}, self.outcome.lines)
        return text.render(replace(self.outcome.report, findings=tuple(findings)), how)

    def table(self) -> str:
        return str(rendered(replace(self.ledger, rows=self.rows), "text", setting({"output": None}), 0))


def _judged(path: str, line: int, stack: ExitStack) -> _AskedLine:
    """Run `check` as it would be run from the folder that we are in, or in the project below it that has the file; a
    file elsewhere is judged by itself."""
    stack.enter_context(kept.using())
    real, (package, inside) = os.path.realpath(path), _packaged(path)
    project = "" if package else _project(real)
    if project not in ("", "."):
        say(f"bwlint: reads {visible(project)}, the project of {visible(path)}\n")
    request = CheckRequest((package or project or path,))
    outcome = outcome_of(request, stack)
    if package:
        files = outcome.names.files.values()  # with the release, which need not be asked for
        outcome.names.reals.update({file.path: file.real for file in files})  # rows tell paths that no finding has
        real = next((file.real for file in files if _packaged(file.path)[1] == inside), "")
    if not real:
        raise failure(UsageError(f"{package} has no file {inside} that bwlint reads"))
    with put_right():
        settings = Settings(request)
        made = load(settings.decisions_file).made
    report = outcome.report
    ledger = apply(Ledger(report.targets, outcome.rows, report.skipped, report.stats), made)
    place = _AskedLine(path, line, real, settings, outcome, ledger, ())
    rows = (row for row in ledger.rows if any(place.has(at.path, at.line, at.end_line) for at in row.places))
    return replace(place, rows=tuple(rows))


def _project(real: str) -> str:
    """The outermost project below the folder that we are in that has a file, or that folder where it is in a project
    itself or there is none; "" for a file that is not below it."""
    here = Path.cwd().resolve()
    if not Path(real).is_relative_to(here):
        return ""
    is_inside = any((folder / mark).exists() for folder in (here, *here.parents) for mark in PROJECT_MARKS)
    folders = [] if is_inside else Path(real).relative_to(here).parents
    tops = [folder for folder in folders if any((here / folder / mark).exists() for mark in PROJECT_MARKS)]
    return str(tops[-1]) if tops else "."


def _without_rows(place: _AskedLine) -> str:
    """Why a line has no row."""
    text = place.outcome.texts.of(place.real)
    count = text.source.count("\n") + (not text.source.endswith("\n")) if text is not None else place.line
    beyond = f"this line does not exist: the file ends at line {count}" if place.line > count else ""
    return _not_read(place) or beyond or _NO_QUESTION


def _rough(place: _AskedLine) -> str:
    """That the rows of a line are guesses, and why: its file was not read; "" where it was, or there are none."""
    unread = _not_read(place) if place.rows else ""
    return (
        f"{place.path}: {unread}. The rows of this file are estimated from the words of its lines.\n" if unread else ""
    )


def _not_read(place: _AskedLine) -> str:
    """Why the file was not read; "" where it was."""
    skipped = place.outcome.report.skipped
    unread = next(
        (skip for skip in skipped if os.path.realpath(place.outcome.names.real(skip.path)) == place.real), None
    )
    if unread is not None:
        return f"not read: {unread.reason}"
    if place.real in place.outcome.names.files:
        return ""
    named = discover((place.path,))
    if not named.files:
        return f"not read: {named.skipped[0].reason}"
    if place.settings.is_excluded(replace(named.files[0], named=False)):
        return f"not read: `exclude` in {place.settings.config(named.files[0]).file} leaves this file out"
    return "not read: .gitignore, or the name of a folder above it, leaves this file out"


def _said(place: _AskedLine, stack: ExitStack) -> Iterator[str]:
    hidden = dict(_hidden(place, stack))
    loud = hidden.pop("", ())
    if loud:
        yield f"{place.name}: check reports this:\n\n{place.shown(loud)}"
        return
    yield f"{place.name}: check reports nothing here for {' and '.join(place.outcome.report.targets)}.\n"
    yield _rough(place)
    for why, findings in hidden.items():
        yield f"\n{why}:\n\n{place.shown(findings)}"
    if place.rows:
        kinds = dict.fromkeys(_KINDS.get(row.kind) or _fails(place, row) for row in place.rows)
        told = "".join(f"{kind}\n" for kind in kinds)
        yield f"\n{_on_every_chip(place, stack).table()}{told}"
    elif not hidden:
        yield f"{_without_rows(place)}\n"


def _fails(place: _AskedLine, row: Row) -> str:
    """Why a row fails: somebody's decision, or what is found at another of its places."""
    if row.decision is not None and row.decision.said == "broken":
        return _DECIDED
    loud, quiet, known = _split(place)
    for verb, findings in (("reports", loud), ("hides", [*quiet, *known])):
        for finding in findings:
            if finding.fingerprint in row.findings and finding.severity != "note":
                return f"fail: check {verb} this at {finding.path}:{finding.region.line}"
    return "fail: `why` says what goes wrong"


def _split(place: _AskedLine) -> tuple[Sequence[Finding], Sequence[Finding], Sequence[Finding]]:
    """The findings of the run that `check` shows, those too low to be shown, and those that the baseline holds."""
    from bwlint.report.baseline import load

    report, baseline = place.outcome.report, place.outcome.baseline
    new, known = [*report.findings], list[Finding]()
    if baseline:
        with put_right():
            new, known = load(Path(baseline)).split(report.findings)
    loud = at_least(replace(report, findings=tuple(new)), place.outcome.severity).findings
    return loud, [finding for finding in new if finding not in loud], known


def _hidden(place: _AskedLine, stack: ExitStack) -> Iterator[tuple[str, tuple[Finding, ...]]]:
    """The findings of the line by what hides them from the report of `check`; "" stands for those that it shows."""
    loud, quiet, known = _split(place)
    yield "", place.of(loud)
    baseline = place.outcome.baseline
    parts = {
        "check hides this, and --severity note shows it": place.of(quiet),
        f"the baseline {baseline} holds this, and --no-baseline shows it": place.of(known),
        "the configuration switches this rule off": _switched_off(place, stack),
    }
    for one in place.outcome.report.suppressed:
        key = f"a comment silences this ({one.reason or 'without a reason'})"
        parts[key] = (*parts.get(key, ()), *place.of([one.finding]))
    yield from ((why, found) for why, found in parts.items() if found)


def _switched_off(place: _AskedLine, stack: ExitStack) -> tuple[Finding, ...]:
    """What rules would report of the line that the configuration does not let run on its file."""
    file = place.outcome.names.files.get(place.real)
    if file is None:
        return ()
    off = {rule.name for rule in catalog.rules()} - place.settings.enabled(file)
    if not off:
        return ()
    request = CheckRequest((place.real,), place.outcome.report.targets, isolated=True)
    every = outcome_of(request, stack).report.findings
    return tuple(finding for finding in place.of(every) if finding.name in off)


def _on_every_chip(place: _AskedLine, stack: ExitStack) -> _AskedLine:
    """The rows with the answers for all chips, those asked about first; the file alone is judged for the others."""
    rows = outcome_of(CheckRequest((place.real,), tuple(chip.name for chip in all_chips())), stack).rows
    tables = {(row.form, row.subject, row.question): row.table for row in rows}

    def wide(row: Row) -> Row:
        asked = dict(row.table)
        others = dict(tables.get((row.form, row.subject, row.question), ()))
        first = {chip: asked[chip] for chip in place.ledger.targets if chip in asked}
        return replace(row, table=tuple((first | others | asked).items()))

    return replace(place, rows=tuple(map(wide, place.rows)))
