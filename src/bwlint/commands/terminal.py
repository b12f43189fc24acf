"""Shared by all commands: exit codes, streams, and errors that the user can correct."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from bwlint import __version__

if TYPE_CHECKING:
    from bwlint.model.findings import Skipped
    from bwlint.report import Checkout, Lines, Setting
    from bwlint.report.html import PageKind
    from bwlint.settings.catalog import Rule

CLEAN, FOUND, WRONG, NOTHING = 0, 1, 2, 3
# What a shell reports for a program that SIGINT ended, which is how ruff ends.
INTERRUPTED = 130

_PLAIN_WIDTH = 120
# What is read by who knows the repository and not the folder in which bwlint was started.
_FROM_ROOT = frozenset({"sarif", "github", "gitlab", "junit"})


class Failure(click.ClickException):
    """Something that the user has to put right."""

    exit_code = WRONG


def failure(error: Exception) -> Failure:
    """An error whose lines are fit for a terminal."""
    from bwlint.model.escape import visible

    return Failure("\n".join(visible(line) for line in str(error).split("\n")))


@contextmanager
def put_right(*kinds: type[Exception], doing: str = "") -> Iterator[None]:
    """Errors of usage and configuration, and of `kinds`, end the command; with `doing`, such as "cannot write x", those
    of the system, too.
    """
    try:
        yield
    except OSError as error:
        if not doing:
            raise
        raise failure(OSError(f"{doing}: {error.strerror}")) from None
    except Exception as error:
        from bwlint.settings.config import ConfigError, UsageError

        if not isinstance(error, (UsageError, ConfigError, *kinds)):
            raise
        raise failure(error) from None


def use_index(options: dict[str, Any], stack: ExitStack) -> None:
    """Take from the index of earlier runs and keep there what is found, unless --no-cache forbids it."""
    if not options["no_cache"]:
        from bwlint.index import kept

        stack.enter_context(kept.using())


def write(text: str | bytes | Iterable[str], options: dict[str, Any]) -> None:
    from bwlint.report.write import write_report

    with put_right(doing=f"cannot write {options['output'] or 'stdout'}"):
        try:
            write_report(text, Path(options["output"]) if options["output"] else None)
        except BrokenPipeError:
            silence(sys.stdout)  # whoever read the report has seen enough; its result stays valid


def write_table(kind: PageKind, found: object, options: dict[str, Any], *besides: Any) -> None:
    """Put a table where it was asked for, in its form; `besides` is what that takes, unless it is JSON or a page."""
    from importlib import import_module

    form, how = options["form"], setting(options)
    render = getattr(import_module(f"bwlint.report.{kind}"), f"as_{'json' if form == 'html' else form}")
    text = render(found, how, *(() if form in ("json", "html") else besides))
    if form == "html":
        from bwlint.report.html import page

        text = page(kind, (text,), subject=how.subject)
    write(text, options)


def lines_on_disk(real: Callable[[str], str] = str) -> Lines:
    """What reads sources for excerpts, where they lie now: at the `real` path of what a report names."""
    from bwlint.sources.texts import Texts

    texts = Texts()

    def lines(path: str) -> list[str] | None:
        text = texts.of(real(path))
        return None if text is None else text.ended_lines

    return lines


def check_output(_: click.Context | None, __: click.Parameter | None, value: str | None) -> str | None:
    """The value of an option that names a file to write; refused before the work where that cannot be written."""
    from bwlint.report.write import check_writable

    if value is not None:
        with put_right(doing=f"cannot write {value}"):
            check_writable(Path(value))
    return value


def fails_strictly(options: dict[str, Any], skipped: Sequence[Skipped]) -> bool:
    """Whether --strict fails the run for files that were not read or judged."""
    return bool(options.get("strict") and skipped)


def failed_strictly(skipped: Sequence[Skipped]) -> int:
    """Say that --strict fails the run; the exit code."""
    from bwlint.model.naming import counted

    count = len({file.path for file in skipped})
    was = "was" if count == 1 else "were"
    say(f"bwlint: --strict: {counted(count, 'file')} {was} not read or not judged: exit code {WRONG}\n")
    return WRONG


def setting(options: dict[str, Any], lines: Lines | None = None, skipped: Sequence[Skipped] = ()) -> Setting:
    from bwlint.report import Setting, no_source

    wish = options.get("color", "auto")
    color = wish == "always" or (options["output"] is None and _has_color(wish))
    links = color and options["output"] is None and _has_links()
    width = _PLAIN_WIDTH if options["output"] else _width()
    folds = options["output"] is None and bool(os.environ.get("COLUMNS") or sys.stdout.isatty())
    form = options.get("form")
    rules: Sequence[Rule] = ()
    if form in ("html", "sarif"):  # which alone tell of rules; to read them takes longer than many a run
        from bwlint.settings import catalog

        rules = catalog.rules()
    if form not in _FROM_ROOT:
        group_by = "" if options.get("full") else options.get("group_by") or "cause"
        subject = _subject(options) if form == "html" else ""
        source = lines or no_source
        return Setting(source, __version__, rules, color, width, folds, links=links, group_by=group_by, subject=subject)
    address = home() if form == "sarif" else ""
    sources = checkout(options.get("sarif_root"), with_origin=form == "sarif")
    failed = fails_strictly(options, skipped)
    return Setting(lines or no_source, __version__, rules, color, width, folds, sources, address, has_failed=failed)


def _subject(options: dict[str, Any]) -> str:
    """What is looked at, for which cards: "pypi:vllm on RTX 5090 (12.0)"."""
    from bwlint.chips import parse_targets
    from bwlint.chips.products import cards

    things = options.get("paths") or options.get("things") or options.get("installed") or (".",)
    names, target = ", ".join(Path(thing).name or Path.cwd().name for thing in things), options.get("target")
    return f"{names} on {cards(parse_targets(target)[0].names, target)}" if target else names


def _has_color(wish: str) -> bool:
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    return forced != "0" if forced else sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


_LINKING = frozenset({"vscode", "iTerm.app", "WezTerm", "ghostty", "Hyper", "Tabby", "rio"})
"""Terminals, by TERM_PROGRAM, that show links (OSC 8). No terminal can be asked."""


def _has_links() -> bool:
    known = os.environ
    if known.get("CI") or not sys.stdout.isatty():
        return False
    is_vte = known.get("VTE_VERSION", "").isdecimal() and int(known["VTE_VERSION"]) >= 5000
    is_other = any(known.get(name) for name in ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID"))
    return is_vte or is_other or known.get("TERM_PROGRAM") in _LINKING or known.get("TERM") in ("foot", "alacritty")


def _width() -> int:
    """COLUMNS, which holds in a pipe too, or that of the terminal."""
    import shutil

    return shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns


def nothing() -> int:
    """Say that nothing was scanned; the exit code."""
    say("bwlint: nothing was scanned\n")
    return NOTHING


def end_on_signals(stack: ExitStack) -> None:
    """Until the stack is closed, end as on Ctrl-C when the system or a CI job asks for it: children and scratch go.

    What is ignored, as under nohup, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            stack.callback(signal.signal, number, signal.signal(number, _end))


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise EndedBySignal(number)


