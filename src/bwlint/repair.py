"""The fixes of a run, applied file by file: to the disk, or as a diff."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from bwlint.check import Outcome
from bwlint.findings import Edit
from bwlint.fix.apply import apply, apply_bytes
from bwlint.fix.apply import diff as patch
from bwlint.fix.apply import write as replace
from bwlint.report.escape import visible
from bwlint.report.summary import at_least
from bwlint.sources.read import Unread, read_bytes


@dataclass(frozen=True, slots=True)
class Repair:
    """One file before and after. `path` is for reports, `real` to open."""

    path: str
    real: str
    before: str
    after: str
    edits: tuple[Edit, ...]


def repaired(outcome: Outcome, *, unsafe: bool) -> Iterator[Repair]:
    """Every file that the fixes of the shown findings change."""
    edits: dict[str, list[Edit]] = defaultdict(list)
    for finding in at_least(outcome.report, outcome.severity).findings:
        if finding.fix is not None and (unsafe or finding.fix.applicability == "safe"):
            for edit in finding.fix.edits:
                edits[edit.path].append(edit)
    for path, some in edits.items():
        real = outcome.names.real(path)
        text = outcome.texts.of(real)
        if text is not None:
            yield Repair(path, real, text.source, apply(text.source, some), tuple(some))


def diff(repair: Repair) -> str:
    """The change as a patch."""
    return patch(repair.path, repair.before, repair.after)


def write(repair: Repair) -> str | None:
    """Change the file; the reason in words where it stays as it is."""
    data = read_bytes(repair.real)
    changed = data if isinstance(data, Unread) else apply_bytes(data, repair.edits)
    if isinstance(changed, Unread):
        return f"{visible(repair.path)}: {changed.reason}"
    try:
        replace(repair.real, changed)
    except OSError as error:
        return f"{visible(repair.path)}: {error.strerror}"
    return None
