"""The result of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bwlint.model.findings import FailOn, Report, Severity
from bwlint.model.ledger import Row
from bwlint.sources.texts import Names, Texts

if TYPE_CHECKING:
    from bwlint.chips import ChipSet

GateSets = Mapping[str, "tuple[tuple[ChipSet, ChipSet], ...]"]
"""Where the gates of each file may and must hold, by real path, in file order."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`scanned` counts the files that were read, `severity` is the lowest to show, `fail_on` to fail. `baseline` is the
    path of the file that knows what was found before, as the configuration names it; nothing is left out here.
    """

    report: Report
    scanned: int
    severity: Severity
    fail_on: FailOn
    texts: Texts
    names: Names
    sets: GateSets = field(default_factory=dict)
    wheels: tuple[tuple[str, str], ...] = ()
    """Packages that were fetched: the path for reports, and the real one."""
    baseline: str | None = None
    rows: tuple[Row, ...] = ()
    """Every question of the run, most suspicious first."""

    def lines(self, reported: str) -> Sequence[str] | None:
        """The lines of a file as a finding names it, with their ends."""
        text = self.texts.of(self.names.real(reported))
        return None if text is None else text.ended_lines
