"""The command line: options of every command. Each command's code is imported when it runs."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from bwlint import __version__
from bwlint.commands import options as opt
from bwlint.commands.terminal import (
    CLEAN,
    INTERRUPTED,
    WRONG,
    EndedBySignal,
    end_on_signals,
    failure,
    say,
    silence,
)
from bwlint.model.ledger import ROW_FORMS, ROW_KINDS, SAID
from bwlint.world.budget import LINK_FILES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Group(click.Group):
    """`bwlint PATH` is `bwlint check PATH`."""

    command_class = opt.GroupedCommand

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(opt.of_commands(self, ctx))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = ("--help", "-h", "--version")
        if not args and ctx.resilient_parsing:  # a shell asks what the first word may become
            return super().parse_args(ctx, args)
        if not args or args[0] not in (*self.commands, *own):
            self._refuse_misspelt(args[0] if args else "")
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        return [*opt.files(ctx, None, incomplete), *super().shell_complete(ctx, incomplete)]

    def _refuse_misspelt(self, word: str) -> None:
        """Raises UsageError for a word that is no path and nearly a command."""
        if not re.fullmatch(r"[a-z]{3,}", word) or os.path.lexists(word):
            return
        if word in _COMMANDS_OF_OTHERS:
            raise click.UsageError(f"{word!r} is neither a path nor a command; write `{_COMMANDS_OF_OTHERS[word]}`")
        from difflib import get_close_matches

        close = get_close_matches(word, self.commands, n=1, cutoff=0.75)
        if close:
            raise click.UsageError(f"{word!r} is neither a path nor a command; did you mean `{close[0]}`?")


def commands_by_name(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in app.commands if name.startswith(incomplete)]


_COMMANDS_OF_OTHERS = {"fix": "bwlint check --fix PATH", "lint": "bwlint check PATH", "scan": "bwlint check PATH"}
"""What people type who know other linters."""
_COMPLETION = "_BWLINT_COMPLETE"
"""The variable by which a shell asks what a word may become: eval "$(_BWLINT_COMPLETE=bash_source bwlint)"."""


def main() -> None:
    """The program. Ends the process with the exit code of the contract, and lets the system take its memory back."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # else the next file that is opened becomes it
            setattr(sys, name, open(os.devnull, "r+"))  # noqa: PTH123, SIM115
    try:
        if _COMPLETION in os.environ:
            from click.shell_completion import shell_complete

            _leave(shell_complete(app, {}, "bwlint", _COMPLETION, os.environ[_COMPLETION]))
        _leave(_invoked(sys.argv[1:]))
    except BaseException as error:
        # Here, where its frames still hold all that was read: to free that takes longer than one waits after Ctrl-C.
        _leave(_code(error))


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the program; the exit code."""
    try:
        return _invoked(arguments)
    except BaseException as error:
        return _code(error)


def _invoked(arguments: Sequence[str]) -> int:
    with ExitStack() as stack:
        end_on_signals(stack)
        with app.make_context("bwlint", list(arguments)) as context:
            app.invoke(context)
    sys.stdout.flush()
    return CLEAN


def _code(error: BaseException) -> int:
    """The exit code for what has ended a run, and a word about it on stderr."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            with contextlib.suppress(OSError):
                error.show()
            return error.exit_code
        case EndedBySignal():
            say(f"bwlint: ended by {error.name}\n")
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():  # the latter from a question of click
            say("bwlint: interrupted\n")
            return INTERRUPTED
        case BrokenPipeError():
            silence(sys.stdout)
            return CLEAN
    return _internal(error)


def _internal(error: BaseException) -> int:
    if os.environ.get("BWLINT_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    from bwlint.model.escape import visible

    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say(f"bwlint: {visible(f'{where}{error.strerror or error}')}\n")
        return WRONG
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    say(f"bwlint: internal error: {visible(words)} (BWLINT_DEBUG=1 shows where)\n")
    return WRONG


def _run(ctx: click.Context, options: dict[str, Any], *more: ExitStack) -> NoReturn:
    """The work of a command, in the module of its name; the exit code is its own."""
    ctx.exit(import_module(f"bwlint.commands.{ctx.command.name}").run(options, *more))


def _run_with_stack(ctx: click.Context, options: dict[str, Any]) -> NoReturn:
    with ExitStack() as stack:
        _run(ctx, options, stack)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="bwlint %(version)s")
