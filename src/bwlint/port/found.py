"""What `bwlint check` says that a chip needs where no way of an operation leads: in kernels, builds and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from bwlint.chips import chip, siblings
from bwlint.matrix import JudgedRows
from bwlint.matrix.cells import GatePlace
from bwlint.model.expr import Span
from bwlint.model.findings import Finding, NoFix
from bwlint.port.table import CodeSpot, PortStep
from bwlint.port.ways import Ways
from bwlint.rules import checks, file_checks, guard_checks
from bwlint.run.gather import Gathered
from bwlint.sources.texts import Texts
from bwlint.sources.walk import SourceFile

FoundKind = Literal["kernel", "code", "build", "test"]
_BUILDS = frozenset({"arch-target", "toolchain", "relabelled"})
"""Names of rules about what is built."""
_TELLING_NOTES = frozenset({"arch-target", "excluded", "family-split", "test-gate"})
"""Those of which a note is for whoever ports, too: nothing is built for it, it may run there, one of the family has it,
or nobody would see that it works.
"""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A finding with its file. The edits of its fix have real paths."""

    finding: Finding
    file: SourceFile

    @property
    def place(self) -> GatePlace:
        region = self.finding.region
        return GatePlace(self.file.real, Span(region.line, region.column - 1, region.end_line, region.end_column - 1))

    @property
    def narrows(self) -> bool:
        """Whether it asks for a test that lets fewer chips in."""
        return self.finding.name in _named("let-in")

    def touches(self, place: GatePlace) -> bool:
        """Whether the finding, or a place that it tells besides, stands on a line of a place."""
        finding = self.finding
        lines = range(place.at.line, place.at.end_line + 1)
        regions = (finding.region, *(one.region for one in finding.related if one.path == finding.path))
        return place.path == self.file.real and any(region.line in lines for region in regions)

    def is_within(self, place: GatePlace) -> bool:
        """Whether the finding stands within a place."""
        return place.path == self.file.real and place.at.holds(self.place.at)

    @property
    def kind(self) -> FoundKind:
        if self.finding.name == "test-gate":
            return "test"
        if self.finding.name in _BUILDS:
            return "build"
        return "kernel" if self.file.kind in ("cuda", "ptx") else "code"

    @property
    def words(self) -> str:
        """Why there is no fix."""
        refused = f" ({self.finding.fix_refused})" if self.finding.fix_refused else ""
        return f"{self.finding.advice or self.finding.message}{refused}"


def concerning(findings: Iterable[Finding], files: Iterable[SourceFile], name: str) -> Iterator[FoundPlace]:
    """The findings, for the family of the chip `name`, after which something is to be edited for it, the first of each
    line.
    """
    others = frozenset(siblings(chip(name)).names)
    by_path = {file.path: file for file in files}
    seen = set[tuple[str, int]]()
    for finding in findings:
        line = finding.path, finding.region.line
        if finding.path in by_path and line not in seen and _is_for(finding, name, others):
            seen.add(line)
            yield FoundPlace(_on_disk(finding, by_path), by_path[finding.path])


def _on_disk(finding: Finding, by_path: Mapping[str, SourceFile]) -> Finding:
    """A finding whose fix has real paths; without a fix that edits what was not given."""
    if finding.fix is None:
        return finding
    if any(edit.path not in by_path for edit in finding.fix.edits):
        return replace(finding, fix=None, fix_refused="it edits a file that was not given")
    edits = tuple(replace(edit, path=by_path[edit.path].real) for edit in finding.fix.edits)
    return replace(finding, fix=replace(finding.fix, edits=edits))


def _is_for(finding: Finding, name: str, others: frozenset[str]) -> bool:
    is_kept_out = name not in finding.admitted
    if finding.severity == "note":
        return finding.name in _TELLING_NOTES and is_kept_out
    if finding.name in _BUILDS:
        return is_kept_out or others <= {*finding.admitted}  # else it is about another of the family
    return is_kept_out or finding.name not in _named("kept-out")


@cache
def _named(concerns: str) -> frozenset[str]:
    rules = (*checks(), *guard_checks(), *file_checks())
    return frozenset(rule.name for rule, _ in rules if rule.concerns == concerns)


@dataclass(slots=True)
class FoundSteps:
    """Finds them for one chip, beside the steps of operations."""

    gathered: Gathered
    findings: Iterable[Finding]
    rows: JudgedRows
    ways: Ways
    select: Sequence[str]
    _files: set[str] | None = None

    def beside(self, known: set[GatePlace], planned: Sequence[GatePlace]) -> Iterator[FoundPlace]:
        """What is found in files that the operations come to: nothing that is out of the way after the steps that are
        `known`, nor what keeps the chip out of functions that are `planned`.
        """
        left = [left for place in known for left in self._left(place)]
        for found in concerning(self.findings, self.gathered.found.files, self.ways.gates.chip):
            is_known = any(map(found.touches, known)) or any(map(found.is_within, left))
            against = found.narrows and any(map(found.is_within, planned))
            if not is_known and not against and self._is_asked(found):
                yield found

    def _left(self, place: GatePlace) -> Iterator[GatePlace]:
        """The branch of a gate that a chip leaves that is let through."""
        judged = self.ways.gates.gate(place)
        if judged is not None and judged.other.at is not None:
            yield GatePlace(place.path, judged.other.at)

    def _is_asked(self, found: FoundPlace) -> bool:
        """Whether operations that were asked for by name come to the file of a finding, are built or tested there. What
        lets the chip in too far is for who asks about the whole tree.
        """
        if not self.select:
            return True
        if found.narrows:
            return False
        names = {entry.name for entry, _ in (*self.rows.kept, *self.rows.alike)}
        if found.kind == "test":
            text = self.gathered.texts.source(found.file.real) or ""
            return any(name in text for name in names)
        return bool(names) if found.kind == "build" else found.file.real in self._reached()

    def _reached(self) -> set[str]:
        """The files that the operations may come to, with what is compiled for them."""
        if self._files is None:
            sites = (self.ways.gates.site(entry) for entry, _ in (*self.rows.kept, *self.rows.alike))
            self._files = {path for site in sites if site is not None for path in self.ways.files_of(site)}
        return self._files


def step_of(found: FoundPlace, number: int, name: str, texts: Texts, stuck: NoFix | None = None) -> PortStep:
    """The step of a finding for the chip `name`; `stuck`: why no edit of it is right for that."""
    finding = found.finding
    family = siblings(chip(name)).names
    wanted = tuple(other for other in family if other not in finding.admitted)
    spot = CodeSpot(finding.path, finding.region.line, finding.region.column, _text(found, texts))
    return PortStep(
        number,
        found.kind,
        spot,
        found.file.real,
        finding.admitted,
        wanted,
        None if stuck else finding.fix,
        stuck.reason if stuck else "" if finding.fix else found.words,
        finding.severity != "note",
        (),
        f"{finding.rule}: {finding.message}",
        finding.related,
    )


def _text(found: FoundPlace, texts: Texts) -> str:
    region = found.finding.region
    lines = (texts.source(found.file.real) or "").splitlines()[region.line - 1 : region.line]
    end = region.end_column - 1 if region.end_line == region.line else None
    return lines[0][region.column - 1 : end].strip() if lines else ""
