"""The commands. Everything behind them is imported when it is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from bwlint import __version__
from bwlint.budget import LINK_FILES

if TYPE_CHECKING:
    from bwlint.check import Outcome, Request
    from bwlint.findings import Severity
    from bwlint.inspection import Inspected
    from bwlint.report import Lines, Setting

CLEAN, FOUND, WRONG, NOTHING = 0, 1, 2, 3
# What a shell reports for a program that SIGINT ended, which is how ruff ends.
INTERRUPTED = 130

_LEVELS = click.Choice(["note", "warning", "error"])
_FORMATS = click.Choice(["text", "concise", "json", "sarif"])
_TABLES = click.Choice(["text", "json"])
_INSPECTIONS = click.Choice(["text", "json", "sarif"])
_WITH_FIXES = frozenset({"json", "sarif"})
_PLAIN_WIDTH = 120

Command = Callable[..., Any]


_JUDGING = (
    click.option(
        "--target",
        multiple=True,
        metavar="SM",
        help="Chip to ask about, such as sm_120 or 12.1; repeatable. Default: 12.0 and 12.1.",
    ),
    click.option(
        "--select", multiple=True, metavar="RULE", help="Run only these rules (codes or names, commas allowed)."
    ),
    click.option("--ignore", multiple=True, metavar="RULE", help="Do not run these rules."),
    click.option("--severity", type=_LEVELS, help="Lowest severity to show. Default: warning."),
    click.option("--fail-on", type=_LEVELS, help="Lowest severity to fail on. Default: warning."),
)


def _judging(command: Command) -> Command:
    """The options of every command that judges: about which chips, by which rules, from which level on."""
    for option in reversed(_JUDGING):
        command = option(command)
    return command


class _Group(click.Group):
    """`bwlint PATH` is `bwlint check PATH`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = ("--help", "-h", "--version")
        if not args or args[0] not in (*self.commands, *own):
            args = ["check", *args]
        return super().parse_args(ctx, args)


class _Failure(click.ClickException):
    """Something that the user has to put right."""

    exit_code = WRONG


