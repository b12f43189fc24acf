"""Files that a run holds as long as it lives. The system lets go of them when it ends, however that ends."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

_SECONDS = 60
"""More than there can be between making a file and holding it."""


def hold(path: Path) -> BinaryIO:
    """A new file, held until it is closed. Raises OSError."""
    file = path.open("xb")
    if sys.platform != "win32":
        with suppress(OSError):  # without locks nobody can take it
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def take(path: Path) -> BinaryIO | None:
    """A file of the same user that a run left behind, to be read and held now; None while that run lives.

    What is new and empty may be about to be held.
    """
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
