"""Write suppression comments for all findings, to adopt bwlint without a baseline."""

# Real paths are plain strings throughout, as `walk` gives them.

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bwlint.model.findings import Finding
from bwlint.repair.changes import TextChange
from bwlint.repair.comment import comment
from bwlint.repair.source import EditedFile
from bwlint.repair.write import Replacement
from bwlint.run.outcome import Outcome
from bwlint.settings.catalog import BAD, UNUSED
from bwlint.sources.read import SourceText, Unread


@dataclass(slots=True)
class Silencing:
    """What to write, how many findings that silences in each file (by real path), and the findings that no comment can
    stand at, each with the reason."""

    replacements: list[Replacement] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[Finding, str]] = field(default_factory=list)


def silencing(outcome: Outcome, findings: Iterable[Finding], reason: str, named: Sequence[str]) -> Silencing:
    """Comments with a reason at findings of an outcome, in memory. `named` are the paths that were asked for."""
    found = Silencing()
    by_file = defaultdict[str, list[Finding]](list)
    for finding in findings:
        if finding.name in (UNUSED, BAD):
            found.refused.append((finding, "this is a comment of bwlint: correct or delete it"))
        else:
            by_file[outcome.names.real(finding.path)].append(finding)
    for real, there in sorted(by_file.items()):
        file, text = outcome.names.files.get(real), outcome.texts.of(real)
        source: EditedFile | str = "not a text file"
        if file is not None and text is not None:
            is_unpacked = os.path.realpath(file.path) != real
            source = "in an archive" if is_unpacked else EditedFile.of(file, text.source, named)
        if isinstance(source, str) or text is None:
            found.refused += [(finding, str(source)) for finding in there]
        else:
            _of_file(source, text, there, reason, found)
    return found


def _of_file(source: EditedFile, text: SourceText, there: Sequence[Finding], reason: str, found: Silencing) -> None:
    by_line = defaultdict[int, list[Finding]](list)
    for finding in there:
        by_line[finding.region.line].append(finding)
    changes: list[TextChange] = []
    silenced: list[Finding] = []
    for _, findings in sorted(by_line.items()):
        change = comment(source.file, text, findings, reason)
        if change is None:
            why = "JSON has no comments" if source.file.real.endswith(".json") else "no comment can stand there"
            found.refused += [(finding, f"{why}; a baseline or `per-file-ignores` hides it") for finding in findings]
            continue
        changes.append(change)
        silenced += findings
    edited = source.then(sorted(changes))
    fault = edited.fault(frozenset())
    if fault or isinstance(edited.after, Unread):
        found.refused += [(finding, fault or "no longer readable") for finding in silenced]
    elif changes:
        found.counts[source.file.real] = len(silenced)
        found.replacements.append(Replacement(source.file.real, source.data, edited.after))