class EndedBySignal(SystemExit):
    """A signal has asked for the end of the run."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number
        super().__init__(self.exit_code)
        self.name = signal.Signals(number).name


def say(text: str) -> None:
    """Print on stderr what is already fit for a terminal. Where nobody hears it, the run goes on."""
    if not text:
        return
    try:
        click.echo(text, err=True, nl=False)
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Drop what a stream still holds and what is yet to come: its file is closed or full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def checkout(root: str | None, *, with_origin: bool) -> Checkout:
    """The folder that paths are told from: `root`, or the top of the git tree around the current folder, or that
    itself. With its origin, git is asked for the address of the repository and the commit.
    """
    from bwlint.report import Checkout
    from bwlint.sources.worktree import commit_of, origin_of, top_of

    here = str(Path.cwd().resolve())
    top = top_of(here)
    folder = str(Path(root).resolve()) if root else top or here
    repository = origin_of(top) if top is not None and top == folder and with_origin else None
    if top is None or repository is None:
        return Checkout(folder)
    return Checkout(folder, repository, commit_of(top) or "")


def home() -> str:
    """The address of bwlint's pages (docs/) as of this version; "" where nobody has named its repository."""
    return f"{address}/blob/v{__version__}/docs" if (address := repository()) else ""


def repository() -> str:
    """The address of bwlint's repository: `Repository` in [project.urls], as its distribution has it, or ""."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        urls = distribution("bwlint").metadata.get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named: dict[str, str] = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Repository", "").rstrip("/")
