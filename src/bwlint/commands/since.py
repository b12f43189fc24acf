"""What a change has brought: the findings on its lines, and those that it causes elsewhere.

The tree as it was is checked out beside and checked in the same way; what was found there already is known. A finding
on a line that has changed is shown all the same: its author is at work there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from bwlint.model.findings import Finding, Report
from bwlint.report import Lines
from bwlint.report.baseline import Baseline
from bwlint.report.paths import below
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError
from bwlint.sources.git import Repository, check_out
from bwlint.sources.pypi import SourceError, is_package
from bwlint.sources.read import Unread, decode, read_bytes
from bwlint.sources.worktree import relative, revision_of, top_of


@dataclass(frozen=True, slots=True)
class Before:
    """The tree as it was: where its files lie now, where they lay, and what was found in it."""

    tree: str
    top: str
    baseline: Baseline

    def without_old(self, report: Report, lines: Lines) -> Report:
        """The report of what has come; `stats` counts the rest as `baselined`."""
        new, old = self.baseline.split(report.findings)
        changed: dict[str, frozenset[int]] = {}
        for path in {finding.path for finding in old}:
            place = below(self.top, path)
            changed[path] = _changed(Path(self.tree) / place, lines(path) or ()) if place else frozenset()
        touched = [finding for finding in old if changed[finding.path].intersection(_lines(finding))]
        there = {id(finding) for finding in (*new, *touched)}
        shown = tuple(finding for finding in report.findings if id(finding) in there)
        stats = {**report.stats, "baselined": len(report.findings) - len(shown)}
        return replace(report, findings=shown, stats=stats)


def _lines(finding: Finding) -> range:
    return range(finding.region.line, finding.region.end_line + 1)


def before(revision: str, request: CheckRequest, stack: ExitStack) -> Before:
    """The tree around the paths of a request at a revision, checked. Its files live as long as `stack`.

    Raises UsageError and ConfigError.
    """
    top = _top(request)
    commit = revision_of(top, revision)
    if commit is None:
        raise UsageError(f"--since: {top} has no revision `{revision}`")
    folder = os.path.realpath(stack.enter_context(TemporaryDirectory(prefix="bwlint-since-")))
    tree = str(Path(folder) / "tree")
    try:
        check_out(Repository(Path(top).as_uri(), commit, "file"), Path(tree))
    except SourceError as error:
        raise UsageError(f"--since {revision}: {error}") from None
    moved = (_moved(path, top, tree) for path in request.paths)
    paths = tuple(path for path in moved if is_package(path) or os.path.lexists(path))
    known: Sequence[Finding] = ()
    if paths:
        old = replace(request, paths=paths, stdin=None, fixes=False)
        known = check(old, stack).report.findings
    found = Baseline.of(known, tree)
    return Before(tree, top, replace(found, root=top))


def _top(request: CheckRequest) -> str:
    """The top of the git tree that all paths of a request are in. Raises UsageError."""
    reals = [os.path.realpath(path) for path in request.paths if not is_package(path)]
    tops = {top_of(real if Path(real).is_dir() else str(Path(real).parent)) for real in reals}
    if len(tops) != 1 or None in tops:
        raise UsageError("--since is for paths in one git tree")
    return str(tops.pop())


def _moved(path: str, top: str, tree: str) -> str:
    """Where what a path names lay before; a package is what it is."""
    return path if is_package(path) else str(Path(tree) / relative(os.path.realpath(path), top))


def _changed(before: Path, after: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines of a file that it did not have before, or that stand where something was taken away."""
    data = read_bytes(str(before))
    text = data if isinstance(data, Unread) else decode(data)
    if isinstance(text, Unread):
        return frozenset()
    old, new = ([line.rstrip("\r\n") for line in lines] for lines in (_split(text), after))
    found: set[int] = set()
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found.update(range(start + 1, max(end, start + 1) + 1))
    return frozenset(found)


def _split(text: str) -> list[str]:
    return re.split(r"\r\n|\r|\n", text)
