"""`bwlint confirm --submit`: pack receipts for sending, and show their content first."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bwlint.commands.terminal import CLEAN, NOTHING, failure, say, write


def run(receipts: Sequence[str], output: str) -> int:
    """Show what is in the receipts, ask where somebody is there to answer, and write; the exit code."""
    from bwlint.model.escape import visible
    from bwlint.report.submission import NotAReceipt, contents, document, personal, read, render

    if not receipts:
        raise click.UsageError("--submit needs receipts: name them, or run --selftest with it")
    if os.path.realpath(output) in {os.path.realpath(path) for path in receipts}:
        raise click.UsageError(f"--submit would overwrite a receipt: {output}")
    try:
        found = document([read(Path(path)) for path in receipts], personal())
    except NotAReceipt as error:
        raise failure(error) from None
    except OSError as error:
        raise failure(OSError(f"{error.filename}: {error.strerror}")) from None
    for line in contents(found):
        say(f"{visible(line)}\n")
    if sys.stdin.isatty() and sys.stderr.isatty() and not click.confirm(f"Write this to {output}?", True, err=True):
        say("bwlint: nothing was written\n")
        return NOTHING
    write(render(found), {"output": output})
    say(f"bwlint: {visible(output)} is plain JSON: read it before you send it\n")
    return CLEAN
