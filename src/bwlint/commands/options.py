"""The options that several commands have, and the forms of their reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bwlint.commands.terminal import check_output
from bwlint.model.findings import FAIL_ON, SEVERITIES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS = click.Choice(["cause", "feature", "rule", "folder"])
FORMATS = click.Choice(["text", "concise", "json", "sarif", "github", "gitlab", "junit", "html"])
TABLES = click.Choice(["text", "json", "html"])
MATRICES = click.Choice(["text", "json", "html", "markdown", "badge"])
FLEETS = click.Choice(["text", "json", "markdown"])
AUDITS = click.Choice(["text", "json", "sarif", "html", "csv"])
PORTS = click.Choice(["text", "json", "markdown", "html"])
WIRES = click.Choice(["fp8", "bf16"])
COPIES = click.Choice(["gpu", "expert", "all"])
INSPECTIONS = click.Choice(["text", "json", "sarif", "html"])
_LONGEST_TEST = 24 * 3600
"""Seconds."""

Command = Callable[..., Any]


def rule_ids(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The rules that a word on the command line may become."""
    from bwlint.settings.catalog import rules

    typed = incomplete.rpartition(",")
    ids = (text for rule in rules() for text in (rule.name, rule.code))
    return [f"{typed[0]}{typed[1]}{text}" for text in ids if text.lower().startswith(typed[2].lower())]


