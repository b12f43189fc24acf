"""`bwlint audit`: every place that checks the chip, and the decisions that people made about them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from bwlint.commands.check import reports, request_of
from bwlint.commands.progress import progress
from bwlint.commands.terminal import (
    CLEAN,
    FOUND,
    failed_strictly,
    fails_strictly,
    failure,
    lines_on_disk,
    nothing,
    put_right,
    say,
    setting,
    use_index,
    write,
)
from bwlint.model.escape import visible
from bwlint.model.ledger import NAMING, Decision, Ledger, Row
from bwlint.model.naming import counted
from bwlint.report import Setting
from bwlint.report.audit import FEW, SHORT_FINGERPRINT
from bwlint.report.summary import not_read, questions
from bwlint.report.write import write_report
from bwlint.run import audit
from bwlint.run.gather import Settings
from bwlint.run.request import CheckRequest
from bwlint.settings.decisions import Decisions, apply, load
from bwlint.sources.pypi import is_package

_FAILING = ("fail", "review", "open")
"""The kinds that --fail-on names, the worst first."""
_ROW = re.compile(r"[0-9a-f]{6,32}", re.IGNORECASE)


def run(options: dict[str, Any], stack: ExitStack) -> int:
    """List the questions that the options ask for, or write a decision down; the exit code."""
    _consistent(options)
    if options["staged"]:
        since = options["since"] or os.environ.get("PRE_COMMIT_FROM_REF") or "HEAD"
        options = {**options, "since": since, "exclude": (*options["exclude"], *_untracked())}
    asked = reports(options)
    # What --fail-on names here are kinds of rows.
    request = request_of(options, options["paths"] or (".",), fail_on=None)
    with put_right():
        settings = Settings(request)
    decisions = _decisions(settings, options)
    is_whole = _is_whole(request, settings.root)
    if options["prune"] and not is_whole:
        command = f"bwlint audit --prune {settings.root}"
        raise click.UsageError(f"--prune needs the whole project: `{command}`")
    use_index(options, stack)
    known = _known(request, options["since"], stack) if options["since"] is not None else frozenset()
    ledger = read(request, stack)
    if (options["decide"] or options["prune"]) and not _scanned(ledger):
        return nothing()
    if options["decide"]:
        return _decide(ledger, decisions, options)
    if options["prune"]:
        return _prune(ledger, decisions)
    ledger = _asked_for(_applied(ledger, decisions, is_whole=is_whole), known, options)
    for form, file in asked:
        _write(ledger, {**options, "form": form, "output": file})
    return _close(ledger, decisions, options)


def today() -> str:
    """The date of a decision that is made now."""
    return time.strftime("%Y-%m-%d")


def _consistent(options: dict[str, Any]) -> None:
    """Raises UsageError where options do not go together."""
    if options["decide"] and options["prune"]:
        raise click.UsageError("--decide does not go with --prune")
    if bool(options["decide"]) != (options["reason"] is not None):
        raise click.UsageError("--decide and --reason go together")
    if options["decide"] and not options["reason"].strip():
        raise click.UsageError("--reason needs the reason for the decision")
    for row, _ in options["decide"]:
        if not _ROW.fullmatch(row):
            raise click.UsageError(f"--decide: {row!r} is not a row; give at least 6 digits of its fingerprint")
    if not (options["decide"] or options["prune"]):
        return
    for name in ("since", "staged", "fail_on", "forms", "output"):
        if options[name]:
            option = {"forms": "format"}.get(name, name.replace("_", "-"))
            raise click.UsageError(f"--{option} does not go with --decide or --prune")


def _untracked() -> tuple[str, ...]:
    """Patterns of what the next commit does not take along, told from the current folder."""
    from bwlint.sources.worktree import asked, top_of

    here = os.path.realpath(os.curdir)
    others = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    _, listed = asked(top_of(here) or here, "-C", here, *others)
    return tuple("/" + re.sub(r"([][\\*?! ])", r"\\\1", path) for path in listed.split("\0") if path)


def _decisions(settings: Settings, options: dict[str, Any]) -> Decisions:
    named = options["decisions"]
    if named and not options["decide"] and not Path(named).exists():
        raise failure(OSError(f"{named}: no such file; --decide writes one"))
    with put_right():
        return load(named or os.path.relpath(settings.decisions_file))


def _is_whole(request: CheckRequest, root: str) -> bool:
    """Whether all rows are looked for that decisions of the folder `root` can be about."""
    from bwlint.sources.worktree import is_in

    if request.exclude or request.include or request.target:
        return False
    return any(is_in(root, os.path.realpath(path)) for path in request.paths if not is_package(path))


def read(request: CheckRequest, stack: ExitStack) -> Ledger:
    """The ledger of a request, with its progress told; a wrong request ends the command."""
    with put_right(), progress() as advance:
        return audit.audit(request, stack, advance)


def _scanned(ledger: Ledger) -> int:
    return ledger.stats.get("files", len(ledger.rows))


def _applied(ledger: Ledger, decisions: Decisions, *, is_whole: bool) -> Ledger:
    """The ledger with the decisions; those without a row are stale where all rows were looked for."""
    ledger = apply(ledger, decisions.made)
    return ledger if is_whole else replace(ledger, stale=())


def _asked_for(ledger: Ledger, known: frozenset[str], options: dict[str, Any]) -> Ledger:
    """The ledger with the rows that the options speak of and that are not known, whatever their kind."""
    forms = {form for some in options["row_forms"] for form in some}
    rows = tuple(
        row
        for row in ledger.rows
        if not known.issuperset(row.questions)
        and (not forms or row.form in forms)
        and _is_about(row.subject, options["subject"])
    )
    return replace(ledger, rows=rows)


def _is_about(subject: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns, if there are any, holds for a subject or for its last part."""
    last = re.split(r"\.|::", subject)[-1]
    return not patterns or any(fnmatchcase(subject, one) or fnmatchcase(last, one) for one in patterns)


