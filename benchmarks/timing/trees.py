"""The trees that are measured: copies, of which parts are taken and files are changed."""

from __future__ import annotations

import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePath

from bwlint.readers import KINDS, reader
from bwlint.sources.read import Unread, read_bytes
from bwlint.sources.walk import SourceFile, discover

PARTS = 8
_MIB = 1024 * 1024
_COMMENTS = {"python": "#", "cuda": "//"}
_NOT_COPIED = shutil.ignore_patterns(".git", "__pycache__", ".ruff_cache", ".mypy_cache")


@dataclass(frozen=True)
class Copy:
    """A copy of a tree that nobody else uses, and the files in it that bwlint reads."""

    name: str
    folder: Path
    files: tuple[SourceFile, ...]

    @property
    def mebibytes(self) -> float:
        return sum(Path(file.real).stat().st_size for file in self.files) / _MIB


def copied(name: str, tree: Path, folder: Path) -> Copy:
    """A copy of a folder, or of what is in a wheel, in `folder`, which is made."""
    if tree.is_file():
        with zipfile.ZipFile(tree) as wheel:
            wheel.extractall(folder)
    else:
        shutil.copytree(tree, folder, symlinks=True, ignore=_NOT_COPIED)
        if (tree / ".git").exists():
            (folder / ".git").mkdir()  # where there is one, ignore files count
    (folder / ".semgrepignore").write_text("")  # without one semgrep passes over tests
    return seen(name, folder)


def seen(name: str, folder: Path) -> Copy:
    """A folder as it is."""
    found = discover([str(folder)]).files
    return Copy(name, folder.resolve(), tuple(file for file in found if file.kind in KINDS))


def portion(copy: Copy, parts: int, folder: Path) -> Copy:
    """A copy of so many eighths of a tree in `folder`, which is made; it is called by its share."""
    sizes: Counter[PurePath] = Counter()
    for path in (Path(file.real) for file in copy.files):
        if path.is_relative_to(copy.folder):
            sizes[path.parent.relative_to(copy.folder)] += path.stat().st_size
    for place in (place for part in portions(sizes)[:parts] for place in part):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for path in (copy.folder / place).iterdir():
            if path.is_file():
                shutil.copy2(path, folder / place / path.name)
    return seen(str(Fraction(parts, PARTS)), folder)


def portions(sizes: Mapping[PurePath, int]) -> list[list[PurePath]]:
    """Folders in eight parts of about the same size. `sizes` are the bytes of the files that lie in each folder itself.

    Folders stay whole, since what files say of each other they mostly say of their neighbours: every n-th file would
    leave out what the others import, and a part would be less work than its share. Folders are gone through in order of
    their paths, and each goes to the part that has the least so far: that gives every part something of each region of
    the tree, and the first one the files at its top, with the configuration.
    """
    parts: list[list[PurePath]] = [[] for _ in range(PARTS)]
    held = [0] * PARTS
    for folder in sorted(sizes):
        least = held.index(min(held))
        parts[least].append(folder)
        held[least] += sizes[folder]
    return parts


def five(copy: Copy) -> tuple[SourceFile, ...]:
    """Five files of Python and C++ that have to be read for what they say, evenly spread over the tree."""
    matter = [file for file in copy.files if file.kind in _COMMENTS and _matters(file)]
    return tuple(spaced(sorted(matter, key=lambda file: file.real), 5))


def spaced(files: Sequence[SourceFile], number: int) -> list[SourceFile]:
    """The middle ones of so many stretches of a list; all of a shorter one."""
    if len(files) <= number:
        return list(files)
    return [files[(2 * at + 1) * len(files) // (2 * number)] for at in range(number)]


def _matters(file: SourceFile) -> bool:
    data = read_bytes(file.real)
    return not isinstance(data, Unread) and reader(file.kind).may_matter(data, frozenset())


def change(file: SourceFile, number: int) -> None:
    """Another content, of the same meaning: a comment at the end."""
    with Path(file.real).open("a", encoding="utf-8") as opened:
        opened.write(f"\n{_COMMENTS[file.kind]} changed {number}\n")
