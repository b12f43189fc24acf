"""Folders for what is unpacked. They go with their run, or with the next one where that was killed."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "bwlint-"
_HELD = ".held"
"""The file by whose lock a run holds its folder: the system drops it when the last of its processes ends."""
_SECONDS = 60
"""More than there can be between making a folder and holding it."""


def scratch_folder(stack: ExitStack) -> Path:
    """A new folder that goes with `stack`. Raises OSError where the system gives none."""
    _clear(Path(tempfile.gettempdir()))
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)))
    if sys.platform != "win32":
        held = stack.enter_context((folder / _HELD).open("wb"))
        with suppress(OSError):  # a file system without locks: nobody can clear there either
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return folder


def _clear(top: Path) -> None:
    """Remove folders of runs that were killed."""
    if sys.platform == "win32":
        return
    for held in top.glob(f"{_PREFIX}*/{_HELD}"):
        with suppress(OSError), held.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _SECONDS:
                continue
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(held.parent, ignore_errors=True)