def _known(request: CheckRequest, revision: str, stack: ExitStack) -> frozenset[str]:
    """The fingerprints of the questions that were there at a revision."""
    from bwlint.commands.since import tree_at

    with put_right():
        old = tree_at(revision, request, stack)
    rows = read(old.request, stack).rows if old.request.paths else ()
    return frozenset(question for row in rows for question in row.questions)


def _write(ledger: Ledger, options: dict[str, Any]) -> None:
    """One report: of the kinds and as many rows as it is for."""
    form, top = options["form"], options["top"]
    kinds = {kind for some in options["kind"] for kind in some} or set(_FAILING if form == "text" else ("all",))
    rows = tuple(row for row in ledger.rows if row.kind in kinds or "all" in kinds)
    if form != "text" and top:
        rows = rows[:top]
    chosen = top is not None or any(options[key] for key in ("kind", "row_forms", "subject", "since"))
    shown = rows if form != "text" or chosen else tuple(row for row in rows if not _only_names(row)) or rows
    how, first = setting(options, lines_on_disk(os.path.realpath), ledger.skipped), FEW if top is None else top
    write(rendered(replace(ledger, rows=shown), form, how, first, len(rows) - len(shown)), options)


def _only_names(row: Row) -> bool:
    """Whether nothing is known of a row but what it names or how much it asks for: inventory, shown when wanted."""
    return row.kind == "open" and (row.form in NAMING or row.form == "amount")


def rendered(ledger: Ledger, form: str, how: Setting, top: int, hidden: int = 0) -> str | Iterable[str]:
    """A ledger in a form; the text shows its first `top` rows, or all where that is 0, and tells of the rest and of
    those that are `hidden`.
    """
    from importlib import import_module

    if form == "html":
        html = import_module("bwlint.report.html")
        text = (rendered(ledger, "json", how, 0),)
        page: Iterable[str] = html.page("audit", text, html.of_audit(ledger, how), how.subject)
        return page
    render = getattr(import_module(f"bwlint.report.audit{'_sarif' if form == 'sarif' else ''}"), f"as_{form}")
    return str(render(ledger, how, top, hidden) if form == "text" else render(ledger, how))


