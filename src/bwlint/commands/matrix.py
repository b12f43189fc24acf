"""`bwlint matrix`: what a tree supports, operations down and chips across."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bwlint.commands.terminal import CLEAN, NOTHING, failure, put_right, say, use_index, write_table


def run(options: dict[str, Any], stack: ExitStack) -> int:
    from bwlint.commands.progress import progress
    from bwlint.matrix import matrix as made
    from bwlint.report.matrix_text import summary
    from bwlint.report.summary import not_read

    paths = options["paths"] or (".",)
    use_index(options, stack)
    try:
        with put_right():
            with progress() as advance:
                found = made(paths, options["target"], options["select"], options["jobs"], stack, advance)
            if options["receipts"]:
                from bwlint.matrix.proved import with_receipts

                found = with_receipts(found, Path(options["receipts"]))
    except OSError as error:
        raise failure(OSError(f"{options['receipts']}: {error.strerror or error}")) from None
    write_table("matrix", found, options, options["verbose"])
    say(not_read(found.skipped, every=options["verbose"]))
    say(f"bwlint: {summary(found)}\n")
    return CLEAN if found.rows else NOTHING
