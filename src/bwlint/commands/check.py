"""`bwlint check`: report findings and apply their fixes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bwlint.commands.progress import progress
from bwlint.commands.terminal import (
    CLEAN,
    FOUND,
    WRONG,
    failed_strictly,
    fails_strictly,
    failure,
    nothing,
    put_right,
    say,
    setting,
    use_index,
    write,
)
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.model.progress import quiet
from bwlint.report import renderer
from bwlint.report.summary import at_least, beyond, looks, next_step, not_read, sightings, statistics, summary
from bwlint.report.write import is_stdout
from bwlint.run.request import CheckRequest
from bwlint.run.unchanged import known_or_new

if TYPE_CHECKING:
    from bwlint.commands.since import Before
    from bwlint.model.findings import Report
    from bwlint.repair.passes import News, Repaired
    from bwlint.repair.write import NotWritten
    from bwlint.run.request import Outcome
    from bwlint.trace.marks import Launched

_WITH_FIXES = frozenset({"text", "concise", "json", "sarif", "html"})


def run(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.sources.read import given

    start = time.monotonic()
    options = {**options, "reports": reports(options), "launches": _launches(options)}
    if options["group_by"] and not any(form == "text" for form, _ in options["reports"]):
        raise click.UsageError("--group-by is for --format text")
    _consistent(options)
    request = _request(options)
    options["asked"] = request.paths
    _recover(request)
    if request.stdin is not None:  # reports show lines of it, also where the findings are known already
        stack.enter_context(given({os.path.realpath(request.paths[0]): request.stdin}))
    use_index(options, stack)
    if options["show_diff"]:
        return _show(request, options, stack, start)
    if options["patches"]:
        return _as_patches(request, options, stack, start)
    if options["fix"]:
        return _fix(request, options, stack, start)
    if options["add_suppressions"]:
        return _silence(request, options, stack, start)
    found = known_or_new(request, lambda: outcome_of(request, stack))
    outcome = _news(request, options, stack)(found)
    _write(outcome, options)
    _close(outcome, options, start)
    return _code(outcome, options)


def reports(options: dict[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """The formats to write and where: at most one goes to --output or stdout. Raises UsageError."""
    forms = options["forms"] or (("text", None),)
    loose = [form for form, file in forms if file is None]
    to_stdout = [form for form, file in forms if is_stdout(file or options["output"])]
    if len(loose) > 1 or len(to_stdout) > 1:
        first = (loose if len(loose) > 1 else to_stdout)[0]
        raise click.UsageError(f"only one report can go to stdout; give the others a file: {first}:FILE")
    if options["output"] and not loose:
        raise click.UsageError("--output needs a --format without a file of its own")
    files = [os.path.realpath(file) for file in (options["output"], *(file for _, file in forms)) if file]
    if len(set(files)) < len(files):
        raise click.UsageError("two reports would go to the same file")
    return tuple((form, file or options["output"]) for form, file in forms)


def _launches(options: dict[str, Any]) -> tuple[Launched, ...] | None:
    """The launches of the receipt that --trace names, None without it."""
    if options["trace"] is None:
        return None
    from bwlint.trace.marks import BadTrace, read

    with put_right(doing=options["trace"]):
        try:
            return read(Path(options["trace"]))
        except BadTrace as error:
            raise failure(ValueError(f"{options['trace']}: {error}")) from None


def _marked(report: Report, outcome: Outcome, options: dict[str, Any]) -> Report:
    """The report with what a trace says of its findings, told on stderr too."""
    if options["launches"] is None:
        return report
    from bwlint.trace.marks import marked

    report = marked(report, options["launches"], outcome.lines)
    if not options["quiet"]:
        say(f"bwlint: {sightings(report)}\n")
    return report


def plainly(options: dict[str, Any], stack: ExitStack) -> Outcome:
    """What a check with the options of another command finds, of every severity."""
    request = request_of(options, options["paths"] or (".",), severity="note")
    return known_or_new(request, lambda: outcome_of(request, stack))


def _news(request: CheckRequest, options: dict[str, Any], stack: ExitStack) -> News:
    """What takes from an outcome the findings that a baseline knows, or that were there at a revision."""
    old: Before | None = None
    if options["since"] is not None:
        from bwlint.commands.since import before

        with put_right():
            old = before(options["since"], request, stack)

    def new(outcome: Outcome) -> Outcome:
        baseline = None if options["no_baseline"] else options["baseline"] or outcome.baseline
        whole, gone = outcome.report, 0
        parts: list[Report] = []
        if baseline:
            from bwlint.report.baseline import load, without_known

            with put_right():
                known = load(Path(baseline))
            parts.append(without_known(whole, known))
            if request.stdin is None and not any(options[name] for name in _NARROWING):
                gone = known.gone(whole, request.paths)
        if old is not None:
            parts.append(old.without_old(whole, outcome.lines))
        if not parts:
            return outcome
        # Each has looked at all: of a file and its copy both know the same one.
        left = set.intersection(*({id(finding) for finding in part.findings} for part in parts))
        findings = tuple(finding for finding in whole.findings if id(finding) in left)
        stats = {**whole.stats, "baselined": len(whole.findings) - len(findings)}
        stats |= {"baseline_gone": gone} if gone else {}
        return replace(outcome, report=replace(whole, findings=findings, stats=stats))

    return new


_NARROWING = ("select", "ignore", "target", "exclude", "include", "config", "isolated", "force_exclude", "no_ignore")
"""Options with which a run may look for other findings than `bwlint baseline --prune` of the same paths does."""


def _consistent(options: dict[str, Any]) -> None:
    """Raises UsageError where options do not go together."""
    for name in ("interactive", "patches"):
        if not options[name]:
            continue
        if not options["fix"]:
            raise click.UsageError(f"--{name} needs --fix")
        if options["show_diff"]:
            raise click.UsageError(f"--{name} does not go with --diff")
    if options["show_diff"] and options["forms"]:
        raise click.UsageError("--diff prints the change and no report: leave --format out")
    if options["baseline"] and options["no_baseline"]:
        raise click.UsageError("--baseline does not go with --no-baseline")
    if options["add_suppressions"] is not None:
        if options["fix"] or options["show_diff"]:
            raise click.UsageError("--add-suppressions does not go with --fix or --diff")
        if not options["add_suppressions"].strip():
            raise click.UsageError("--add-suppressions needs a reason")
        if options["stdin_filename"] is not None or "-" in options["paths"]:
            raise click.UsageError("--add-suppressions cannot write to standard input")
    if options["since"] and (options["stdin_filename"] is not None or "-" in options["paths"]):
        raise click.UsageError("--since needs files of a git tree, not standard input")
    if options["interactive"] and options["patches"]:
        raise click.UsageError("--interactive does not go with --patches")
    if options["interactive"] and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("--interactive needs a terminal")


def _recover(request: CheckRequest) -> None:
    """End what a --fix that was killed has begun in the files to check."""
    from bwlint.repair.write import left_behind

    for left in left_behind(request.paths):
        from bwlint.repair.write import recovered

        for ended in recovered(left):
            say(f"bwlint: {_ENDED[ended.how].format(visible(ended.real))}\n")


_ENDED = {
    "fixed": "{}: fixed now; an earlier run was killed within this fix",
    "put back": "{}: restored; an earlier run was killed while it took this fix back",
    "lost": "warning: {}: changed since a killed run fixed other files of this fix, and not fixed itself",
}


def _request(options: dict[str, Any]) -> CheckRequest:
    paths, data = _paths(options)
    fixes = options["fix"] or options["show_diff"] or any(form in _WITH_FIXES for form, _ in options["reports"])
    return request_of(options, paths, stdin=data, fixes=fixes, ways=options["interactive"])


def request_of(options: dict[str, Any], paths: tuple[str, ...], **more: Any) -> CheckRequest:
    """What a command asks for, by those of its options that are called as in a request, and by `more`."""
    named = {field.name: options[field.name] for field in fields(CheckRequest) if field.name in options}
    return CheckRequest(**{**named, "paths": paths, "use_gitignore": not options.get("no_ignore"), **more})


def _paths(options: dict[str, Any]) -> tuple[tuple[str, ...], bytes | None]:
    """The paths to check, and the content of standard input if that is what to check."""
    paths, name = options["paths"], options["stdin_filename"]
    if name is None and "-" not in paths:
        return paths or (".",), None
    if [path for path in paths if path != "-"]:
        raise click.UsageError("standard input is checked alone, without further paths")
    if options["fix"] and not options["show_diff"]:
        raise click.UsageError("--fix cannot write to standard input; --diff shows the change")
    return (name or "stdin.py",), sys.stdin.buffer.read()


def outcome_of(request: CheckRequest, stack: ExitStack) -> Outcome:
    """Run a request, with its progress told; a wrong one ends the command."""
    from bwlint.run.check import check

    with put_right(), progress() as advance:
        return check(request, stack, advance)


def _repaired(request: CheckRequest, options: dict[str, Any], stack: ExitStack, news: News) -> Repaired:
    """The result of the fixes of `news`, in memory."""
    from bwlint.repair.interactive import Dialog
    from bwlint.repair.passes import everything, repaired

    decide = Dialog(_answer, say).decide if options["interactive"] else everything
    with put_right(), progress() as advance:
        shown = quiet if options["interactive"] else advance
        unsafe = options["unsafe_fixes"] or options["interactive"]  # whoever is asked sees what it does
        return repaired(request, stack, shown, unsafe=unsafe, decide=decide, news=news)


def _answer(question: str) -> str:
    """A line that the user types; raises EOFError."""
    say(question)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _show(request: CheckRequest, options: dict[str, Any], stack: ExitStack, start: float) -> int:
    """Print the change that --fix would make; the exit code of a run without it."""
    from bwlint.sources.worktree import base_of, is_in, relative

    repaired = _repaired(request, options, stack, _news(request, options, stack))
    here = os.path.realpath(os.curdir)
    base = base_of((source.file.real for source in repaired.changed), here) if repaired.changed else here
    patches = [source.diff(relative(source.file.real, base), source.blocks) for source in repaired.changed]
    write(b"".join(patches), options)
    _account(repaired, options, "would fix")
    if not is_in(here, base) or not all(is_in(source.file.real, here) for source in repaired.changed):
        say(f"bwlint: apply the diff in {visible(base)}\n")
    _close(repaired.before, options, start)
    return _code(repaired.before, options)


def _as_patches(request: CheckRequest, options: dict[str, Any], stack: ExitStack, start: float) -> int:
    """Write the fixes as a series of patches, then report what none of them mends."""
    from bwlint.repair.patches import NotOurs, check_folder, returns_of_git, save, series

    folder = Path(options["patches"])
    with put_right(NotOurs, doing=f"cannot write {folder}"):
        check_folder(folder)
        repaired = _repaired(request, options, stack, _news(request, options, stack))
        made = series(repaired)
        if made.patches or folder.is_dir():
            save(made, folder)
    outcome = repaired.outcome
    _write(outcome, options)
    _account(repaired, options, "would fix")
    count = counted(len(made.patches), "patch").replace("patchs", "patches")
    say(f"bwlint: wrote {count} to {visible(str(folder))}; nothing else was changed\n")
    if made.later:
        say(f"bwlint: deferred {made.later} that build on these; apply these and run it again\n")
    if returns_of_git(repaired.changed):
        say("bwlint: some lines end in a carriage return: git am needs --keep-cr\n")
    _close(outcome, options, start)
    return _code(outcome, options)


def _fix(request: CheckRequest, options: dict[str, Any], stack: ExitStack, start: float) -> int:
    """Apply the fixes, then report what is left on disk."""
    news, overlaid = _news(request, options, stack), stack.enter_context(ExitStack())
    began = time.time()
    repaired = _repaired(request, options, overlaid, news)
    problems = _written(repaired)
    outcome = repaired.outcome
    others = outcome.names.files.keys() - {source.file.real for source in repaired.changed}
    if problems or (not outcome.wheels and any(_is_newer(real, began) for real in others)):
        overlaid.close()
        outcome = news(outcome_of(request, stack))
    _write(outcome, options)
    _account(repaired, options, "fixed", problems)
    _close(outcome, options, start)
    if any(problem.failed for problem in problems):
        return WRONG
    changed = len(repaired.changed) - len(problems)
    return FOUND if changed and options["exit_non_zero_on_fix"] else _code(outcome, options)


def _silence(request: CheckRequest, options: dict[str, Any], stack: ExitStack, start: float) -> int:
    """Write a comment at all that would be shown, then report what is left on disk."""
    from bwlint.repair.comment import silencing
    from bwlint.repair.write import write as replace_files

    news = _news(request, options, stack)
    first = news(outcome_of(request, stack))
    shown = at_least(first.report, first.severity).findings
    made = silencing(first, shown, options["add_suppressions"], request.paths)
    problems = replace_files([[item] for item in made.replacements])
    outcome = news(outcome_of(request, stack)) if made.replacements else first
    _write(outcome, options)
    for finding, reason in made.refused:
        say(f"bwlint: not suppressed: {visible(finding.path)}:{finding.region.line}: {visible(reason)}\n")
    for problem in problems:
        say(f"bwlint: not suppressed: {visible(problem.real)}: {visible(problem.reason)}\n")
    failed = {problem.real for problem in problems}
    done = [count for real, count in made.counts.items() if real not in failed]
    say(f"bwlint: suppressed {counted(sum(done), 'finding')} in {counted(len(done), 'file')}\n" if done else "")
    _close(outcome, options, start)
    return WRONG if any(problem.failed for problem in problems) else _code(outcome, options)


_GRAIN = 0.05
"""Seconds by which the clock of a file system may be behind."""


def _is_newer(real: str, when: float) -> bool:
    """Whether somebody has changed or removed a file meanwhile."""
    try:
        return os.stat(real).st_mtime > when - _GRAIN  # noqa: PTH116
    except OSError:
        return True


def _written(repaired: Repaired) -> list[NotWritten]:
    """Bring the repaired files to the disk; those that stay as they were."""
    if not repaired.changed:
        return []
    from bwlint.repair.passes import groups
    from bwlint.repair.write import write as replace
    from bwlint.sources.worktree import tops, uncommitted

    for top in tops(source.file.real for source in repaired.changed):
        if uncommitted(top):
            say(f"bwlint: warning: {visible(top)} has uncommitted changes; the fixes will be among them\n")
    return replace(groups(repaired))


def _account(repaired: Repaired, options: dict[str, Any], did: str, problems: Sequence[NotWritten] = ()) -> None:
    """Say on stderr what was fixed and what was not."""
    from bwlint.repair.passes import summary

    if not options["quiet"]:
        say(summary(repaired, did, [problem.real for problem in problems], verbose=options["verbose"]))
    paths = {source.file.real: source.file.path for source in repaired.changed}
    for problem in problems:
        say(f"bwlint: not fixed: {visible(paths[problem.real])}: {visible(problem.reason)}\n")


def _close(outcome: Outcome, options: dict[str, Any], start: float) -> None:
    """Print on stderr what a run has besides its report; with --quiet only what was asked for."""
    from bwlint.report.summary import trees, verdicts

    if options["statistics"]:
        say(statistics(outcome.report))
    if options["verbose"] or not options["quiet"]:
        say(not_read(outcome.report.skipped, every=options["verbose"]))
    if options["quiet"]:
        return
    say(beyond(outcome.report))
    if not (outcome.scanned or options["force_exclude"]):
        return
    report, found = _rewritable(outcome), trees(options["asked"], [name for name, _ in outcome.wheels])
    say(f"bwlint: {summary(report, outcome.severity, time.monotonic() - start)}\n")
    say(_gone(outcome, options))
    say(f"bwlint: {looks(report)}\n" if len(found) > 1 and looks(report) else "")
    say(verdicts(report, outcome.severity, found, options["target"]) if outcome.scanned else "")
    is_stdin = options["stdin_filename"] is not None or "-" in options["paths"]
    if not (options["fix"] or is_stdin):
        say(next_step(report, options["paths"], options["target"], _chosen(options)))


_CHOOSING = ("select", "ignore", "severity", "baseline", "no_baseline", "since", "config", "isolated")
"""Options that say which findings are shown, besides the chips and the paths."""


def _chosen(options: dict[str, Any]) -> Iterator[str]:
    """Those options as words of a command."""
    for name in _CHOOSING:
        value, word = options[name], f"--{name.replace('_', '-')}"
        if value is True:
            yield word
        elif value:
            yield from (part for one in ((value,) if isinstance(value, str) else value) for part in (word, one))


def _gone(outcome: Outcome, options: dict[str, Any]) -> str:
    """A line where the baseline holds findings that are gone, with the command that takes them out; else nothing."""
    from shlex import join

    gone: int = outcome.report.stats.get("baseline_gone", 0)
    file: str | None = options["baseline"] or outcome.baseline
    if not gone or file is None:
        return ""
    named = ["--file", options["baseline"]] if options["baseline"] else []
    command = join(["bwlint", "baseline", "--prune", *named, *(options["paths"] or (".",))])
    entries, are = ("entry", "is") if gone == 1 else ("entries", "are")
    words = f"{gone} {entries} of {os.path.relpath(file)} {are} no longer found: {command}"
    return f"bwlint: {visible(words)}\n"


def _rewritable(outcome: Outcome) -> Report:
    """The report without the fixes of files in packages, which `--fix` does not rewrite."""
    packages = tuple(f"{name}/" for name, _ in outcome.wheels)
    findings = (replace(one, fix=None) if one.path.startswith(packages) else one for one in outcome.report.findings)
    return replace(outcome.report, findings=tuple(findings))


def _write(outcome: Outcome, options: dict[str, Any]) -> None:
    """The reports that were asked for, each where it belongs."""
    shown = _marked(at_least(outcome.report, outcome.severity), outcome, options)
    for form, file in options["reports"]:
        one = {**options, "form": form, "output": file}
        write(renderer(form)(shown, setting(one, outcome.lines, shown.skipped)), one)


def _code(outcome: Outcome, options: dict[str, Any]) -> int:
    if fails_strictly(options, outcome.report.skipped):
        return failed_strictly(outcome.report.skipped)
    if outcome.scanned == 0:
        return CLEAN if options["force_exclude"] else nothing()
    failing = at_least(outcome.report, outcome.fail_on).findings
    if not failing or options["exit_zero"]:
        return CLEAN
    if not at_least(outcome.report, outcome.severity).findings:
        hidden = f"{counted(len(failing), 'finding')} that --severity {outcome.severity} hides"
        say(f"bwlint: failed on {hidden}; --severity {outcome.fail_on} shows all\n")
    return FOUND
