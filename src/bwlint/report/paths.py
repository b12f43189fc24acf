"""Paths as those who take a report want them: from the root of the sources."""

from __future__ import annotations

import os
from pathlib import Path, PurePath


def below(root: str, path: str) -> str | None:
    """`path`, with slashes, from `root` ("" is the current folder); None where it is not below it."""
    # Only where the root is another folder do links on the way to the current one count.
    relative = os.path.relpath(Path.cwd().resolve() / path, root) if root else os.path.relpath(path)
    found = PurePath(relative)
    return None if found.parts[:1] == ("..",) else found.as_posix()


def from_root(root: str, path: str) -> str:
    """The same, or `path` as it is where it is not below the root."""
    return below(root, path) or path
