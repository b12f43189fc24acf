"""Files that a run locks, which the system releases when the process ends; and temporary folders, removed at the end of
a run, or by the next run if it was killed."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_SECONDS = 60
"""More than there can be between making a file and holding it."""
_PATIENCE, _PAUSE = 60, 0.005
"""Seconds: how long another run may be somewhere, and between two looks."""


def hold(path: Path) -> BinaryIO:
    """A new file, held until it is closed. Raises OSError."""
    file = path.open("xb")
    if sys.platform != "win32":
        with suppress(OSError):  # without locks nobody can take it
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


@contextmanager
def alone_in(folders: Iterable[str]) -> Iterator[None]:
    """No other run is between here and the end with one of these folders (real paths), unless the file system knows no
    locks. Raises OSError where one has been for too long.
    """
    with ExitStack() as stack:
        for folder in sorted({*folders} if sys.platform != "win32" else ()):  # in order: no two wait for each other
            with suppress(PermissionError):
                file = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, file)
                _wait_for(file)
        yield


def _wait_for(file: int) -> None:
    end = time.monotonic() + _PATIENCE
    while sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "another run there does not end") from None
            time.sleep(_PAUSE)
        except OSError:
            return
        else:
            return


def take(path: Path) -> BinaryIO | None:
    """A file of the same user that a run left behind, to be held now; None while it lives, or may be about to."""
    if sys.platform == "win32":
        return None
    try:
        file = path.open("rb")
    except OSError:
        return None
    status = os.fstat(file.fileno())
    if status.st_uid == os.getuid() and (status.st_size or time.time() - status.st_mtime > _SECONDS):
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
    file.close()
    return None


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
