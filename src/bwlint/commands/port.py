"""`bwlint port`: what has to be edited for the operations of a tree to work on a chip."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, failure, say, setting, write

if TYPE_CHECKING:
    from bwlint.port.table import Port


def run(options: dict[str, Any], stack: ExitStack) -> int:
    """Print the plan that the options ask for; the exit code."""
    from bwlint.commands.progress import progress
    from bwlint.port import port as made
    from bwlint.report.port_text import summary
    from bwlint.report.summary import not_read
    from bwlint.settings.config import ConfigError, UsageError

    if options["unproved"] and not options["patches"]:
        raise click.UsageError("--unproved says which --patches to write: give both")
    _check_patches(options)
    paths = options["paths"] or (".",)
    if not options["no_cache"]:
        from bwlint.index import kept

        stack.enter_context(kept.using())
    try:
        with progress() as advance:
            found = made(paths, options["to"], options["op"], options["jobs"], stack, advance)
    except (UsageError, ConfigError) as error:
        raise failure(error) from None
    write(_rendered(found, options), options)
    if options["patches"]:
        _write_patches(found, options)
    say(not_read(found.skipped, every=options["verbose"]))
    say(f"bwlint: {summary(found)}\n")
    if not found.scanned:
        return NOTHING
    return FOUND if found.rows or found.steps else CLEAN


def _rendered(found: Port, options: dict[str, Any]) -> str:
    from importlib import import_module

    if options["form"] == "html":
        from bwlint.report import html, port_json

        return "".join(html.page("port", (port_json.render(found, setting(options)),)))
    report = import_module(f"bwlint.report.port_{options['form']}")
    return str(report.render(found, setting(options)))


def _check_patches(options: dict[str, Any]) -> None:
    """Refuse a folder for patches before the work."""
    from bwlint.repair.patches import NotOurs, check_folder

    try:
        if options["patches"]:
            check_folder(Path(options["patches"]))
    except NotOurs as error:
        raise failure(error) from None
    except OSError as error:
        raise failure(OSError(f"cannot write {options['patches']}: {error.strerror}")) from None


def _write_patches(found: Port, options: dict[str, Any]) -> None:
    from bwlint.model.escape import visible
    from bwlint.model.naming import counted
    from bwlint.repair.patches import NotOurs, save
    from bwlint.repair.port_patches import series

    steps = [step for step in found.steps if step.proved or options["unproved"]]
    folder = Path(options["patches"])
    made = series(steps, found.files)
    try:
        if made.patches or folder.is_dir():
            save(made, folder)
    except NotOurs as error:
        raise failure(error) from None
    except OSError as error:
        raise failure(OSError(f"cannot write {folder}: {error.strerror}")) from None
    count = counted(len(made.patches), "patch").replace("patchs", "patches")
    say(f"bwlint: wrote {count} to {visible(str(folder))}; nothing else was changed\n")
    left = sum(step.fix is not None for step in found.steps) - len(made.patches) - made.later
    if left:
        say(f"bwlint: left out {left} with nothing that says that what is behind works: --unproved writes them too\n")
    if made.later:
        say(f"bwlint: deferred {made.later} that touch what another patch changes: apply these and run it again\n")
