"""The trees that the arguments of a run name, as people call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bwlint.model.naming import counted
from bwlint.report.verdict import AskedTree
from bwlint.sources.pypi import PREFIX, is_package


def trees(paths: Sequence[str], packages: Sequence[str]) -> tuple[AskedTree, ...]:
    """A tree for each of the `packages`, as reports name them, and for each folder among the arguments `paths`; their
    files are one together."""
    found = [AskedTree(_released(name), (f"{name}/",)) for name in packages]
    folders = [path for path in paths if Path(path).is_dir()]
    names = {path: Path(path).resolve().name or path for path in folders}
    known = Counter(names.values())
    # Wheels are looked for in folders that hold nothing else.
    are_alone = all(name.startswith(PREFIX) or name in paths for name in packages)
    for path in folders if are_alone else ():
        found.append(AskedTree(names[path] if known[names[path]] == 1 else path, (_beginning(path),)))
    files = [path for path in paths if path not in names and not is_package(path)]
    if files:
        name = Path(files[0]).name if len(files) == 1 else counted(len(files), "file")
        found.append(AskedTree(name, tuple(map(_beginning, files))))
    return tuple(found)


def _released(package: str) -> str:
    """A package by its name and version: "deepspeed 0.18.0" of pypi:deepspeed==0.18.0; a file by its name."""
    return package.removeprefix(PREFIX).replace("==", " ") if package.startswith(PREFIX) else Path(package).name


def _beginning(path: str) -> str:
    """How reports begin a path in what an argument names: without "./" in front."""
    plain = Path(path).as_posix()
    return "" if plain == "." else f"{plain.rstrip('/')}/"
