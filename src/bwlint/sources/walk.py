"""Turn arguments into the list of files to read."""

# Paths are plain strings here: a `Path` for each file would double the time of a walk.
# ruff: noqa: PTH118, PTH119, PTH120, PTH122, PTH123

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bwlint.model.findings import Skipped
from bwlint.sources import disk
from bwlint.sources.ignore import Rules, as_base, is_ignored, read_layer
from bwlint.sources.kinds import kind_of, kind_of_script
from bwlint.sources.read import Unread, special_file, why
from bwlint.sources.tree import folder_root, package_root

INDEX_FOLDER = "bwlint-index"
"""The folder of bwlint's own index, which may lie in a tree."""

# Version control, caches and what package managers unpack: never the user's own source.
_UNREAD_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox"}
    | {INDEX_FOLDER, "__pycache__", "node_modules"}
)
VENV_MARK = "pyvenv.cfg"
"""The file that makes a folder a virtual environment."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder `real` that stands for something else (an unpacked wheel), reported as `reported`; no ignore files."""

    reported: str
    real: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to read.

    `path` is for reports: the argument as given joined with the rest, with slashes, without "./" in front, without lone
    surrogates.
    `real` is the path to open, free of symlinks. `root` is the folder where absolute imports begin. `named`
    says that the file itself was an argument.
    """

    path: str
    real: str
    kind: str
    root: str
    named: bool = False


@dataclass(frozen=True, slots=True)
class Discovery:
    """`errors` are arguments that do not exist; `skipped` is what exists and cannot be read.

    `complete` says that the walk came to its end. `ignored` counts what ignore files leave out: folders, and files of
    a known kind outside them. `wheels` lie in a folder that was named itself, as `dist`: paths for reports.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    errors: tuple[Skipped, ...]
    complete: bool = True
    ignored: int = 0
    wheels: tuple[str, ...] = ()


def discover(
    paths: Sequence[str | Mount],
    *,
    use_gitignore: bool = True,
    force_exclude: bool = False,
    most_entries: int | None = None,
) -> Discovery:
    """The files of a known kind in `paths`, each real file once, by path within each argument.

    Arguments themselves are read though an ignore file matches them, unless `force_exclude` is set, and what git tracks
    is read whatever ignore files say. A walk ends where it has seen `most_entries` files and folders of any kind.
    """
    walk = _FolderWalk(use_gitignore, force_exclude, most_entries)
    for path in paths:
        walk.argument(path if isinstance(path, Mount) else Mount(path, path), mounted=isinstance(path, Mount))
    skipped = sorted(set(walk.skipped), key=lambda skip: (skip.path, skip.reason))
    wheels = tuple(sorted(walk.wheels))
    return Discovery(tuple(walk.files), tuple(skipped), tuple(walk.errors), not walk.is_cut, walk.ignored, wheels)


class _Folder(NamedTuple):
    reported: str
    real: str
    rules: Rules
    """Those of the folders above."""
    root: str
    """The package root of the folder above."""
    is_ignored: bool = False
    """It is left out but for what git tracks in it."""


class _Link(NamedTuple):
    reported: str
    real: str


