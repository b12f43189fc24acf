"""The options that several commands have, and the forms of their reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from bwlint.commands.terminal import check_output

_LEVELS = click.Choice(["note", "warning", "error"])
FORMATS = click.Choice(["text", "concise", "json", "sarif", "github", "gitlab", "junit"])
TABLES = click.Choice(["text", "json"])
FLEETS = click.Choice(["text", "json", "markdown"])
WIRES = click.Choice(["fp8", "bf16"])
COPIES = click.Choice(["gpu", "expert", "all"])
INSPECTIONS = click.Choice(["text", "json", "sarif"])
LONGEST_TEST = 24 * 3600
"""Seconds."""

Command = Callable[..., Any]

_CHOOSING = (
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
)
_severity = click.option("--severity", type=_LEVELS, help="Lowest severity to show. Default: warning.")


def choosing(command: Command) -> Command:
    """The options of every command that looks for something: about which chips, by which rules."""
    for option in reversed(_CHOOSING):
        command = option(command)
    return command


def asking(command: Command) -> Command:
    """Those of a command that shows findings: also from which level on."""
    return choosing(_severity(command))


def judging(command: Command) -> Command:
    """Those of a command that fails where there are findings."""
    return asking(
        click.option("--fail-on", type=_LEVELS, help="Lowest severity to fail on. Default: warning.")(command)
    )


output = click.option(
    "--output",
    type=click.Path(dir_okay=False),
    callback=check_output,
    help="Write the report to this file instead of stdout.",
)
sarif_root = click.option(
    "--sarif-root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder that reports for CI tell paths from. Default: the top of the git tree.",
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to read files with. Default: one a CPU, 8 at most.",
)
no_cache = click.option(
    "--no-cache", is_flag=True, help="Neither take from the index of earlier runs nor keep anything there."
)
exit_zero = click.option("--exit-zero", is_flag=True, help="Exit with 0 though there are findings.")
verbose = click.option("--verbose", "-v", is_flag=True, help="List skipped files with the reason.")


def form(forms: click.Choice[str]) -> Callable[[Command], Command]:
    return click.option("--format", "form", type=forms, default="text", show_default=True, help="Form of the report.")


def no_nan(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """A value of --time-limit; that no number is above or below any bound."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("not a number")
    return value