def main() -> None:
    """The program. Ends the process with the exit code of the contract."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the program; the exit code."""
    try:
        code = app.main(args=list(arguments), prog_name="bwlint", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else CLEAN
    except click.ClickException as error:
        error.show()
        return WRONG
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the report has seen enough. Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except Exception as error:
        return _internal(error)


def _internal(error: Exception) -> int:
    if os.environ.get("BWLINT_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    from bwlint.report.escape import visible

    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    click.echo(f"bwlint: internal error: {visible(words)} (BWLINT_DEBUG=1 shows where)", err=True)
    return WRONG


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="bwlint %(version)s")
def app() -> None:
    """Find code that breaks between the two Blackwells, SM100/SM103 and SM120/SM121.

    Without a command, `check` runs: `bwlint PATH`. Nothing of what is scanned is imported or executed.
    """


@app.command()
@click.argument("paths", nargs=-1)
@_judging
@click.option("--format", "form", type=_FORMATS, default="text", show_default=True, help="Form of the report.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write the report to this file instead of stdout.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes, then report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: unsafe fixes too.")
@click.option(
    "--diff",
    "show_diff",
    is_flag=True,
    help="Print what --fix would change instead of a report; change nothing.",
)
@click.option("--stdin-filename", metavar="NAME", help="Check standard input as if it were this file.")
@click.option("--force-exclude", is_flag=True, help="Excluded and ignored files stay out though they are named.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to read files with. Default: one a CPU, 8 at most.",
)
@click.option(
    "--link-budget",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Files beyond those given that may be read to see what they lead to. Default: {LINK_FILES}.",
)
@click.option("--no-cache", is_flag=True, help="Accepted for later; there is no cache yet.")
@click.option("--no-ignore", is_flag=True, help="Read files that .gitignore leaves out too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 though there are findings.")
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if something was rewritten.")
@click.option("--statistics", is_flag=True, help="Print the number of findings of each rule on stderr.")
@click.option("--verbose", "-v", is_flag=True, help="List skipped files with the reason.")
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Check files, folders, wheels and pypi:NAME[==VERSION] (default: the current folder).

    A package of PyPI is downloaded and read; nothing of it is installed, built or run.

    Exit codes: 0 clean, 1 findings at or above --fail-on, 2 wrong usage or configuration or an internal
    error, 3 nothing was scanned (0 with --force-exclude).
    """
    import gc

    # Parsing makes objects by the million, all of which stay.
    gc.disable()
    with ExitStack() as stack:
        ctx.exit(_check(options, stack))


def _check(options: dict[str, Any], stack: ExitStack) -> int:
    import time

    from bwlint.report.summary import beyond, skipped, summary

    start = time.monotonic()
    request = _request(options)
    outcome = _outcome(request, stack)
    changed = 0
    if options["fix"] and not options["show_diff"]:
        changed = _repair(outcome, unsafe=options["unsafe_fixes"])
        outcome = _outcome(request, stack) if changed else outcome
    _print_report(outcome, options)
    if options["statistics"]:
        from bwlint.report import statistics

        _say(statistics.render(outcome.report))
    if options["verbose"]:
        _say(skipped(outcome.report))
    _say(beyond(outcome.report))
    _say(f"bwlint: {summary(outcome.report, outcome.severity, time.monotonic() - start)}\n")
    return _code(outcome, options, changed)


def _request(options: dict[str, Any]) -> Request:
    from bwlint.check import Request

    paths, data = _paths(options)
    return Request(
        paths,
        options["target"],
        options["select"],
        options["ignore"],
        cast("Severity | None", options["severity"]),
        cast("Severity | None", options["fail_on"]),
        use_gitignore=not options["no_ignore"],
        force_exclude=options["force_exclude"],
        jobs=options["jobs"],
        stdin=data,
        fixes=options["fix"] or options["show_diff"] or options["form"] in _WITH_FIXES,
        link_budget=options["link_budget"],
    )


def _paths(options: dict[str, Any]) -> tuple[tuple[str, ...], bytes | None]:
    """The paths to check, and the content of standard input if that is what to check."""
    paths, name = options["paths"], options["stdin_filename"]
    if name is None and "-" not in paths:
        return paths or (".",), None
    if [path for path in paths if path != "-"]:
        raise click.UsageError("standard input is checked alone, without further paths")
    if options["fix"] and not options["show_diff"]:
        raise click.UsageError("--fix has no file to write for standard input; --diff shows the change")
    return (name or "stdin.py",), sys.stdin.buffer.read()


def _outcome(request: Request, stack: ExitStack) -> Outcome:
    from bwlint.check import UsageError, check
    from bwlint.config import ConfigError
    from bwlint.progress import progress

    try:
        with progress() as advance:
            return check(request, stack, advance)
    except (UsageError, ConfigError) as error:
        raise _failure(error) from None


def _failure(error: Exception) -> click.ClickException:
    """An error whose lines are fit for a terminal."""
    from bwlint.report.escape import visible

    return _Failure("\n".join(visible(line) for line in str(error).split("\n")))


def _repair(outcome: Outcome, *, unsafe: bool) -> int:
    """Apply the fixes; the number of files that were rewritten."""
    from bwlint.repair import repaired, write

    changed = 0
    for repair in repaired(outcome, unsafe=unsafe):
        failure = write(repair)
        if failure:
            _say(f"bwlint: not fixed: {failure}\n")
            continue
        changed += 1
    if changed:
        _say(f"bwlint: rewrote {changed} file{'s' * (changed > 1)}\n")
    return changed


def _print_report(outcome: Outcome, options: dict[str, Any]) -> None:
    _write(_diff(outcome, options) if options["show_diff"] else _rendered(outcome, options), options)


def _write(text: str | Iterable[str], options: dict[str, Any]) -> None:
    from bwlint.report.write import write_report

    try:
        write_report(text, Path(options["output"]) if options["output"] else None)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failure(OSError(f"cannot write {options['output']}: {error.strerror}")) from None


def _diff(outcome: Outcome, options: dict[str, Any]) -> str:
    from bwlint.repair import diff, repaired

    return "".join(diff(repair) for repair in repaired(outcome, unsafe=options["unsafe_fixes"]))


def _rendered(outcome: Outcome, options: dict[str, Any]) -> str:
    from bwlint.report import renderer
    from bwlint.report.summary import at_least

    setting = _setting(options, outcome.lines)
    return renderer(options["form"])(at_least(outcome.report, outcome.severity), setting)


def _setting(options: dict[str, Any], lines: Lines | None = None) -> Setting:
    from bwlint.catalog import rules
    from bwlint.report import Setting, no_source

    color = options["output"] is None and _has_color()
    width = _width() if color else _PLAIN_WIDTH
    return Setting(lines or no_source, __version__, rules(), color, width)


def _has_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns


def _code(outcome: Outcome, options: dict[str, Any], changed: int) -> int:
    from bwlint.report.summary import at_least

    if changed and options["exit_non_zero_on_fix"]:
        return FOUND
    if outcome.scanned == 0:
        return CLEAN if options["force_exclude"] else _nothing()
    failing = at_least(outcome.report, outcome.fail_on).findings
    return FOUND if failing and not options["exit_zero"] else CLEAN


def _nothing() -> int:
    _say("bwlint: nothing was scanned\n")
    return NOTHING


def _say(text: str) -> None:
    """Print on stderr what is already fit for a terminal."""
    if text:
        click.echo(text, err=True, nl=False)


@app.command()
@click.argument("things", nargs=-1)
@click.option("--installed", multiple=True, metavar="NAME", help="An installed distribution; it is not imported.")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="TAG",
    help="For pypi: x86_64, aarch64 or a wheel's platform tag; repeatable. Default: Linux on both.",
)
@click.option("--kernels", is_flag=True, help="List every container, its images and its kernels.")
@_judging
@click.option("--format", "form", type=_INSPECTIONS, default="text", show_default=True, help="Form of the report.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write the report to this file instead of stdout.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 though there are findings.")
@click.option("--verbose", "-v", is_flag=True, help="List skipped files with the reason.")
@click.pass_context
def inspect(ctx: click.Context, /, **options: Any) -> None:
    """Say which chips run what THINGS carry: wheels, shared objects, cubins, fatbins, PTX, archives, folders of
    them, or pypi:NAME[==VERSION].

    Packages are downloaded and read; nothing of them is installed, loaded or run. Exit codes are those of check.
    """
    ctx.exit(_inspect(options))


def _inspect(options: dict[str, Any]) -> int:
    from bwlint.config import ConfigError
    from bwlint.inspection import Request, UsageError, inspect
    from bwlint.report.summary import at_least, skipped, summary

    if not (options["things"] or options["installed"]):
        raise click.UsageError("name a file, a folder, pypi:NAME, or --installed NAME")
    if options["platforms"] and not any(thing.startswith("pypi:") for thing in options["things"]):
        raise click.UsageError("--platform chooses among the wheels of pypi:NAME, and none is named")
    request = Request(
        options["things"],
        options["installed"],
        options["platforms"],
        options["target"],
        options["select"],
        options["ignore"],
        cast("Severity | None", options["severity"]),
        cast("Severity | None", options["fail_on"]),
        options["kernels"],
    )
    try:
        found = inspect(request)
    except (UsageError, ConfigError) as error:
        raise _failure(error) from None
    _write(_inspection(found, options), options)
    report = found.inspection.report
    if options["verbose"]:
        _say(skipped(report))
    _say(f"bwlint: {summary(report, found.severity)}\n")
    for failure in found.failures:
        _failure(Exception(failure)).show()
    if found.failures:
        return WRONG
    if found.scanned == 0:
        return _nothing()
    return FOUND if at_least(report, found.fail_on).findings and not options["exit_zero"] else CLEAN


def _inspection(found: Inspected, options: dict[str, Any]) -> str | Iterable[str]:
    """The report of an inspection, as it is asked for; a long one in pieces."""
    from dataclasses import replace

    from bwlint.readers.binary.names import readable
    from bwlint.report.summary import at_least

    inspection = replace(found.inspection, report=at_least(found.inspection.report, found.severity))
    setting = _setting(options)
    if options["form"] == "json":
        from bwlint.report import inspection_json

        return inspection_json.pieces(inspection, setting, options["kernels"])
    if options["form"] == "sarif":
        from bwlint.report import sarif

        return sarif.render(inspection.report, setting)
    from bwlint.report import inspection_text

    chips = inspection.asked if options["target"] else ()
    return inspection_text.render(inspection, setting, options["kernels"], chips, readable)


@app.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--target",
    multiple=True,
    metavar="SM",
    help="Chip to show, such as sm_120 or 12.1; repeatable. Default: every chip that is sold.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="PATTERN",
    help="Show only operations whose name, or module and name, match: '*attention*'. Repeatable.",
)
@click.option("--format", "form", type=_TABLES, default="text", show_default=True, help="Form of the report.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write the report to this file instead of stdout.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to read files with. Default: one a CPU, 8 at most.",
)
@click.option("--verbose", "-v", is_flag=True, help="Show every gate of a row, and list skipped files.")
@click.pass_context
def matrix(ctx: click.Context, /, **options: Any) -> None:
    """Say what a tree supports: its public operations and their backends down, chips across.

    PATHS are files, folders, wheels or pypi:NAME[==VERSION] (default: the current folder). Rows are what packages
    hand on, backends that a decorator, registry or enumeration names, and classes that say where they work;
    operations without a gate are counted. Nothing is imported or executed.

    Exit codes: 0 there is a table, 2 wrong usage or configuration or an internal error, 3 nothing was found.
    """
    with ExitStack() as stack:
        ctx.exit(_matrix(options, stack))


def _matrix(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.check import UsageError
    from bwlint.config import ConfigError
    from bwlint.matrix import matrix as made
    from bwlint.progress import progress
    from bwlint.report import matrix_json, matrix_text
    from bwlint.report.summary import not_read

    paths = options["paths"] or (".",)
    try:
        with progress() as advance:
            found = made(paths, options["target"], options["select"], options["jobs"], stack, advance)
    except (UsageError, ConfigError) as error:
        raise _failure(error) from None
    setting = _setting(options)
    if options["form"] == "json":
        _write(matrix_json.render(found, setting), options)
    else:
        _write(matrix_text.render(found, setting, options["verbose"]), options)
    if options["verbose"]:
        _say(not_read(found.skipped))
    _say(f"bwlint: {matrix_text.summary(found)}\n")
    return CLEAN if found.rows else NOTHING


@app.command()
@click.argument("rule", required=False)
@click.option("--gate", metavar="EXPR", help="Evaluate a Python condition on every chip instead.")
def explain(rule: str | None, gate: str | None) -> None:
    """Explain a RULE (by code or name), or what a gate admits: --gate 'cap in [89, 120]'."""
    from bwlint import explain as explaining

    if (rule is None) == (gate is None):
        raise click.UsageError("name a rule, or give a condition with --gate")
    try:
        text = explaining.gate(gate) if gate is not None else explaining.rule(rule or "")
    except ValueError as error:
        raise _failure(error) from None
    click.echo(text, nl=False)


@app.command()
def rules() -> None:
    """List the rules."""
    from bwlint.explain import all_rules

    click.echo(all_rules(), nl=False)


@app.command()
@click.argument("names", nargs=-1)
def chips(names: tuple[str, ...]) -> None:
    """List the chips, or compare some: bwlint chips 12.0 12.1 10.0."""
    from bwlint.chips import table

    try:
        show = table.comparison(table.named(names)) if names else table.overview()
    except ValueError as error:
        raise _failure(error) from None
    table.show(show, sys.stdout)
