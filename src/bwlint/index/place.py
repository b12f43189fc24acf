"""Where the index file lies: a folder of the user alone, or nowhere."""

# Paths are plain strings here, as in `sources.disk`.
# ruff: noqa: PTH100, PTH102, PTH103, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from bwlint.sources.walk import INDEX_FOLDER

VARIABLE = "BWLINT_CACHE_DIR"
_FILE = "index.sqlite3"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Nowhere(Exception):
    """There is no place for an index; the message says why."""


def chosen() -> str:
    """The folder that the user has chosen, or that his system has for this."""
    named = os.environ.get(VARIABLE)
    if named:
        return os.path.abspath(named)
    from platformdirs import user_cache_dir

    return user_cache_dir("bwlint", appauthor=False)


def own_folder() -> str:
    """The folder of the index, which nothing else is in."""
    return os.path.join(chosen(), INDEX_FOLDER)


def prepared() -> str:
    """The file of the index, in a folder that only this user can write; raises Nowhere."""
    folder = own_folder()
    try:
        if not os.path.lexists(folder):
            _make(folder)
        _check(folder, stat.S_ISDIR)
        file = os.path.join(folder, _FILE)
        if os.path.lexists(file):
            _check(file, stat.S_ISREG)
    except OSError as error:
        raise Nowhere(f"{error.filename or folder}: {error.strerror or error}") from None
    return file


def _make(folder: str) -> None:
    above = folder
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    # What root makes in a user's folder, the user could never write again.
    if _me() == 0 and os.stat(above).st_uid != 0:
        raise Nowhere(f"{above} is another user's")
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    with suppress(FileExistsError):  # another run was faster
        os.mkdir(folder, 0o700)


def _check(path: str, is_kind: Callable[[int], bool]) -> None:
    status = os.lstat(path)
    if not is_kind(status.st_mode):
        raise Nowhere(f"{path} is something else")
    if _me() is not None and status.st_uid != _me():
        raise Nowhere(f"{path} is another user's")
    if _me() is not None and status.st_mode & _OTHERS_WRITE:
        raise Nowhere(f"others can write {path}")


def _me() -> int | None:
    return os.geteuid() if hasattr(os, "geteuid") else None