def schemas_by_name(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from bwlint.commands.schema import names

    return [name for name in names() if name.startswith(incomplete)]


def files(_: click.Context, __: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """What a shell itself knows: paths."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _targets(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from bwlint.chips import ALL_TARGETS

    names = (target.name for target in ALL_TARGETS if not target.suffix)
    return [name for name in names if name.startswith(incomplete)]


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


target = click.option(
    "target",
    "--target",
    "--card",
    multiple=True,
    metavar="SM",
    shell_complete=_targets,
    help="Chip to check, such as sm_120, 12.1, 5090 or spark; repeatable, commas allowed. Default: 12.0 and 12.1.",
)
choosing = _together(
    target,
    click.option(
        "--select",
        multiple=True,
        metavar="RULE",
        shell_complete=rule_ids,
        help="Run only these rules (codes, their beginnings or names, commas allowed).",
    ),
    click.option("--ignore", multiple=True, metavar="RULE", shell_complete=rule_ids, help="Do not run these rules."),
)
"""The options of every command that looks for something: about which chips, by which rules."""
asking = _together(
    choosing,
    click.option("--severity", type=click.Choice(SEVERITIES), help="Lowest severity to show. Default: warning."),
)
"""Those of a command that shows findings: also from which level on."""
judging = _together(
    asking, click.option("--fail-on", type=click.Choice(FAIL_ON), help="Lowest severity to fail on. Default: warning.")
)
"""Those of a command that fails where there are findings."""


def file_option(*names: str, help: str, written: bool = False, **more: Any) -> Callable[[Command], Command]:
    """An option that names a file; one that is to be written is refused before the work where that cannot be."""
    callback = check_output if written else None
    return click.option(*names, type=click.Path(dir_okay=False), callback=callback, help=help, **more)


output = file_option("--output", "-o", written=True, help="Write the report to this file instead of stdout.")
sarif_root = click.option(
    "--sarif-root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder to which paths in CI reports are relative. Default: the top of the git tree.",
)
jobs = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to read files with. Default: one a CPU, 8 at most.",
)


settling = _together(
    click.option(
        "--config",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Use this bwlint.toml or pyproject.toml for every file.",
    ),
    click.option("--isolated", is_flag=True, help="Read no configuration."),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Leave out files that match this gitignore pattern, besides the configured ones; repeatable.",
    ),
    click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Check only files that match this pattern; repeatable.",
    ),
)
"""The options that say by which configuration a command runs, and on which files."""
no_cache = click.option(
    "--no-cache", is_flag=True, help="Do not use the index of earlier runs, and keep nothing in it."
)
color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="auto: color on a terminal, unless NO_COLOR or FORCE_COLOR is set. always: in files too.",
)
exit_zero = click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
strict = click.option(
    "--strict",
    is_flag=True,
    help="Exit with 2 if a file could not be read or judged.",
)
quiet = click.option("--quiet", "-q", is_flag=True, help="No summary on stderr.")
verbose = click.option("--verbose", "-v", is_flag=True, help="List every skipped file with its reason.")


class WordList(click.ParamType):  # type: ignore[type-arg]
    """Some of these words, by commas: a tuple of them."""

    name = "words"

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = click.Choice(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.words.choices)}],..."

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return self.words.shell_complete(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        return tuple(str(self.words.convert(word.strip(), param, ctx)) for word in str(value).split(","))


class Forms(click.ParamType):  # type: ignore[type-arg]
    """A format, or `FORMAT:FILE` for one report more: a pair of both."""

    name = "format"

    def __init__(self, forms: click.Choice[str]) -> None:
        self.forms = forms

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"{'|'.join(self.forms.choices)}[:FILE]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return self.forms.shell_complete(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str | None]:
        """The format and the file of a value; refused before the work where that cannot be written."""
        name, colon, file = str(value).partition(":")
        known = str(self.forms.convert(name, param, ctx))
        if not colon:
            return known, None
        if not file:
            self.fail(f"{value!r} names no file", param, ctx)
        check_output(ctx, param, file)
        return known, file


def several(forms: click.Choice[str]) -> Callable[[Command], Command]:
    """--format for a command that can write several reports of one run."""
    return click.option(
        "--format",
        "forms",
        type=Forms(forms),
        multiple=True,
        help="Format of the report (default: text). FORMAT:FILE writes it to a file; stdout then has a report only if "
        "another --format asks for one: --format sarif:out.sarif --format text.",
    )


def form(forms: click.Choice[str]) -> Callable[[Command], Command]:
    return click.option("--format", "form", type=forms, default="text", show_default=True, help="Format of the report.")


def no_nan(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """A value of --time-limit; that no number is above or below any bound."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("not a number")
    return value


def time_limit(help: str) -> Callable[[Command], Command]:
    seconds = click.FloatRange(1, _LONGEST_TEST)
    return click.option("--time-limit", type=seconds, callback=no_nan, metavar="SECONDS", help=help)


_GROUPS = (
    ("What to look for", ("target", "select", "ignore", "severity", "kind", "row_forms", "subject", "top", "staged")),
    ("Report", ("forms", "output", "group_by", "full", "sarif_root", "color", "statistics", "quiet", "verbose")),
    ("Repair", ("fix", "unsafe_fixes", "show_diff", "interactive", "patches", "add_suppressions")),
    ("Only what is new", ("baseline", "no_baseline", "since", "trace", "decisions", "decide", "reason", "prune")),
    ("Which files", ("exclude", "include", "force_exclude", "no_ignore", "stdin_filename", "config", "isolated")),
    ("The run", ("jobs", "link_budget", "no_cache")),
    ("Exit code", ("fail_on", "exit_zero", "strict", "exit_non_zero_on_fix")),
)
"""Headings of help, and the options below each."""
_MANY = 15
"""Options that one list shows well."""


class GroupedCommand(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = (one for one in self.get_params(ctx) if isinstance(one, click.Option))
        records = ((one.name, one.get_help_record(ctx)) for one in options)
        left = {name: record for name, record in records if record is not None}
        for title, names in _GROUPS if len(left) > _MANY else ():
            if rows := [left.pop(name) for name in names if name in left]:
                with formatter.section(title):
                    formatter.write_dl(rows)
        with formatter.section("Options"):
            formatter.write_dl(list(left.values()))


def of_commands(group: click.Group, ctx: click.Context) -> list[tuple[str, str]]:
    """The commands of a group, each with the whole first sentence of its help."""
    found = ((name, group.get_command(ctx, name)) for name in group.list_commands(ctx))
    return [(name, one.get_short_help_str(limit=400)) for name, one in found if one is not None and not one.hidden]
