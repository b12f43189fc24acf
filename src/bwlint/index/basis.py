"""What every cached result depends on besides the user's files: bwlint's own code, and Python."""

# ruff: noqa: PTH120

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b

import bwlint
from bwlint.data import rules_folder


@cache
def basis() -> bytes:
    """A digest of it. A source that is edited makes another, so that a checkout is never answered from before."""
    found = blake2b(f"{bwlint.__version__}\0{sys.version}\0{sys.byteorder}".encode(), digest_size=16)
    for folder in (os.path.dirname(bwlint.__file__), str(rules_folder())):
        for path, status in sorted(_files(folder)):
            found.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return found.digest()


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for entry in listing:
                if entry.is_dir():
                    waiting += [] if entry.name == "__pycache__" else [entry.path]
                else:
                    yield entry.path, entry.stat()