def app() -> None:
    """Find code that breaks between the two Blackwells, SM100/SM103 and SM120/SM121.

    Without a command, `check` runs: `bwlint PATH`. Nothing of what is scanned is imported or executed.
    """


@app.command()
@click.argument("paths", nargs=-1, shell_complete=opt.files)
@opt.judging
@opt.several(opt.FORMATS)
@opt.output
@opt.sarif_root
@opt.color
@opt.settling
@click.option("--fix", is_flag=True, help="Apply the safe fixes of what would be shown, then report the rest.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: the unsafe fixes too.")
@click.option(
    "--diff",
    "show_diff",
    is_flag=True,
    help="Print the changes of --fix instead of a report. No file is changed.",
)
@click.option(
    "--interactive",
    is_flag=True,
    help="With --fix: ask about each fix, safe or not, and which of several to take. Needs a terminal.",
)
@click.option(
    "--patches",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="With --fix: write a series of patches for git am to this folder instead of changing files.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Report only findings that are not in this file of `bwlint baseline`. Default: `baseline` of the "
    "configuration.",
)
@click.option("--no-baseline", is_flag=True, help="Report the findings of the configured baseline too.")
@click.option(
    "--since",
    metavar="REV",
    help="Report only findings that are new since this git revision or on lines changed since.",
)
@click.option(
    "--add-suppressions",
    metavar="REASON",
    help="Write a suppression comment with this reason at each finding shown, then report the rest.",
)
@opt.file_option("--trace", help="Mark findings as seen, not seen or contradicted by this receipt of `bwlint trace`.")
@click.option("--stdin-filename", metavar="NAME", help="Check standard input as if it were this file.")
@click.option("--force-exclude", is_flag=True, help="Leave out excluded and ignored files even if they are named.")
@opt.jobs
@click.option(
    "--link-budget",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Most files beyond PATHS to read when following calls and imports. Default: {LINK_FILES}.",
)
@opt.no_cache
@click.option("--no-ignore", is_flag=True, help="Read files that .gitignore leaves out too.")
@opt.exit_zero
@opt.strict
@click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with 1 if something was rewritten.")
@opt.quiet
@click.option("--group-by", type=opt.GROUPS, help="With --format text: what findings are grouped by. Default: cause.")
@click.option("--full", is_flag=True, help="With --format text: show every finding whole, by path.")
@click.option("--statistics", is_flag=True, help="Print the number of findings of each rule on stderr.")
@opt.verbose
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Find code that fails on the chips asked about: in files, folders, wheels and pypi:NAME[==VERSION].

    The default is the current folder. A PyPI package is downloaded and read. It is never installed, built or run.

    Exit codes: 0 clean, 1 findings at or above --fail-on, 2 wrong usage, wrong configuration or an internal
    error, 3 nothing was scanned (0 with --force-exclude).
    """
    gc.disable()  # parsing makes objects by the million, all of which stay
    _run_with_stack(ctx, options)


@app.command()
@click.argument("paths", nargs=-1, shell_complete=opt.files)
@opt.choosing
@opt.file_option(
    "--file", written=True, help="The baseline. Default: `baseline` of the configuration, or bwlint-baseline.json."
)
@click.option("--prune", is_flag=True, help="Remove findings that PATHS no longer have. Add none.")
@opt.jobs
@opt.no_cache
@opt.quiet
@opt.verbose
@click.pass_context
def baseline(ctx: click.Context, /, **options: Any) -> None:
    """Record today's findings in PATHS. Later runs of `check` report only new ones.

    A finding stays known when lines move and files are renamed, until it is graver. What is known of files outside
    PATHS and of those that could not be read stays, and with --select, --ignore or --target what is known of other
    rules and for other chips.

    Exit codes: 0 the baseline is written, 2 wrong usage, wrong configuration or an internal error, 3 nothing was
    scanned.
    """
    _run_with_stack(ctx, options)


@app.command()
@click.argument("paths", nargs=-1, shell_complete=opt.files)
@opt.target
@click.option(
    "--kind",
    type=opt.WordList((*ROW_KINDS, "all")),
    multiple=True,
    help="Show rows of these kinds. Default: fail, review and open in the text, all elsewhere.",
)
@click.option(
    "--form",
    "row_forms",
    metavar="FORM",
    type=opt.WordList(ROW_FORMS),
    multiple=True,
    help=f"Only rows of these forms, commas allowed: {', '.join(ROW_FORMS)}.",
)
@click.option(
    "--subject",
    multiple=True,
    metavar="PATTERN",
    help="Only rows whose subject, or its last part, matches: '*attention*'. Repeatable.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show the first N rows, 0 for all. Default: 30 in the text, all elsewhere.",
)
@click.option("--since", metavar="REV", help="Only rows that are new or changed since this revision of git.")
@click.option(
    "--staged",
    is_flag=True,
    help="Leave out files that git does not track. --since is then HEAD by default, in pre-commit its --from-ref.",
)
@opt.file_option(
    "--decisions",
    help="File of decisions. Default: bwlint-audit.toml beside the configuration, else at the top of the git tree.",
)
@click.option(
    "--decide",
    nargs=2,
    multiple=True,
    type=(str, click.Choice(SAID)),
    metavar="ROW fine|broken|later",
    help="Record your decision about a row, by the first digits of its fingerprint; repeatable.",
)
@click.option("--reason", metavar="TEXT", help="With --decide: why.")
@click.option("--prune", is_flag=True, help="Remove decisions about rows that no longer exist.")
@click.option(
    "--fail-on",
    type=click.Choice(["fail", "review", "open", "never"]),
    help="Exit with 1 if there is an undecided row of this kind or a worse one. Default: never.",
)
@opt.several(opt.AUDITS)
@opt.output
@opt.sarif_root
@opt.color
@opt.settling
@opt.jobs
@opt.no_cache
@click.option("--no-ignore", is_flag=True, help="Read files that .gitignore leaves out too.")
@opt.strict
@opt.quiet
@opt.verbose
@click.pass_context
def audit(ctx: click.Context, /, **options: Any) -> None:
    """List every place that asks for the chip, the most suspicious first, with a verdict for each chip.

    PATHS are those of check. Verdicts: fail (check reports it), review (the code treats 12.x unlike a neighbour, and
    bwlint cannot prove that right or wrong), open (bwlint cannot evaluate it) and pass. Your decisions are kept in
    bwlint-audit.toml until the code they are about changes. In CI: --since origin/main --fail-on review.

    Exit codes: 0, 1 there are rows that --fail-on names, 2 wrong usage, wrong configuration or an internal error,
    3 nothing was scanned.
    """
    gc.disable()  # parsing makes objects by the million, all of which stay
    _run_with_stack(ctx, options)


@app.command()
@click.argument("things", nargs=-1, shell_complete=opt.files)
@click.option("--installed", multiple=True, metavar="NAME", help="An installed distribution; it is not imported.")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="TAG",
    help="For pypi: x86_64, aarch64 or a wheel's platform tag; repeatable. Default: Linux on both.",
)
@click.option("--kernels", is_flag=True, help="List every container, its images and its kernels.")
@opt.judging
@opt.form(opt.INSPECTIONS)
@opt.output
@opt.color
@opt.exit_zero
@opt.strict
@opt.quiet
@opt.verbose
@click.pass_context
def inspect(ctx: click.Context, /, **options: Any) -> None:
    """Say which chips can run THINGS: wheels, shared objects, cubins, fatbins, PTX, archives, folders of them, or
    pypi:NAME[==VERSION].

    Packages are downloaded and read. They are never installed, loaded or run. Exit codes are those of check; 1 also
    if one of THINGS does not run on a card of --card, 3 also if one of several could not be read at all.
    """
    _run(ctx, options)


@app.command()
@click.argument("paths", nargs=-1, shell_complete=opt.files)
@click.option(
    "target",
    "--target",
    "--card",
    multiple=True,
    metavar="SM",
    help="Chip to show, such as sm_120, 12.1 or spark; repeatable. Default: every chip that is sold.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="PATTERN",
    help="Show only operations whose name, or module and name, match: '*attention*'. Repeatable.",
)
@click.option(
    "--receipts",
    metavar="FILE|FOLDER",
    type=click.Path(exists=True),
    help="Receipts of confirm: mark the cells that they confirm or refute on that chip.",
)
@click.option(
    "--diff",
    metavar="REV[..REV]",
    help="Show only cells that changed since this git revision, or between two. PATHS may begin with the second.",
)
@opt.form(opt.MATRICES)
@opt.output
@opt.color
@opt.jobs
@opt.no_cache
@click.option("--verbose", "-v", is_flag=True, help="Show every gate of a row, and list skipped files.")
@click.pass_context
def matrix(ctx: click.Context, /, **options: Any) -> None:
    """List the public operations of a tree and their backends, and the chips on which each works.

    PATHS are files, folders, wheels or pypi:NAME[==VERSION] (default: the current folder). Rows are exported
    functions and classes, backends named by a decorator, registry or enumeration, and classes that name their chips.
    Operations without a check of the chip are counted. Nothing is imported or executed.

    Formats markdown (a table) and badge (an SVG) are for a README. They show the chips of --target, else of the
    configuration.

    Exit codes: 0 there is a table, 1 with --diff a chip asked about has lost an operation, 2 wrong usage, wrong
    configuration or an internal error, 3 nothing was found.
    """
    _run_with_stack(ctx, options)


@app.command()
@click.argument("paths", nargs=-1, shell_complete=opt.files)
@click.option("--to", required=True, metavar="SM", help="The chip to port to, such as 12.1, sm_120 or spark.")
@click.option(
    "--op",
    multiple=True,
    metavar="PATTERN",
    help="Only operations whose name, or module and name, match: '*attention*'. Repeatable.",
)
@opt.form(opt.PORTS)
@opt.output
@opt.color
@click.option(
    "--patches",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write the edits to this folder as a series of patches, in order. Nothing else is changed.",
)
@click.option(
    "--unproved", is_flag=True, help="With --patches: edits too that lack proof of working code behind the check."
)
@opt.jobs
@opt.no_cache
@opt.verbose
@click.pass_context
def port(ctx: click.Context, /, **options: Any) -> None:
    """List the edits that make the operations of a tree work on a chip, and what no edit can give.

    For each row of `bwlint matrix` that is "no" or "other" on the chip: the checks, lists and builds that decide it,
    and the fewest edits, in the order in which they can be made, each with its proof. No edit opens a check in front of
    an instruction that the chip lacks. Other findings of `check` for the chip are steps too. PATHS are those of
    matrix. Nothing is imported or executed.

    Exit codes: 0 nothing to port, 1 there is a plan, 2 wrong usage, wrong configuration or an internal error,
    3 nothing was scanned.
    """
    gc.disable()  # parsing makes objects by the million, all of which stay
    _run_with_stack(ctx, options)


@app.command()
@click.argument("lists", metavar="LIST...", nargs=-1, required=True, shell_complete=opt.files)
@opt.judging
@click.option(
    "--format",
    "form",
    type=opt.FLEETS,
    default="text",
    show_default=True,
    help="Form of the report; markdown is a folder.",
)
@click.option(
    "--output", "-o", type=click.Path(), help="Write the report to this file (markdown: folder) instead of stdout."
)
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), metavar="N", help="Sources at once. Default: one a CPU, 8 at most."
)
@click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of this Dask scheduler. Needs bwlint[fleet].")
@click.option("--state", type=click.Path(file_okay=False), help="Folder for the kept results of each source.")
@click.option("--fresh", is_flag=True, help="Check every source again and ignore kept results.")
@click.option(
    "--time-limit",
    type=click.IntRange(min=1),
    default=3600,
    show_default=True,
    metavar="S",
    help="Seconds after which a source is given up.",
)
@opt.no_cache
@opt.exit_zero
@click.option("--verbose", "-v", is_flag=True, help="Print each source when it is done.")
@click.pass_context
def fleet(ctx: click.Context, /, **options: Any) -> None:
    """Check many sources and write one report. Each LIST names sources, one a line.

    Sources are folders, files, wheels, pypi:NAME[==VERSION] and git repositories (https://, ssh://, file:// or
    git@host:path, with @REF for a branch, tag or commit). The report shows what failed, a page for each target, what
    several sources have in common, and what changed since the last run. Each source has a process of its own. A killed
    run keeps the sources that were done. Sources are never installed, built or run. A LIST of - is standard input;
    # begins a comment.

    Exit codes: those of check; 2 also where a source failed.
    """
    _run(ctx, options)


@app.command()
@click.argument("config", required=False, type=click.Path())
@click.option("--model", metavar="FILE", type=click.Path(), help="The model's config.json, as on Hugging Face.")
@click.option("--gpus", required=True, metavar="NxGPU", help="Such as 4xRTX-PRO-6000, 8xB200, 2xSpark.")
@click.option(
    "--link", metavar="LINK", help="Such as pcie5x16, pcie4x16, pcie5x8, nvlink5, cx7-200. Default: the GPU's own."
)
@click.option(
    "--tokens",
    type=click.IntRange(1, 1 << 20),
    default=32,
    show_default=True,
    metavar="N",
    help="Tokens at a time on all GPUs together: sequences that decode.",
)
@click.option(
    "--latency",
    type=click.FloatRange(0, 1e6),
    callback=opt.no_nan,
    metavar="US",
    help="Microseconds of a hop. Default: the link's row.",
)
@click.option("--dispatch", type=opt.WIRES, help="Form of tokens on the way to experts. Default: fp8 for FP8 models.")
@click.option("--combine", type=opt.WIRES, default="bf16", show_default=True, help="Form of results from experts.")
@click.option(
    "--copies",
    type=opt.COPIES,
    help="Copies of a token: one to each GPU that has an expert for it (gpu), one to each expert, or one to all. "
    "Default: gpu with NVLink, all without it, where no launcher's exchange sends a token to its experts alone.",
)
@opt.form(opt.TABLES)
@opt.output
@opt.color
@click.pass_context
def plan(ctx: click.Context, /, **options: Any) -> None:
    """Recommend how to split a model over GPUs: by experts, tensors or pipeline stages.

    CONFIG is a launch file, a shell script or a YAML of options. The line for the better plan is printed; no file is
    changed. bwlint computes bytes and times on the links, in one direction, and the time to read weights. Nothing is
    run.

    Exit codes: 0 a plan fits the memory, 1 none does, 2 wrong usage or a file that cannot be used.
    """
    _run(ctx, options)


@app.command()
@click.argument("paths", nargs=-1, metavar="[REPORT | PATH...]", shell_complete=opt.files)
@click.option("--yes", is_flag=True, help="Launch kernels of the scanned tree on the GPU. This runs its code.")
@click.option(
    "--run-slices",
    is_flag=True,
    help="Run checks and their helpers, cut out of the source, in CPython, and compile Triton kernels. This runs code"
    " of the tree in a sandbox.",
)
@click.option(
    "--signature",
    metavar="TYPES",
    help="Types or constants to compile a flagged Triton kernel for, one for each parameter (*fp16,i32,64).",
)
@click.option("--bench", is_flag=True, help="Also measure slow paths against their replacements.")
@click.option("--nvcc-args", metavar="ARGS", help="Options for compiling flagged sources, passed on unchanged.")
@opt.file_option("--compile-commands", help="A compile_commands.json; only options that run no code are taken from it.")
@opt.time_limit("For each test, or for the program of --simulate. Default: 30, or 600.")
@opt.file_option("--receipts", written=True, help="Write the receipts to this file.")
@opt.file_option(
    "--submit",
    written=True,
    help="Pack receipts (PATHs, or those of --selftest) for sending in, without names, absolute paths or UUIDs."
    " bwlint shows their content first.",
)
@click.option("--refuted-is-error", is_flag=True, help="Exit with 1 if a finding is refuted too.")
@click.option(
    "--selftest",
    is_flag=True,
    help="Run bwlint's own cases on this machine's GPU instead, and write the results to --receipts.",
)
@click.option("--verbose", "-v", is_flag=True, help="With --selftest: a line for each case.")
@opt.file_option(
    "--bundle",
    help="With --selftest: the built cases to run. If the file does not exist, bwlint builds the cases for --target"
    " into it and runs none.",
)
@click.option(
    "--simulate",
    metavar="CHIP",
    help="Run the Python program after -- (a script, -m MODULE or a command, with its arguments) instead, as on this"
    " chip (12.1, RTX 5090): bwlint answers questions to the device, records kernels and runs none.",
)
@click.option(
    "--stand-in",
    multiple=True,
    metavar="MODULE",
    help="With --simulate: a compiled module that is not built here, to be replaced by a stand-in; repeatable.",
)
@opt.asking
@opt.form(opt.INSPECTIONS)
@opt.output
@click.pass_context
def confirm(ctx: click.Context, /, **options: Any) -> None:
    """Test findings with the assembler and on this machine's GPU.

    Takes a report of check (JSON or SARIF), or what check takes. Each finding makes claims. Each claim climbs a
    ladder: evaluate (the condition, in CPython), assemble (nvcc and ptxas), load, configure, launch and check (the
    driver; our own kernels), peer (two GPUs). A rung that did not run proves nothing and says why. Assembling only
    compiles. Launching runs code of the tree: only with --yes. --simulate runs the program that you name as on another
    chip: bwlint confirm --simulate 12.1 -- pytest tests/test_attention.py.

    Exit codes: 0 no finding is confirmed, 1 one is (or, with --refuted-is-error, refuted), 2 wrong usage, wrong
    configuration or an internal error, 3 no rung could run. With --simulate: 0 the program ended with 0, 1 it did not.
    """
    _run_with_stack(ctx, options)


@app.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="PROGRAM [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED)
@opt.file_option(
    "--receipt", written=True, default="bwlint-trace.json", show_default=True, help="Write the receipt to this file."
)
@opt.file_option(
    "--perfetto",
    written=True,
    help="Write every launch to this file too, as ui.perfetto.dev and chrome://tracing show it.",
)
@opt.time_limit("End the program after this time, if it has not ended.")
@opt.output
@click.option("--quiet", "-q", is_flag=True, help="No table on stdout.")
@click.pass_context
def trace(ctx: click.Context, /, **options: Any) -> None:
    """Run a PROGRAM that uses CUDA and record what it ran: `bwlint trace -- python serve.py --port 8000`.

    Kernels with their launches, devices, shapes and shared memory, the modules that the driver has loaded and where
    they come from, shared libraries; and whether the backends that options and variables ask for are those that ran.
    Takes Linux, a GPU, CUPTI (with CUDA and with PyTorch) and a C compiler. What ran before a crash is in the receipt.

    Exit codes: 0 the program has ended with 0 and all that was asked for ran, 1 it has not, or something else ran,
    2 wrong usage or an internal error, 3 no kernel was seen.
    """
    _run_with_stack(ctx, options)


@app.command()
@click.argument("path", required=False, type=click.Path(exists=True, file_okay=False))
@click.option("--repo", metavar="URL", help="URL of bwlint's repository. Default: where this copy came from.")
@click.option(
    "--rev",
    metavar="REV",
    help=f"Its tag or commit. Default: v{__version__}, or the commit of a copy without that tag.",
)
@click.option(
    "--audit/--no-audit",
    default=None,
    help="Let hook and CI also stop at new undecided checks of the chip. Default: ask.",
)
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.pass_context
def init(ctx: click.Context, /, **options: Any) -> None:
    """Set up a repository: bwlint.toml, a pre-commit hook, and a GitHub workflow or GitLab job.

    A diff shows what will be written. Existing content stays. Where no repository of bwlint is known,
    the hook is local.

    Exit codes: 0 written, nothing to write or not wanted; 2 wrong usage, or no terminal to ask on and no --yes.
    """
    _run(ctx, options)


@app.command()
@click.option("--target", multiple=True, metavar="SM", help="Chip to check. Default: the configuration's.")
@opt.no_cache
@click.pass_context
def server(ctx: click.Context, /, **options: Any) -> None:
    """Serve an editor over the Language Server Protocol, on stdin and stdout. Needs bwlint[lsp]."""
    try:
        from bwlint.commands.server import run
    except ModuleNotFoundError as error:
        raise failure(ValueError(f"no module {error.name}: pip install 'bwlint[lsp]'")) from None

    ctx.exit(run(options))


@app.command("help")
@click.argument("command", required=False, shell_complete=commands_by_name)
@click.pass_context
def help_(ctx: click.Context, command: str | None) -> None:
    """Show the help of a COMMAND, or of bwlint."""
    asked = app.get_command(ctx, command) if command else app
    if asked is None:
        raise click.UsageError(f"there is no command {command!r}")
    above = ctx.parent or ctx
    click.echo(asked.get_help(above if asked is app else click.Context(asked, info_name=command, parent=above)))


@app.command()
@click.argument("name", required=False, shell_complete=opt.schemas_by_name)
def schema(name: str | None) -> None:
    """Print the JSON schema NAME of a report or of the configuration. Without NAME, list them."""
    from bwlint.commands import schema as schemas

    if name is None:
        click.echo("\n".join(schemas.names()))
        return
    try:
        click.echo(schemas.text_of(name), nl=False)
    except LookupError as error:
        raise failure(ValueError(str(error.args[0]))) from None


@app.command()
@click.argument("rule", required=False, shell_complete=opt.rule_ids)
@click.option("--gate", metavar="EXPR", help="Evaluate a Python condition on every chip.")
@click.option("--why-silent", is_flag=True, help="With FILE:LINE: say why check reports nothing there.")
@click.option("--full", is_flag=True, help="With RULE: list all that it reports and its sources too.")
def explain(rule: str | None, gate: str | None, why_silent: bool, full: bool) -> None:
    """Explain a RULE (code or name), a place (FILE:LINE, also of a package), or --gate 'cap in [89, 120]'."""
    from bwlint.commands import explain as explaining

    if (rule is None) == (gate is None):
        raise click.UsageError("name a rule or a place, or give a condition with --gate")
    if rule is not None and re.search(r"[:./\\]", rule):
        from bwlint.commands import place

        if there := place.parsed(rule):
            click.echo(place.why_silent(*there) if why_silent else place.explained(*there), nl=False)
            return
    if why_silent:
        raise click.UsageError("--why-silent needs a file and a line: FILE:LINE")
    try:
        text = explaining.gate(gate) if gate is not None else explaining.rule(rule or "", full=full)
    except ValueError as error:
        raise failure(error) from None
    click.echo(text, nl=False)


@app.command()
def rules() -> None:
    """List the rules."""
    from bwlint.commands.explain import all_rules

    click.echo(all_rules(), nl=False)


@app.command()
@click.argument("action", type=click.Choice(["info", "clean"]))
def cache(action: str) -> None:
    """Show where the index of earlier runs is and its size (info), or remove it (clean).

    It is in the user's cache folder, or in the folder that BWLINT_CACHE_DIR names.
    """
    from bwlint.commands.cache import run

    run(action)


@app.command()
@click.argument("names", nargs=-1)
def chips(names: tuple[str, ...]) -> None:
    """List the chips, or compare some: bwlint chips 12.0 12.1 10.0."""
    from bwlint.chips import table

    try:
        show = table.comparison(table.named(names)) if names else table.overview()
    except ValueError as error:
        raise failure(error) from None
    table.show(show, sys.stdout)
