"""`bwlint baseline`: record today's findings, so that later runs report new ones only."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from bwlint.commands.check import plainly
from bwlint.commands.terminal import CLEAN, nothing, put_right, say, use_index
from bwlint.model.naming import counted
from bwlint.report.baseline import Baseline, load, text_of
from bwlint.report.summary import not_read
from bwlint.report.write import write_report
from bwlint.settings import catalog
from bwlint.settings.config import Config, UsageError, chosen_rules
from bwlint.sources.worktree import is_ignored

_USUAL, _CONFIGURATION = "bwlint-baseline.json", "bwlint.toml"
_NARROWING = ("select", "ignore", "target")
"""Options with which a run does not look for all that a baseline may hold."""


def run(options: dict[str, Any], stack: ExitStack) -> int:
    if options["prune"] and any(options[name] for name in _NARROWING):
        raise click.UsageError("--prune does not go with --select, --ignore or --target")
    use_index(options, stack)
    outcome = plainly(options, stack)
    if options["verbose"] or not options["quiet"]:
        say(not_read(outcome.report.skipped, every=options["verbose"]))
    if outcome.scanned == 0:
        return nothing()
    named = os.path.relpath(outcome.baseline) if outcome.baseline else None
    file = Path(options["file"] or named or _USUAL)
    with put_right():
        old = load(file) if options["prune"] else _there(file)
    report, paths = outcome.report, options["paths"] or (".",)
    kept, unread = _unasked(old, paths, options), old.unread(report)
    found = Baseline.of(report.findings, old.root)
    made = old.pruned(report, paths) if options["prune"] else kept.joined(unread).joined(found)
    with put_right(doing=f"cannot write {file}"):
        write_report(text_of(made), file)
    total = made.known.total()
    gone = f", {old.known.total() - total} gone" if options["prune"] else ""
    why = ", from other rules or for other chips" if any(options[name] for name in _NARROWING) else ""
    unasked = f", {kept.known.total()} of them kept from files outside PATHS{why}" if kept.known else ""
    count = (unread.known - kept.known).total()
    unread_too = f", {count} of them kept from files that were not read" if count else ""
    if not options["quiet"]:
        say(f"bwlint: {counted(total, 'finding')} in {file}{gone}{unasked}{unread_too}\n")
    _advise(file, outcome.baseline)
    return CLEAN


def _unasked(old: Baseline, paths: Sequence[str], options: dict[str, Any]) -> Baseline:
    """What a baseline knows that the run has not looked for: in other files, of other rules, for other chips."""
    if options["target"]:  # no entry says for which chips it was found
        return old
    kept = old.outside(paths)
    if options["select"] or options["ignore"]:
        asked = Config(select=options["select"] or None, ignore=options["ignore"])
        names = chosen_rules(asked)
        return kept.joined(old.of_others({rule.code for rule in catalog.rules() if rule.name in names}))
    return kept


def _there(file: Path) -> Baseline:
    """The baseline that a new one will be written over; an empty one where there is none. Raises UsageError."""
    if not file.is_file() or not file.stat().st_size:  # a pipe, or what mktemp has made
        return Baseline.of((), str(file.resolve().parent))
    try:
        return load(file)
    except UsageError as error:
        raise UsageError(f"{error}; remove it to write a new one") from None


def _named_now(file: Path) -> bool:
    """Whether the configuration beside a baseline names it now: `bwlint init` has written the line as a comment."""
    configuration = file.with_name(_CONFIGURATION)
    try:
        before = configuration.read_bytes().decode()
    except (OSError, ValueError):
        return False
    after = re.sub(rf'(?m)^# (baseline = "{re.escape(file.name)}")', r"\1", before, count=1)
    if after != before:
        with put_right(doing=f"cannot write {configuration}"):
            write_report(after, configuration)
    return after != before


def _advise(file: Path, named: str | None) -> None:
    """Say what keeps a new baseline from being used: nothing names it, or git leaves it out."""
    real = os.path.realpath(file)
    if named is None and _named_now(file):
        say(f"bwlint: {file.with_name(_CONFIGURATION)} names it now: every run uses it\n")
    elif named is None or os.path.realpath(named) != real:
        say(f'bwlint: to use it in every run, write `baseline = "{file.name}"` in bwlint.toml beside it\n')
    if is_ignored(real):
        say(f"bwlint: warning: git ignores {file}: `git add --force` it\n")