def _close(ledger: Ledger, decisions: Decisions, options: dict[str, Any]) -> int:
    """Print the totals on stderr, unless --quiet is given; the exit code."""
    if options["verbose"] or not options["quiet"]:
        say(not_read(ledger.skipped, every=options["verbose"]))
    if _scanned(ledger) and not options["quiet"]:
        which = f" new or changed since {visible(options['since'])}" if options["since"] else ""
        say(f"bwlint: {questions(ledger, which)}\n")
        if ledger.stale:
            count = counted(len(ledger.stale), "decision")
            say(f"bwlint: {count} in {visible(decisions.file)} match no row: --prune removes them\n")
    if fails_strictly(options, ledger.skipped):
        return failed_strictly(ledger.skipped)
    if not _scanned(ledger):
        return nothing()
    failing = _failing(ledger, options["fail_on"])
    if not failing or options["quiet"]:
        return FOUND if failing else CLEAN
    undecided = [row for row in failing if row.decision is None]
    say(f"bwlint: {counted(len(failing), 'check')} at or above --fail-on {options['fail_on']}\n")
    if undecided:
        row = undecided[0].fingerprint[:SHORT_FINGERPRINT]
        say(f'bwlint: fix the code, or decide: bwlint audit --decide {row} fine|broken|later --reason "..."\n')
    return FOUND


def _failing(ledger: Ledger, lowest: str | None) -> list[Row]:
    """The rows that fail a run: as bad as `lowest` or worse, and not decided to be something else."""
    kinds = _FAILING[: _FAILING.index(lowest) + 1] if lowest in _FAILING else ()
    return [row for row in ledger.rows if row.kind in kinds and (row.decision is None or row.decision.said == "broken")]


def _decide(ledger: Ledger, decisions: Decisions, options: dict[str, Any]) -> int:
    """Write the decisions of the options into the file."""
    from bwlint.sources.worktree import identity, is_ignored, top_of

    real = os.path.realpath(decisions.file)
    top = top_of(str(Path(real).parent))
    known = identity(top) if top else None
    who = f"{known[0]} <{known[1]}>" if known else ""
    chosen = [(_row(ledger, digits.lower()), said) for digits, said in options["decide"]]
    with put_right():
        for row, said in chosen:
            made = Decision(row.fingerprint, said, options["reason"].strip(), who, today())
            decisions = decisions.with_one(made, row)
    _save(decisions)
    for row, said in chosen:
        words = f"{row.fingerprint[:SHORT_FINGERPRINT]} is {said} in {decisions.file}: {row.question}"
        say(f"bwlint: {visible(words)}\n")
    if is_ignored(real):
        say(f"bwlint: warning: git ignores {visible(decisions.file)}: `git add --force` it\n")
    return CLEAN


def _row(ledger: Ledger, digits: str) -> Row:
    """The row whose fingerprint begins so. Raises Failure."""
    found = {row.fingerprint: row for row in ledger.rows if row.fingerprint.startswith(digits)}
    if not found:
        raise failure(LookupError(f"--decide: no row begins with {digits}"))
    if len(found) > 1:
        raise failure(LookupError(f"--decide: {len(found)} rows begin with {digits}: {', '.join(sorted(found)[:4])}"))
    return next(iter(found.values()))


def _prune(ledger: Ledger, decisions: Decisions) -> int:
    """Take the decisions out of the file that no row has."""
    stale = {decision.fingerprint for decision in _applied(ledger, decisions, is_whole=True).stale}
    with put_right():
        left = decisions.without(stale)
    if left is not decisions:
        _save(left)
    say(f"bwlint: {counted(len(left.made), 'decision')} in {visible(left.file)}, {len(stale)} gone\n")
    return CLEAN


def _save(decisions: Decisions) -> None:
    with put_right(doing=f"cannot write {decisions.file}"):
        write_report(decisions.text, Path(decisions.file))
