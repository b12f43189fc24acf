"""Temporary folders, removed at the end of a run, or by the next run if it was killed."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bwlint.sources.held import hold, take

_PREFIX = "bwlint-"
_HELD = ".held"


def scratch_folder(stack: ExitStack) -> Path:
    """A new folder that goes with `stack`. Raises OSError where the system gives none."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_HELD}"):
        if file := take(left):
            with file:
                shutil.rmtree(left.parent, ignore_errors=True)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)))
    stack.enter_context(hold(folder / _HELD))
    return folder
