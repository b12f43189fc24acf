"""The request of a run, and its result."""

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
class CheckRequest:
    """What is asked for. Empty tuples and None mean that the configuration decides.

    `stdin` is the content to check under the name `paths[0]`. `fixes` asks for repairs with the findings,
    `ways` for what else may be done.
    `link_budget` is how many files beyond the given ones may be read. `config` is the file that takes the place of all
    configurations, `isolated` asks for none; `exclude` and `include` are gitignore patterns from the current folder.
    `decisions` is the file of what people have decided, where it is not the usual one.
    """

    paths: tuple[str, ...]
    target: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity | None = None
    fail_on: FailOn | None = None
    use_gitignore: bool = True
    force_exclude: bool = False
    jobs: int | None = None
    stdin: bytes | None = None
    fixes: bool = False
    ways: bool = False
    link_budget: int | None = None
    config: str | None = None
    isolated: bool = False
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    decisions: str | None = None


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
