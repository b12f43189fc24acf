"""`bwlint matrix`: what a tree supports, operations down and chips across; and what of it a change alters."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bwlint.commands.progress import progress
from bwlint.commands.since import OldTree, tree_at
from bwlint.commands.terminal import (
    CLEAN,
    FOUND,
    NOTHING,
    failure,
    put_right,
    say,
    setting,
    use_index,
    write,
    write_table,
)
from bwlint.matrix import matrix
from bwlint.matrix.proved import with_receipts
from bwlint.matrix.table import Cell, Matrix, compared
from bwlint.model.escape import visible
from bwlint.report import beside
from bwlint.report import matrix_changes as report
from bwlint.report.matrix import summary
from bwlint.report.summary import not_read
from bwlint.run.request import CheckRequest
from bwlint.sources.pypi import is_package

_OF_README = ("markdown", "badge")
_WORKING_TREE = "working tree"


def run(options: dict[str, Any], stack: ExitStack) -> int:
    use_index(options, stack)
    if options["diff"] is not None:
        return _changes(options, stack)
    paths = options["paths"] or (".",)
    try:
        with put_right():
            found = _made(paths, options, stack)
            if options["receipts"]:
                found = with_receipts(found, Path(options["receipts"]))
    except OSError as error:
        raise failure(OSError(f"{options['receipts']}: {error.strerror or error}")) from None
    write_table("matrix", found, options, options["target" if options["form"] in _OF_README else "verbose"])
    say(not_read(found.skipped, every=options["verbose"]))
    say(f"bwlint: {summary(found)}\n")
    return CLEAN if found.rows else NOTHING


def _made(paths: tuple[str, ...], options: dict[str, Any], stack: ExitStack, *, whole: bool = False) -> Matrix:
    with progress() as advance:
        return matrix(paths, options["target"], options["select"], options["jobs"], stack, advance, whole)


def _changes(options: dict[str, Any], stack: ExitStack) -> int:
    """Report the cells that differ between two revisions; FOUND where a chip asked about has lost an operation."""
    forms: dict[str, Callable[..., str]] = {"text": report.text, "json": report.json, "markdown": report.markdown}
    if options["form"] not in forms:
        raise click.UsageError(f"--diff has no --format {options['form']}")
    if options["receipts"]:
        raise click.UsageError("--receipts does not go with --diff")
    with put_right():
        first, last, paths = _revisions(options)
        old, of_old = _at(first, paths, options, stack)
        new, of_new = _at(last, paths, options, stack) if last else (_made(paths, options, stack, whole=True), None)
    made = compared(_home(old, of_old), _home(new, of_new), (first, last or _WORKING_TREE))
    write(forms[options["form"]](made, setting(options)), options)
    say(not_read(made.skipped, every=options["verbose"]))
    say(f"bwlint: {visible(f'{first} to {made.after}')}: {report.summary(made)}\n")
    if not made.rows:
        return NOTHING
    return FOUND if made.has_lost else CLEAN


def _revisions(options: dict[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """The revisions to compare, the second "" for the working tree, and the paths: what is no path and stands in front
    of them names the second."""
    first, dots, last = options["diff"].partition("..")
    paths = options["paths"]
    if not dots and paths and not (os.path.lexists(paths[0]) or is_package(paths[0])):
        last, paths = paths[0], paths[1:]
    return first, last, paths or (".",)


def _at(revision: str, paths: tuple[str, ...], options: dict[str, Any], stack: ExitStack) -> tuple[Matrix, OldTree]:
    """The matrix at a revision, and the tree that it was made of."""
    old = tree_at(revision, CheckRequest(paths, options["target"], jobs=options["jobs"]), stack, "--diff")
    made = _made(old.request.paths, options, stack, whole=True) if old.request.paths else Matrix((), ())
    return made, old


def _home(found: Matrix, old: OldTree | None) -> Matrix:
    """A matrix of an old tree with paths as reports on the working tree have them."""
    if old is None:
        return found

    def home(path: str) -> str:
        return beside("", old.top + path.removeprefix(old.tree)) if path.startswith(old.tree) else path

    def at_home(cell: Cell) -> Cell:
        return replace(cell, gate=cell.gate and replace(cell.gate, path=home(cell.gate.path)))

    rows = (replace(row, cells={chip: at_home(cell) for chip, cell in row.cells.items()}) for row in found.rows)
    skipped = (replace(one, path=home(one.path)) for one in found.skipped)
    return replace(found, rows=tuple(rows), skipped=tuple(skipped))
