"""Checks on a path before a compiler or a reader gets it."""

# Paths are plain strings here, as in `sources.tree`.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache

from bwlint.sources.worktree import is_in

# In double quotes a shell leaves these alone; nvcc takes a comma for the end of a value.
_PLAIN = re.compile(r"[\w./+:@%= ~-]*")


def is_plain(path: str) -> bool:
    """Whether nvcc can be given a path: it writes its commands for a shell, between double quotes."""
    return _PLAIN.fullmatch(path) is not None


def is_file(path: str) -> bool:
    """Whether a path names a plain file: no device, no pipe."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it, all links followed."""
    return is_in(_real(path), _real(folder))


def same_file(one: str, other: str) -> bool:
    return one == other or _real(one) == _real(other)


@lru_cache(maxsize=8192)
def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
