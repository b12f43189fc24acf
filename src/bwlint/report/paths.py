"""Paths as those who take a report want them: from the root of the sources."""

from __future__ import annotations

import os
from pathlib import Path, PurePath


def below(root: str, path: str) -> str | None:
    """`path`, with slashes, from `root` ("" is the current folder); None where it is not below it."""
    found = beside(root, path)
    if root and found.startswith("../") and os.path.exists(path):  # noqa: PTH110 (a path of a report may be none that there can be)
        found = beside(root, os.path.realpath(path))  # named by way of a link, such as /tmp of macOS
    return None if found == ".." or found.startswith("../") or PurePath(found).is_absolute() else found


def beside(root: str, path: str) -> str:
    """`path`, with slashes, from `root`, also where it is outside; as it is on another drive."""
    try:
        # Only where the root is another folder do links on the way to the current one count.
        relative = os.path.relpath(Path.cwd().resolve() / path, root) if root else os.path.relpath(path)
    except ValueError:
        return path
    return PurePath(relative).as_posix()


def from_root(root: str, path: str) -> str:
    """The same, or `path` as it is where it is not below the root."""
    return below(root, path) or path
