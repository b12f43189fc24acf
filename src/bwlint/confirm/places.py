"""Where the files of findings lie, by the paths that a report gives them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bwlint.sources.tree import package_root, project_folder
from bwlint.sources.worktree import is_in


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Where the file of a finding lies: `real` on disk, or the archive that holds it ("" where neither is there), and
    the folder of its tree."""

    real: str
    root: str


Locate = Callable[[str], FindingPlace]
"""From the path of a finding to its place."""


def places(roots: tuple[str, ...], known: Callable[[str], str], wheels: Mapping[str, str]) -> Locate:
    """What finds the place of a path that a finding gives. `roots` are the folders that were scanned (real paths),
    `known` gives the real path of a scanned file and any other text back as it is, `wheels` are unpacked packages by
    the path that they are reported under."""

    def locate(path: str) -> FindingPlace:
        of_wheel = (real for reported, real in wheels.items() if path.startswith(f"{reported}/"))
        real = _existing(known(path)) or next(of_wheel, "")
        return FindingPlace(real, _root(real, roots)) if real else FindingPlace("", "")

    return locate


def _existing(path: str) -> str:
    """A path, or the file above it that must be an archive with the rest as a member; "" where neither is there."""
    if os.path.lexists(path):
        return os.path.realpath(path)
    # Not Path.is_file, which raises for a name that is too long.
    return next((os.path.realpath(above) for above in Path(path).parents if os.path.isfile(above)), "")  # noqa: PTH113


def _root(real: str, roots: tuple[str, ...]) -> str:
    """The scanned folder around a file or the project around that: what it includes may lie beside a scanned folder."""
    project = project_folder(package_root(real))
    around = [root for root in roots if is_in(real, root)]
    scanned = max(around, key=len) if around else project
    return project if is_in(scanned, project) else scanned
