"""`bwlint matrix`: what a tree supports, operations down and chips across."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bwlint.commands.terminal import CLEAN, NOTHING, failure, say, setting, write


def run(options: dict[str, Any], stack: ExitStack) -> int:
    """Print the table that the options ask for; the exit code."""
    from bwlint.commands.progress import progress
    from bwlint.matrix import matrix as made
    from bwlint.report import matrix_json, matrix_text
    from bwlint.report.summary import not_read
    from bwlint.settings.config import ConfigError, UsageError

    paths = options["paths"] or (".",)
    if not options["no_cache"]:
        from bwlint.index import kept

        stack.enter_context(kept.using())
    try:
        with progress() as advance:
            found = made(paths, options["target"], options["select"], options["jobs"], stack, advance)
        if options["receipts"]:
            from bwlint.matrix.proved import with_receipts

            found = with_receipts(found, Path(options["receipts"]))
    except (UsageError, ConfigError) as error:
        raise failure(error) from None
    except OSError as error:
        raise failure(OSError(f"{options['receipts']}: {error.strerror or error}")) from None
    how = setting(options)
    if options["form"] == "json":
        write(matrix_json.render(found, how), options)
    elif options["form"] == "html":
        from bwlint.report import html

        write(html.page("matrix", (matrix_json.render(found, how),)), options)
    else:
        write(matrix_text.render(found, how, options["verbose"]), options)
    say(not_read(found.skipped, every=options["verbose"]))
    say(f"bwlint: {matrix_text.summary(found)}\n")
    return CLEAN if found.rows else NOTHING
