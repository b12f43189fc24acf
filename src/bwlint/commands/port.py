"""`bwlint port`: what has to be edited for the operations of a tree to work on a chip."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from bwlint.commands.progress import progress
from bwlint.commands.terminal import CLEAN, FOUND, NOTHING, put_right, say, use_index, write_table
from bwlint.model.escape import visible
from bwlint.model.naming import counted
from bwlint.port import port as made
from bwlint.port.table import Port
from bwlint.repair.patches import NotOurs, check_folder, save
from bwlint.repair.patches import port_series as series
from bwlint.report.port import summary
from bwlint.report.summary import not_read


def run(options: dict[str, Any], stack: ExitStack) -> int:
    if options["unproved"] and not options["patches"]:
        raise click.UsageError("--unproved needs --patches")
    _check_patches(options)
    paths = options["paths"] or (".",)
    use_index(options, stack)
    with put_right(), progress() as advance:
        found = made(paths, options["to"], options["op"], options["jobs"], stack, advance)
    write_table("port", found, options)
    if options["patches"]:
        _write_patches(found, options)
    say(not_read(found.skipped, every=options["verbose"]))
    say(f"bwlint: {summary(found)}\n")
    if not found.scanned:
        return NOTHING
    return FOUND if found.rows or found.steps else CLEAN


def _check_patches(options: dict[str, Any]) -> None:
    """Refuse a folder for patches before the work."""
    if options["patches"]:
        with put_right(NotOurs, doing=f"cannot write {options['patches']}"):
            check_folder(Path(options["patches"]))


def _write_patches(found: Port, options: dict[str, Any]) -> None:
    steps = [step for step in found.steps if step.proved or options["unproved"]]
    folder = Path(options["patches"])
    made = series(steps, found.files)
    with put_right(NotOurs, doing=f"cannot write {folder}"):
        if made.patches or folder.is_dir():
            save(made, folder)
    count = counted(len(made.patches), "patch").replace("patchs", "patches")
    say(f"bwlint: wrote {count} to {visible(str(folder))}; nothing else was changed\n")
    left = sum(step.fix is not None for step in found.steps if step not in steps)
    if left:
        say(f"bwlint: left out {left} without proof that the code behind works; --unproved writes them too\n")
    if made.later:
        say(f"bwlint: deferred {made.later} that edit lines of another patch; apply these and run it again\n")