class _FolderWalk:
    def __init__(self, use_gitignore: bool, force_exclude: bool, most_entries: int | None) -> None:
        self.is_cut = False
        self.ignored = 0
        self._left = most_entries
        self.files: list[SourceFile] = []
        self.skipped: list[Skipped] = []
        self.errors: list[Skipped] = []
        self.wheels: list[str] = []
        self._use_gitignore = use_gitignore
        self._force_exclude = force_exclude
        self._seen: set[str] = set()
        self._links: list[_Link] = []

    def argument(self, mount: Mount, *, mounted: bool) -> None:
        try:
            mode = disk.mode(mount.real)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            self.errors.append(Skipped(_printable(mount.reported), why(error)))
            return
        except OSError as error:
            self._skip(mount.reported, why(error))
            return
        real = disk.real(mount.real)
        if stat.S_ISDIR(mode):
            self._named_folder(mount.reported, real, () if mounted else self._rules_above(real))
        else:
            self._named_file(mount.reported, real, mode)

    def _named_folder(self, reported: str, real: str, rules: Rules) -> None:
        is_ignored_here = _is_out_anywhere(rules, real, is_folder=True)
        if self._force_exclude and is_ignored_here:
            return
        # In a folder that is read though patterns leave it out, these patterns say nothing.
        self._tree(_Folder(reported, real, () if is_ignored_here else rules, folder_root(real)))

    def _named_file(self, reported: str, real: str, mode: int) -> None:
        if self._is_forced_out(real):
            return
        special = special_file(mode)
        if special:
            self._skip(reported, f"not a regular file: {special}")
            return
        kind = kind_of(os.path.basename(reported)) or _kind_of_script(real)
        if isinstance(kind, Unread):
            self._skip(reported, kind.reason)
        elif kind is None:
            self._skip(reported, "not a kind of file that bwlint reads")
        else:
            self._add(SourceFile(_printable(reported), real, kind, package_root(real), named=True))

    def _tree(self, top: _Folder) -> None:
        first = len(self.files)
        stack = [top]
        while stack:
            folder = stack.pop()
            self._folder(folder, stack, is_top=folder is top)
        # Last, so that a file is reported under its own name and not under that of a link to it.
        links, self._links = sorted(self._links), []
        for link in links:
            self._follow(link, as_base(top.real))
        self.files[first:] = sorted(self.files[first:], key=lambda file: file.path)

    def _folder(self, folder: _Folder, stack: list[_Folder], *, is_top: bool) -> None:
        try:
            entries = disk.entries(folder.real)
        except OSError as error:
            self._skip(folder.reported, f"folder not read: {why(error)}")
            return
        if self._left is not None:
            self._left -= len(entries)
            if self._left < 0:
                self.is_cut = True
                stack.clear()
                return
        names = {entry.name for entry in entries}
        if VENV_MARK in names and not is_top:
            return
        rules = self._rules_in(folder.real, names, folder.rules) if self._use_gitignore else ()
        root = folder.root if "__init__.py" in names else folder_root(folder.real)
        inside = _Folder(as_base(folder.reported), as_base(folder.real), rules, root, folder.is_ignored)
        for entry in entries:
            try:
                self._entry(entry, inside, stack, is_top=is_top)
            except OSError as error:
                self._skip(inside.reported + entry.name, why(error))

    def _entry(self, entry: os.DirEntry[str], inside: _Folder, stack: list[_Folder], *, is_top: bool) -> None:
        kind = kind_of(entry.name)
        is_link = entry.is_symlink()
        is_folder = not is_link and entry.is_dir(follow_symlinks=False)
        is_wheel = is_top and entry.name.endswith(".whl")
        if not (kind or is_link or is_folder or is_wheel) or is_unread(entry.name):
            return
        real = inside.real + entry.name
        is_out = inside.is_ignored or is_ignored(inside.rules, real, is_folder=is_folder)
        if is_out and not self._is_tracked(real):
            self.ignored += 1
            return
        reported = inside.reported + entry.name
        if is_link:
            self._links.append(_Link(reported, real))
        elif is_folder:
            stack.append(_Folder(reported, real, inside.rules, inside.root, is_out))
        elif is_wheel and entry.is_file(follow_symlinks=False):
            self.wheels.append(_printable(reported))
        elif entry.is_file(follow_symlinks=False):
            self._add(SourceFile(_printable(reported), real, kind or "", inside.root))
        else:
            special = special_file(disk.mode(real))
            self._skip(reported, f"not a regular file: {special}")

    def _follow(self, link: _Link, base: str) -> None:
        """Read the file that `link` leads to. A folder inside `base` is read by its own name, if at all."""
        kind = kind_of(os.path.basename(link.real))
        try:
            mode = disk.mode(link.real)
        except OSError as error:
            if kind:
                broken = isinstance(error, FileNotFoundError)
                self._skip(link.reported, "symlink to nothing" if broken else why(error))
            return
        target = disk.real(link.real)
        if stat.S_ISDIR(mode):
            self._link_to_folder(link, target, base)
        elif kind is None:
            return
        elif special_file(mode):
            self._skip(link.reported, f"not a regular file: {special_file(mode)}")
        elif not target.startswith(base):
            self._skip(link.reported, "symlink leading out of the tree")
        else:
            self._add(SourceFile(_printable(link.reported), target, kind, package_root(target)))

    def _link_to_folder(self, link: _Link, target: str, base: str) -> None:
        if disk.exists(os.path.join(target, VENV_MARK)):
            return
        if link.real.startswith(as_base(target)):
            self._skip(link.reported, "symlink loop")
        elif not target.startswith(base):
            self._skip(link.reported, "symlink leading out of the tree")

    def _add(self, file: SourceFile) -> None:
        if file.real not in self._seen:
            self._seen.add(file.real)
            self.files.append(file)

    def _skip(self, reported: str, reason: str) -> None:
        self.skipped.append(Skipped(_printable(reported), reason))

    def _rules_above(self, folder: str) -> Rules:
        """The rules that the folders above `folder` give it: none outside a repository and at its top."""
        if not self._use_gitignore:
            return ()
        above: list[str] = []
        while not disk.is_there(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return ()
            above.append(parent)
            folder = parent
        rules: Rules = ()
        for parent in reversed(above):
            rules = self._rules_in(parent, _ignore_files(parent), rules)
        return rules

    def _rules_in(self, folder: str, names: set[str], above: Rules) -> Rules:
        """The rules for what is in `folder`; a repository inside another one begins anew."""
        rules = self._layer(folder, ".git/info/exclude") if ".git" in names else above
        return self._layer(folder, ".gitignore") + rules if ".gitignore" in names else rules

    def _layer(self, folder: str, name: str) -> Rules:
        file = os.path.join(folder, name)
        if not disk.is_file(file):
            return ()
        layer = read_layer(file, folder)
        if isinstance(layer, Unread):
            self._skip(file, f"ignore file not read: {layer.reason}")
            return ()
        return (layer,)

    def _is_forced_out(self, real: str) -> bool:
        """Whether patterns leave out the file `real` or a folder above it, and count though it was named."""
        if not self._force_exclude:
            return False
        folder = os.path.dirname(real)
        rules = self._rules_above(folder)
        if self._use_gitignore:
            rules = self._rules_in(folder, _ignore_files(folder), rules)
        return _is_out_anywhere(rules, real, is_folder=False) and not self._is_tracked(real)

    def _is_tracked(self, real: str) -> bool:
        """Whether git tracks a file, or anything in a folder, that ignore files leave out: these say nothing of it."""
        from bwlint.sources.worktree import top_of  # nothing that a run without ignored files loads

        top = top_of(os.path.dirname(real))
        if top is None:
            return False
        tracked, fault = disk.tracked_though_ignored(top)
        if fault:
            self._skip(top, f"git does not list the tracked files: {fault}")
        return os.path.relpath(real, top) in tracked


def is_unread(name: str) -> bool:
    """Whether a folder of this name is never the user's own source."""
    return name in _UNREAD_FOLDERS or name.endswith(".egg-info")


def _is_out_anywhere(rules: Rules, real: str, *, is_folder: bool) -> bool:
    """Whether `real` or a folder above it is left out, as far up as the layers reach."""
    top = min((as_base(os.path.dirname(real)), *(layer.base for layer in rules)), key=len)
    return any(
        is_unread(os.path.basename(path))
        or is_ignored((layer for layer in rules if path.startswith(layer.base)), path, is_folder=below)
        for path, below in _lineage(top, real, is_folder=is_folder)
    )


def _lineage(top: str, real: str, *, is_folder: bool) -> Iterator[tuple[str, bool]]:
    """Every path from below `top` down to `real`, and whether it is a folder."""
    at = real.find(os.sep, len(top))
    while at != -1:
        yield real[:at], True
        at = real.find(os.sep, at + 1)
    if len(real) > len(top):
        yield real, is_folder


def _ignore_files(folder: str) -> set[str]:
    return {name for name in (".git", ".gitignore") if disk.is_there(os.path.join(folder, name))}


def _kind_of_script(real: str) -> str | Unread | None:
    """The kind of a file without a suffix by its first line."""
    if os.path.splitext(real)[1]:
        return None
    try:
        with open(real, "rb") as file:
            disk.was_read(real, os.fstat(file.fileno()), None)
            return kind_of_script(file.read(128))
    except OSError as error:
        disk.was_refused(real, error)
        return Unread(why(error))


def _printable(path: str) -> str:
    """`path` with slashes, without "./" in front, and, where it is no valid text, with its bytes escaped."""
    if os.sep != "/":
        path = path.replace(os.sep, "/")
    while path.startswith("./"):
        path = path[2:].lstrip("/") or "."
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
