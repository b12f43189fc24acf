"""Findings that a change brings: those on its lines, and those it causes elsewhere.

The tree as it was is written beside and checked in the same way; what was found there already, and as grave, is
known. A finding on a line that has changed is shown all the same: its author is at work there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from bwlint.commands.progress import progress
from bwlint.commands.terminal import say
from bwlint.model.findings import Finding, Report
from bwlint.report import Lines, below
from bwlint.report.baseline import Baseline
from bwlint.run.check import check
from bwlint.run.request import CheckRequest
from bwlint.settings.config import UsageError
from bwlint.sources.pypi import SourceError, is_package
from bwlint.sources.read import SourceText, Unread, decode, read_bytes
from bwlint.sources.worktree import answered, export, has_commits, is_shallow, relative, renamed, revision_of, top_of


@dataclass(frozen=True, slots=True)
class Before:
    """The tree as it was: where its files lie now, where they lay, what was found in it, and
    the names then of files that have another one now."""

    tree: str
    top: str
    baseline: Baseline
    renamed: Mapping[str, str]

    def without_old(self, report: Report, lines: Lines) -> Report:
        """The report of what has come; `stats` counts the rest as `baselined`."""
        new, old = self.baseline.split(report.findings)
        changed: dict[str, frozenset[int]] = {}
        for path in {finding.path for finding in old}:
            place = below(self.top, path)
            then = self.renamed.get(place, place) if place else None
            changed[path] = _changed(Path(self.tree) / then, lines(path) or ()) if then else frozenset()
        regions = ((finding, finding.region) for finding in old)
        touched = [one for one, at in regions if changed[one.path].intersection(range(at.line, at.end_line + 1))]
        there = {id(finding) for finding in (*new, *touched)}
        shown = tuple(finding for finding in report.findings if id(finding) in there)
        stats = {**report.stats, "baselined": len(report.findings) - len(shown)}
        return replace(report, findings=shown, stats=stats)


@dataclass(frozen=True, slots=True)
class OldTree:
    """The tree around the paths of a request at a revision: where its files lie now and where they lay, the names then
    of files that have another one now, and the same request for it, without paths where nothing of them was there.
    """

    tree: str
    top: str
    renamed: Mapping[str, str]
    request: CheckRequest


def before(revision: str, request: CheckRequest, stack: ExitStack) -> Before:
    """The tree around the paths of a request at a revision, checked. Its files live as long as `stack`.

    Raises UsageError and ConfigError.
    """
    old = tree_at(revision, request, stack)
    known: Sequence[Finding] = ()
    if old.request.paths:
        with progress() as advance:
            known = check(old.request, stack, advance).report.findings
    found = Baseline.of(known, old.tree)
    return Before(old.tree, old.top, replace(found, root=old.top), old.renamed)


def tree_at(revision: str, request: CheckRequest, stack: ExitStack, option: str = "--since") -> OldTree:
    """The tree around the paths of a request at a revision, unpacked: as long as `stack` lives. `option` is what has
    asked for it, for errors. The tree is empty where the repository has no commit yet. Raises UsageError."""
    if not revision.strip():
        raise UsageError(f"{option} is empty: it needs a revision of git, such as origin/main")
    top = _top(request, option)
    code, _, fault = answered(top, "rev-parse", "--git-dir")
    if code:
        raise UsageError(f"{option}: {top}: {fault}")
    commit = revision_of(top, revision)
    if commit is None and has_commits(top):
        hint = "; it is a shallow clone: `git fetch --unshallow`, or fetch-depth: 0 of actions/checkout"
        raise UsageError(f"{option}: {top} has no revision `{revision}`{hint if is_shallow(top) else ''}")
    folder = os.path.realpath(stack.enter_context(TemporaryDirectory(prefix="bwlint-since-")))
    tree = str(Path(folder) / "tree")
    if commit is None:  # the first commit is yet to be made
        return OldTree(tree, top, {}, replace(request, paths=()))
    try:
        missing = export(top, commit, Path(tree))
    except (SourceError, OSError) as error:
        raise UsageError(f"{option} {revision}: {error}") from None
    if missing:
        say(
            f"bwlint: warning: git has no content here for {missing} of the files of {revision}; theirs counts as new\n"
        )
    names = renamed(top, commit)
    paths = tuple(dict.fromkeys(then for path in request.paths for then in _then(path, top, tree, names)))
    # Patterns of the command line are told from the current folder, and all that is known does no harm.
    # All in it was tracked, of which ignore files say nothing.
    old = replace(request, paths=paths, use_gitignore=False, fixes=False, exclude=(), include=())
    return OldTree(tree, top, names, old)


def _top(request: CheckRequest, option: str) -> str:
    """The top of the git tree that all paths of a request are in. Raises UsageError."""
    reals = [os.path.realpath(path) for path in request.paths if not is_package(path)]
    tops = {top_of(real if Path(real).is_dir() else str(Path(real).parent)) for real in reals}
    if len(tops) != 1 or None in tops:
        raise UsageError(f"{option} needs paths in one git tree")
    return str(tops.pop())


def _then(path: str, top: str, tree: str, names: Mapping[str, str]) -> Iterator[str]:
    """Where what a path names lay before: there, and under other names; a package is what it is."""
    if is_package(path):
        yield path
        return
    place = relative(os.path.realpath(path), top)
    below = () if place == "." else (old for new, old in names.items() if new == place or new.startswith(f"{place}/"))
    yield from (there for old in (place, *below) if os.path.lexists(there := str(Path(tree) / old)))


def _changed(before: Path, after: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines of a file that it did not have before, or that stand where something was taken away."""
    data = read_bytes(str(before))
    text = data if isinstance(data, Unread) else decode(data)
    if isinstance(text, Unread):
        return frozenset()
    old, new = SourceText(text).lines, [line.rstrip("\r\n") for line in after]
    found: set[int] = set()
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found.update(range(start + 1, max(end, start + 1) + 1))
    return frozenset(found)
