"""The output of `explain FILE:LINE`: the audit rows of that line, or why it has none."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bwlint.commands.audit import read, rendered
from bwlint.commands.terminal import setting

if TYPE_CHECKING:
    from bwlint.model.ledger import Ledger

_PLACE = re.compile(r"(.+):([1-9]\d{0,8})")


def parsed(text: str) -> tuple[str, int] | None:
    """The file and the line that a word on the command line names; None where it names no file that is there."""
    found = _PLACE.fullmatch(text)
    return (found[1], int(found[2])) if found is not None and Path(found[1]).is_file() else None


def explained(path: str, line: int) -> str:
    """What is known of a line, judged with the folder that we are in where that holds the file."""
    from bwlint.index import kept
    from bwlint.run.gather import Settings
    from bwlint.run.request import CheckRequest
    from bwlint.settings.decisions import apply, load

    real = os.path.realpath(path)
    is_below = Path(real).is_relative_to(os.path.realpath("."))
    request = CheckRequest((".",) if is_below else (path,))
    with ExitStack() as stack:
        stack.enter_context(kept.using())
        ledger = read(request, stack)
    ledger = apply(ledger, load(Settings(request).decisions_file).made)
    rows = tuple(
        row
        for row in ledger.rows
        if any(p.line <= line <= p.end_line and os.path.realpath(p.path) == real for p in row.places)
    )
    if not rows:
        return f"{path}:{line}: {_why_none(ledger, real)}\n"
    return str(rendered(replace(ledger, rows=rows), "text", setting({"output": None}), 0))


def _why_none(ledger: Ledger, real: str) -> str:
    """Why no row has a line: its file was not read, or nothing in it speaks of a chip."""
    unread = next((skip for skip in ledger.skipped if os.path.realpath(skip.path) == real), None)
    if unread is not None:
        return f"not read: {unread.reason}"
    return "this line names no chip, checks none and depends on none"
